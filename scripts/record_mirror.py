"""Records what a mirror of another version leaves in Kafka when it is killed in the middle of copying.

    git worktree add ../other d137458
    PYTHONPATH=tests .venv/bin/python scripts/record_mirror.py ../other/src > tests/real/mirror/mirror_of_d137458.json

Starts two clusters, writes to the source while `heliograph run` of that version copies, kills it with SIGKILL,
and prints JSON: for each internal topic the records (key, value and headers in hex), for the remote topic
the record batches as they are in the log (hex), and the topic ids, which some of the records name.
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

from heliograph.embedded import Cluster, start_all, stop_all
from support.clusters.grouping import client, commit
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
        "offset_flush_interval_ms": "2000",
    }
    config = flow.folder / "mm2.properties"
    config.write_text(javaproperties.dumps(flow.properties(**settings), timestamp=False))
    with (flow.folder / "mirror.log").open("wb") as log:
        mirror = subprocess.Popen(
            [sys.executable, "-m", "heliograph", "run", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": sources},
            start_new_session=True,
        )
    remote, written, killed = flow.remote(topic), 0, False
    while written < 300 or not killed:
        write(flow.source, topic, numbered(range(written, written + 3)))
        written += 3
        time.sleep(0.05)
        there = remote in topics_of(flow.target) and ends(flow.target, remote).get(0, 0)
        if not killed and written > 150 and there and there > 140:
            os.killpg(mirror.pid, signal.SIGKILL)
            mirror.wait()
            killed, written = True, max(written, 270)
        if mirror.poll() is not None and not killed:
            raise SystemExit((flow.folder / "mirror.log").read_text())
    time.sleep(10)  # its tasks end when they lose their driver


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
        write(source, topic, numbered(range(20), partition=1))
        commit(source, GROUP, {(topic, 1): 7})
        run_and_kill(flow, sources, topic)
        with client(source, ALIAS) as one, client(target, TARGET) as other:
            ids = [one.refresh([topic]).topic_id(topic), other.refresh([remote]).topic_id(remote)]
        logs = {n: _log(folder / "target", f"{remote}-{n}") for n in (0, 1)}
        return {
            "alias": ALIAS,
            "topic": topic,
            "ids": ids,
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
        json.dump(record(sys.argv[1], Path(temporary)), sys.stdout, indent=1)
        sys.stdout.write("\n")
