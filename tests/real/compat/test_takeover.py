"""The real Java MirrorMaker 2 and Heliograph go on where the other stopped: one offsets topic, one format."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mirroring import Flow
from reading import offsets
from waiting import eventually
from writing import admin, numbered, write

from heliograph.embedded.tools import mirror_maker_command

_FACTORS = (
    "config.storage",
    "status.storage",
    "checkpoints.topic",
    "heartbeats.topic",
    "offset-syncs.topic",
)


@contextmanager
def java_mirror_maker(flow: Flow, folder: Path) -> Iterator[Path]:
    """Runs until the block ends, then stops in order, which is when it stores its offsets."""
    settings = flow.properties() | {f"{name}.replication.factor": "1" for name in _FACTORS}
    # A topic of heartbeats on the shared source would be mirrored by every other test's flow.
    settings["emit.heartbeats.enabled"] = "false"
    path, log = folder / "mm2.properties", folder / "mm2.log"
    path.write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    process = subprocess.Popen(
        mirror_maker_command(path, log=log, heap="512m"), stdin=subprocess.DEVNULL
    )
    try:
        yield log
        process.terminate()
        process.wait(60)
    finally:
        process.kill()
        process.wait()


def wait_for_length(flow: Flow, topic: str, length: int, log: Path) -> None:
    eventually(
        lambda: (
            offsets(flow.target, flow.remote(topic))[1] if exists(flow, topic) else 0,
            log.read_text()[-2000:] if log.exists() else "",
        ),
        lambda state: state[0] >= length,
        within=90,
    )


def exists(flow: Flow, topic: str) -> bool:
    return flow.remote(topic) in admin(flow.target).list_topics(timeout=30).topics


@pytest.mark.timeout(300)
def test_java_and_heliograph_take_over_from_each_other_without_loss_or_doubles(
    flow: Flow, tmp_path: Path
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(100)))
    with java_mirror_maker(flow, tmp_path) as log:
        wait_for_length(flow, topic, 100, log)

    write(flow.source, topic, numbered(range(100, 150)))
    flow.mirror_once()

    write(flow.source, topic, numbered(range(150, 180)))
    with java_mirror_maker(flow, tmp_path) as log:
        wait_for_length(flow, topic, 180, log)

    assert flow.assert_mirrored(topic) == 180
