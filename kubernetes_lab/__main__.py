"""`make kubernetes`: ARGS names parts (manifests, chart, operator, executors) to run; default: all."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from containers.errors import LabError
from harness.errors import HarnessError
from harness.results import commit, machine, write_json
from kubernetes_lab import chart, executors, manifests, operator
from kubernetes_lab.lab import Lab, running_lab

RESULTS = Path(__file__).parent / "results" / "kubernetes.json"
PARTS = {
    "manifests": manifests.check,
    "chart": chart.check,
    "operator": operator.check,
    "executors": executors.check,
}


def main(arguments: list[str]) -> int:
    if unknown := [each for each in arguments if each not in PARTS]:
        print(f"error: {unknown[0]}: expected some of {', '.join(PARTS)}", file=sys.stderr)
        return 2
    if os.getuid() != 0:
        print("error: make kubernetes: kubelets need root; run it as root", file=sys.stderr)
        return 1
    # A lab leaves mounts, bridges and containers behind if it is not ended in order.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    began, found = time.monotonic(), dict[str, dict[str, object] | None]()
    try:
        with running_lab() as lab:
            for name in arguments or PARTS:
                print(f"── {name}", flush=True)
                found[name] = _result(name, lab)
                print(f"{name}: {found[name]}", flush=True)
                _note(name, found[name])
    except (LabError, HarnessError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    seconds = round(time.monotonic() - began)
    print(f"done after {seconds} s")
    failed = [name for name, each in found.items() if each is None]
    if failed:
        print(f"error: failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    return 0


def _note(name: str, result: dict[str, object] | None) -> None:
    """Each part's last good run stays, with its commit."""
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if result is not None:
        write_json(RESULTS, {**before, name: {"commit": commit(), **machine(), **result}})


def _result(name: str, lab: Lab) -> dict[str, object] | None:
    """None: the part has failed, and the others are still run."""
    try:
        return PARTS[name](lab)
    except LabError as e:
        print(f"error: {name}: {e}", file=sys.stderr, flush=True)
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
