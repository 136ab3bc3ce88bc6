"""`make simulate SEEDS=0-999`: every fault at once, a run for each seed; exits with 1 if a law was violated.

python -m simulation FIRST-LAST [--jobs N] [SCENARIO …]    "all" for every scenario
python -m simulation --trace SCENARIO SEED                 what happened in one run
    both with --delivery exactly-once for transactions
python -m simulation --mutations                           how many seeds it takes to find each deliberate bug
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from simulation.mutations import table
from simulation.scenarios import EVERYTHING, SCENARIOS, Delivery, Scenario
from simulation.simulate import simulate
from simulation.sweep import sweep


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "simulation", description="The copy loop under simulated faults"
    )
    parser.add_argument("seeds", nargs="?", type=_seeds, default="0-99", help="FIRST-LAST")
    names = (*SCENARIOS, "all")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(names))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--trace", nargs=2, metavar=("SCENARIO", "SEED"), help="show one run")
    parser.add_argument(
        "--delivery", type=Delivery, choices=list(Delivery), default=Delivery.AT_LEAST_ONCE
    )
    parser.add_argument("--mutations", action="store_true", help="find each deliberate bug")
    given = parser.parse_args(arguments)
    wrong = {*given.scenarios, *(given.trace or ())[:1]}.difference(names)
    if wrong:
        parser.error(f"no such scenario: {', '.join(sorted(wrong))}; there are {', '.join(names)}")
    if given.trace:
        return trace(SCENARIOS[given.trace[0]], int(given.trace[1]), given.delivery)
    if given.mutations:
        return table()
    wanted = list(SCENARIOS) if "all" in given.scenarios else given.scenarios
    return sweep(given.seeds, wanted or [EVERYTHING.name], given.jobs, given.delivery)


def trace(scenario: Scenario, seed: int, delivery: Delivery) -> int:
    run = simulate(seed, scenario, delivery)
    for at, what in run.history:
        print(f"{at:9.2f}  {what}")
    print(run)
    return bool(run.violations)


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
