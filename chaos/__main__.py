"""Runs every fault against every system, under load: python -m chaos. Exit code 1 if a bar is missed."""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from confluent_kafka import KafkaException

from chaos.clusters.spark_cluster import SparkCluster
from chaos.clusters.stage import Stage
from chaos.faults import FAULTS, Fault, named
from chaos.report import markdown, table
from chaos.results import Results, misses
from chaos.session import Order, Session
from chaos.soak import soak
from chaos.subjects import Mode, System
from harness.errors import HarnessError
from harness.text import say
from heliograph.errors import HeliographError

_ROOT = Path(__file__).parent
_OUT = _ROOT / "results" / "latest.json"
_SOAK_OUT = _ROOT / "results" / "soak.json"
# Apart from the results in the repository.
_QUICK_OUT = _ROOT / "work" / "quick.json"
_LONGEST_SECONDS = 60.0
_QUICK_LONGEST_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    faults: Sequence[Fault]
    systems: Sequence[System]
    modes: Sequence[Mode]
    times: int | None
    seed: int
    rate: float
    quick: bool
    soak_minutes: float | None
    out: Path
    merge: bool

    def orders(self, series: str) -> Iterator[Order]:
        number = 0
        for fault in sorted(self.faults, key=lambda fault: fault.needs_small_disks):
            for system in self.systems:
                if system not in fault.systems:
                    continue
                number += 1
                name = f"c{number}"
                yield Order(
                    name=name,
                    fault=fault,
                    system=system,
                    modes=self.modes,
                    strikes=self.times or (fault.quick_strikes if self.quick else fault.strikes),
                    rate=self.rate,
                    seed=self.seed,
                    longest=_QUICK_LONGEST_SECONDS if self.quick else _LONGEST_SECONDS,
                    folder=_ROOT / "work" / series / f"{name}-{fault.name}-{system}",
                )


def run(plan: Plan) -> tuple[Results, list[str]]:
    """Results are written after every session, so that an interruption loses one session at most."""
    results = Results(plan.out, merge=plan.merge, seed=plan.seed)
    failures: list[str] = []
    orders = plan.orders(time.strftime("%Y%m%d-%H%M%S"))
    for small_disks, group in groupby(orders, key=lambda order: order.fault.needs_small_disks):
        with Stage(small_disks=small_disks) as stage:
            for order in group:
                try:
                    _one(order, stage, results)
                except (HarnessError, HeliographError, KafkaException) as e:
                    failures.append(f"{order.fault.name}, {order.system}: {e}")
                    say(f"FAILED: {failures[-1]}")
                    stage.heal()
    return results, failures


def _one(order: Order, stage: Stage, results: Results) -> None:
    modes = ", ".join(order.modes)
    say(f"{order.fault.name}, {order.system} ({modes}): {order.fault.about}; {order.folder}")
    with contextlib.ExitStack() as stack:
        spark = None
        if order.fault.needs_spark_cluster:
            spark = stack.enter_context(SparkCluster(order.folder / "spark"))
        results.add(Session(order, stage, say).run(spark))
    results.write()
    rows = results.rows()
    rows = [r for r in rows if (r["fault"], r["system"]) == (order.fault.name, order.system)]
    for row in rows:
        say(f"  {row}")
    for side in stage.sides:
        if any(map(misses, rows)):
            side.keep_logs(order.folder)
        side.delete_all_but(())


def _soak(plan: Plan, minutes: float) -> bool:
    folder = _ROOT / "work" / time.strftime("%Y%m%d-%H%M%S-soak")
    return soak(minutes, plan.systems[0], plan.modes[0], folder, plan.out, say)


def _plan(arguments: Sequence[str] | None) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    add = parser.add_argument
    add("--faults", default=",".join(f.name for f in FAULTS), help="default: %(default)s")
    add("--systems", default="heliograph", help="heliograph, mm2; default: %(default)s")
    add("--modes", default="default,exactly-once", help="default: %(default)s")
    add("--times", type=int, help="strikes of each fault; default: 100 service kills, 20 others")
    add("--seed", type=int, help="seed of all random choices; default: a new one, which is printed")
    add("--rate", type=float, default=2000.0, help="records a second; default: %(default)s")
    add("--quick", action="store_true", help="a few strikes of each, none longer than 6 s")
    add("--soak", type=float, metavar="MINUTES", help="no faults: 20 MB/s, does memory stay flat?")
    add("--out", type=Path, help=f"default: {_OUT}; with --quick {_QUICK_OUT}")
    add("--merge", action="store_true", help="keep rows of --out that are not measured again")
    options = parser.parse_args(arguments)
    try:
        faults = named(options.faults.split(","))
        systems = [System(name) for name in options.systems.split(",")]
        modes = [Mode(name) for name in options.modes.split(",")]
    except (KeyError, ValueError) as e:
        parser.error(f"unknown fault, system or mode: {e}")
    return Plan(
        faults=faults,
        systems=systems,
        modes=modes,
        times=options.times,
        seed=random.randrange(1 << 31) if options.seed is None else options.seed,
        rate=options.rate,
        quick=options.quick,
        soak_minutes=options.soak,
        out=options.out or _out(options.quick, options.soak),
        merge=options.merge,
    )


def _out(quick: bool, soak_minutes: float | None) -> Path:
    if soak_minutes is not None:
        return _SOAK_OUT
    return _QUICK_OUT if quick else _OUT


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every session has a result and every bar is met."""
    plan = _plan(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # brokers and mounts are cleaned up
    try:
        if plan.soak_minutes is not None:
            return 0 if _soak(plan, plan.soak_minutes) else 1
        say(f"seed {plan.seed}")
        results, failures = run(plan)
    except (HeliographError, HarnessError) as e:
        print(f"chaos: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; what was found is in {plan.out}", file=sys.stderr)
        return 130
    rows = results.rows()
    print("\n" + "\n".join([table(rows), *(f"FAILED: {each}" for each in failures)]) + "\n")
    page = plan.out.with_suffix(".md")
    page.write_text(markdown(rows))
    print(f"results: {plan.out}, {page}")
    return 1 if failures or any(map(misses, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
