"""Scrapes a live mirror with a real Prometheus: python -m dashboards. Exit code 1 if a query has no data, or
an alert does not fire, or does not end."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dashboards.alerts import DIVISOR, RULES, prove, shortened
from dashboards.asking import ask_all
from dashboards.faults import FAULTS, Fault
from dashboards.pictures import draw
from dashboards.prometheus import Prometheus, running_prometheus
from dashboards.queries import ours, theirs
from dashboards.stage import staged
from dashboards.traffic import Traffic
from harness.errors import HarnessError
from harness.results import commit, machine, write_json
from harness.text import say
from heliograph.errors import HeliographError

_ROOT = Path(__file__).parent
_RESULTS = _ROOT / "results" / "latest.json"
_PICTURES = _ROOT.parent / "docs" / "images"
_DATA_SECONDS = 240.0
_PICTURE_SECONDS = 120.0
_RATE = 300.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dashboards", description=__doc__)
    add = parser.add_argument
    add("--mm2", action="store_true", help="compare with the real MirrorMaker 2 instead")
    add(
        "--faults",
        default=",".join(f.name for f in FAULTS),
        help="default: %(default)s; - for none",
    )
    add("--master", help="Spark's master, such as local-cluster[2,1,1024]; default: this process")
    add("--out", type=Path, default=_RESULTS, help="default: %(default)s")
    add(
        "--merge",
        action="store_true",
        help="keep the proofs of faults that this run does not cause",
    )
    add("--pictures", type=Path, default=_PICTURES, help="default: docs/images")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # brokers and programs are stopped
    folder = _ROOT / "work" / time.strftime("%Y%m%d-%H%M%S")
    try:
        if options.mm2:
            from dashboards.comparison.run import compare

            return compare(folder, say)
        names = options.faults.split(",")
        faults = [fault for fault in FAULTS if fault.name in names]
        given = (folder, faults, options.out, options.pictures)
        return run(*given, merge=options.merge, master=options.master)
    except (HarnessError, HeliographError) as e:
        say(f"FAILED: {e}")
        return 1


def run(
    folder: Path,
    faults: Sequence[Fault],
    out: Path,
    pictures: Path,
    *,
    merge: bool,
    master: str | None,
) -> int:
    begun = commit()
    say(f"two clusters, a mirror, a Prometheus; files in {folder}")
    with staged(folder, master) as stage, contextlib.ExitStack() as stack:
        rules = folder / "rules.yml"
        rules.write_text(shortened(RULES.read_text()))
        traffic = stack.enter_context(
            Traffic(stage.clusters[0].bootstrap_servers, ("orders", "payments"), _RATE, "billing")
        )
        traffic.write("large")
        traffic.write("doomed")
        stage.commit("console-consumer-1", "orders", 0)
        stage.commit("audit", "empty", 5)
        stage.start_mirror()
        jobs = [
            {"job_name": "heliograph", "static_configs": [{"targets": [f"127.0.0.1:{stage.port}"]}]}
        ]
        prometheus = stack.enter_context(running_prometheus(folder / "prometheus", jobs, rules))
        dashboards = [*theirs(), *ours()]
        answers = ask_all(prometheus, dashboards, _DATA_SECONDS, say)
        good, lack = sum(a.series > 0 for a in answers), sum(not a.good for a in answers)
        say(f"{good} of {len(answers)} queries have data; {lack} lack it without a known reason")
        age = report_age(prometheus)
        say(f"the oldest report of a task in a minute of scrapes: {age:.1f} s")
        time.sleep(_PICTURE_SECONDS / 2)
        for each in ours():
            draw(prometheus, each, pictures / f"grafana-{each.name}.png", _PICTURE_SECONDS)
        proofs = prove(faults, stage, traffic, prometheus, say)
    rows = [{**proof.row(), "commit": begun} for proof in proofs]
    if merge and out.exists():
        again = {row["fault"] for row in rows}
        before = json.loads(out.read_text())
        kept = [row for row in before["alerts"] if row["fault"] not in again]
        rows = [{"commit": before["commit"], **row} for row in kept] + rows
    result = {
        "commit": begun,
        "machine": machine(),
        "durations_divided_by": DIVISOR,
        "master": master or "local",
        "oldest_report_seconds": round(age, 1),
        "queries": [answer.row() for answer in answers],
        "alerts": rows,
    }
    write_json(out, result)
    failures = [a for a in answers if not a.good], [p for p in proofs if not p.good]
    return int(any(failures))


def report_age(prometheus: Prometheus) -> float:
    """Tasks report once a second, from executors on other machines, too; their process counts the age."""
    (oldest,) = prometheus.now("max(max_over_time(heliograph_task_report_age_seconds[1m]))")
    return oldest.value


sys.exit(main())
