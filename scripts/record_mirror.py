"""Records what a mirror of another version leaves in Kafka when it is killed in the middle of copying.

    git worktree add ../other d137458
    PYTHONPATH=tests .venv/bin/python scripts/record_mirror.py ../other/src FILE

Starts two clusters, writes to the source while `heliograph run` of that version copies, kills it with
SIGKILL, and writes a JSON file: for each internal topic the records (key, value and headers in hex), and for
the remote topic the record batches as they are in its log (hex).
`tests/support/flows/recorded.py` replays it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import javaproperties
import psutil

from heliograph.embedded import Cluster, start_all, stop_all
from heliograph.mm2.state_records import state_topic
from support.clusters.grouping import commit
from support.clusters.reading import ends, read_all, topics_of
from support.clusters.writing import numbered, write
from support.flows.mirroring import TARGET, Flow

ALIAS, GROUP = "recorded", "recorded-billing"
_BATCH_PREFIX = 12  # base offset (int64) and length (int32)


def batches(log: bytes) -> Iterator[bytes]:
    while log:
        size = _BATCH_PREFIX + int.from_bytes(log[8:12])
        yield log[:size]
        log = log[size:]


def run_and_kill(flow: Flow, sources: str, topic: str) -> None:
    """Kills the mirror while it copies, and writes some more records."""
    settings = {
        "groups": GROUP,
        "groups_exclude": "",
        "emit_checkpoints_interval_seconds": "1",
        "refresh_groups_interval_seconds": "1",
    }
    config = flow.folder / "mm2.properties"
    given = {**flow.properties(**settings), f"{TARGET}.offset.flush.interval.ms": "2000"}
    config.write_text(javaproperties.dumps(given, timestamp=False))
    with (flow.folder / "mirror.log").open("wb") as log:
        mirror = subprocess.Popen(
            [sys.executable, "-m", "heliograph", "run", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": sources},
        )
    try:
        _await_bookkeeping(flow)
        remote, written = flow.remote(topic), 60
        while ends(flow.target, remote)[0] < 80:
            write(flow.source, topic, numbered(range(written, written + 3)))
            written += 3
            time.sleep(0.05)
    finally:
        _kill(mirror)
    write(flow.source, topic, numbered(range(written, written + 40)))


def _kill(mirror: subprocess.Popen[bytes]) -> None:
    """Driver, JVM and tasks at once: none of them writes anything after that."""
    family = [*psutil.Process(mirror.pid).children(recursive=True), psutil.Process(mirror.pid)]
    for process in family:
        process.send_signal(signal.SIGSTOP)
    for process in family:
        process.kill()
    mirror.wait()
    psutil.wait_procs(family, timeout=30)


def _await_bookkeeping(flow: Flow) -> None:
    """Until there is a record of each kind."""
    deadline = time.monotonic() + 90
    checkpoints = f"{ALIAS}.checkpoints.internal"
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if not {flow.offsets_topic, state_topic(ALIAS), checkpoints} <= topics_of(flow.target):
            continue
        state = [r.key for r in read_all(flow.target, state_topic(ALIAS))[0]]
        kinds = {json.loads(key)[0] for key in state if key}
        stored = any(read_all(flow.target, flow.offsets_topic)[0])
        if (
            {"trail", "partition", "stretches"} <= kinds
            and stored
            and read_all(flow.target, checkpoints)[0]
        ):
            return
    raise SystemExit((flow.folder / "mirror.log").read_text())


def internal_records(cluster: Cluster) -> dict[str, Any]:
    names = sorted(n for n in topics_of(cluster) if n.startswith("mm2-") or ".checkpoints." in n)
    return {
        name: {
            str(number): [
                [
                    r.key and r.key.hex(),
                    r.value and r.value.hex(),
                    [[header, value and value.hex()] for header, value in r.headers],
                ]
                for r in records
            ]
            for number, records in read_all(cluster, name).items()
        }
        for name in names
    }


def record(sources: str, folder: Path) -> dict[str, Any]:
    keep = {"log.retention.ms": "-1"}
    source = Cluster("source", settings=keep, directory=folder / "source")
    target = Cluster("target", settings=keep, directory=folder / "target")
    start_all([source, target])
    try:
        flow = Flow(ALIAS, source, target, None, folder)  # type: ignore[arg-type]
        topic = flow.create(partitions=2)
        remote = flow.remote(topic)
        for first in range(0, 60, 6):
            write(source, topic, numbered(range(first, first + 6)))
        write(source, topic, numbered(range(20), partition=1))
        commit(source, GROUP, {(topic, 1): 7})
        run_and_kill(flow, sources, topic)
        logs = {n: _log(folder / "target", f"{remote}-{n}") for n in (0, 1)}
        return {
            "alias": ALIAS,
            "topic": topic,
            "source_records": ends(source, topic),
            "remote_records": ends(target, remote),
            "source": internal_records(source),
            "target": internal_records(target),
            "remote": {n: [each.hex() for each in batches(log)] for n, log in logs.items()},
        }
    finally:
        stop_all([source, target])


def _log(folder: Path, partition: str) -> bytes:
    (segment,) = folder.rglob(f"{partition}/*.log")
    return segment.read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="heliograph-record-") as temporary:
        found = record(sys.argv[1], Path(temporary))
        Path(sys.argv[2]).write_text(f"{json.dumps(found, indent=1)}\n")
