"""`make simulate SEEDS=0-999`: every seed in every scenario; exits with 1 if a law was violated.

python -m simulation FIRST-LAST [SCENARIO …]
python -m simulation --trace SCENARIO SEED       what happened in one run
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from simulation.scenarios import SCENARIOS, Scenario
from simulation.simulate import simulate


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["--trace", name, seed] if name in SCENARIOS and seed.isdigit():
            return trace(SCENARIOS[name], int(seed))
        case [span, *names] if _is_span(span) and all(name in SCENARIOS for name in names):
            first, last = map(int, span.split("-"))
            chosen = [SCENARIOS[name] for name in names or SCENARIOS]
            return sweep(range(first, last + 1), chosen)
    print(__doc__, f"\nscenarios: {', '.join(SCENARIOS)}", file=sys.stderr)
    return 2


def trace(scenario: Scenario, seed: int) -> int:
    run = simulate(seed, scenario)
    for at, what in run.history:
        print(f"{at:9.2f}  {what}")
    print(run)
    return bool(run.violations)


def sweep(seeds: range, scenarios: Sequence[Scenario]) -> int:
    records = violations = 0
    for scenario in scenarios:
        for seed in seeds:
            run = simulate(seed, scenario)
            records += run.records
            violations += len(run.violations)
            if run.violations:
                print(run, flush=True)
    runs = len(seeds) * len(scenarios)
    print(f"{runs} seeds, {records} records, {violations} violations")
    return bool(violations)


def _is_span(text: str) -> bool:
    first, _, last = text.partition("-")
    return first.isdigit() and last.isdigit()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
