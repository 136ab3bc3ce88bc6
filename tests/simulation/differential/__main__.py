"""make differential SEQUENCES=2000, or one sequence: python -m simulation.differential --seed 17"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import groupby

from heliograph.embedded import Cluster
from simulation.differential import operations as op
from simulation.differential.generate import Sequence, generate
from simulation.differential.real import SETTINGS, Disagreement, RealBroker, Result
from simulation.model.errors import Error

#: Sequences on a topic of their own, with one restart of the broker.
_TOGETHER = 500


def main() -> int:
    parser = argparse.ArgumentParser(prog="make differential", description=__doc__)
    parser.add_argument("sequences", type=int, nargs="?", default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this sequence alone, with all its operations")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.sequences)
    if options.seed is not None:
        seeds = range(options.seed, options.seed + 1)
    operations: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    disagreements: list[Disagreement] = []
    with Cluster("differential", settings=SETTINGS) as cluster:
        broker = RealBroker(cluster, may_restart=True)
        for _, together in groupby(seeds, key=lambda seed: seed // _TOGETHER):
            result = _run(broker, list(together), print_all=options.seed is not None)
            operations += result.operations
            errors += result.errors
            disagreements += result.disagreements
        broker.close()
    for found in disagreements:
        print(_described(found))
    print("operations:", ", ".join(f"{kind} {n}" for kind, n in sorted(operations.items())))
    print("error codes:", _named(errors))
    print(
        f"{len(seeds)} sequences, {sum(operations.values())} operations, "
        f"{len(disagreements)} disagreements"
    )
    return 1 if disagreements else 0


def _run(broker: RealBroker, seeds: list[int], *, print_all: bool) -> Result:
    begun = time.monotonic()
    now_ms = int(time.time() * 1000)
    sequences = [generate(seed, now_ms, restart_of(seed)) for seed in seeds]
    if print_all:
        _print_steps(sequences[0])
    modelled = time.monotonic()
    result = broker.run(sequences, now_ms, f"differential-{seeds[0]}")
    print(
        f"seeds {seeds[0]} to {seeds[-1]}: {sum(result.operations.values())} operations, "
        f"{len(result.disagreements)} disagreements, {modelled - begun:.0f} s in the model, "
        f"{time.monotonic() - modelled:.0f} s on the broker",
        flush=True,
    )
    return result


def restart_of(seed: int) -> op.Restart:
    """Of the sequences that run together: the broker is stopped for the first, killed for the next, …"""
    return op.Restart(clean=seed // _TOGETHER % 2 == 0)


def _print_steps(sequence: Sequence) -> None:
    for number, (operation, outcome) in enumerate(sequence.steps):
        print(f"{number:4} {operation}\n       {outcome}")


def _described(found: Disagreement) -> str:
    model, real = found.model, found.real
    while isinstance(model, dict):  # down to what differs
        key = next(key for key in model if model[key] != real[key])
        model, real = model[key], real[key]
    return (
        f"seed {found.seed}, step {found.step}: {found.operation}\n"
        f"  model: {model}\n  real:  {real}\n"
        f"  again: PYTHONPATH=tests python -m simulation.differential --seed {found.seed}"
    )


def _named(errors: Counter[str]) -> str:
    totals: Counter[str] = Counter()
    for each, number in errors.items():
        code = int(each.split()[1])
        totals[f"{Error(code).name} ({code})" if code in list(Error) else str(code)] += number
    return ", ".join(f"{name} {number}" for name, number in totals.most_common())


if __name__ == "__main__":
    raise SystemExit(main())
