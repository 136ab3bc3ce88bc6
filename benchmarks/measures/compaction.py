"""Waits until the log cleaner has compacted a topic."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.brokers import Side
from benchmarks.errors import BenchmarkError

# The active segment is never cleaned, so segments are small.
LOADING_CONFIGS = {
    "cleanup.policy": "compact",
    "segment.bytes": str(8 * 1024 * 1024),
    "min.cleanable.dirty.ratio": "0.01",
}
_WAIT_SECONDS = 300.0


def compact(side: Side, topic: str, partitions: int) -> None:
    """Returns when all but the active segment of every partition is cleaned.

    Afterwards the topic has default settings again: MM2 copies them to its remote topic, and the target's
    cleaner would run during the measurement otherwise.
    """
    data = side.cluster.folder / "node-1" / "data"
    deadline = time.monotonic() + _WAIT_SECONDS
    while dirty := _dirty(data, topic, partitions):
        if time.monotonic() > deadline:
            raise BenchmarkError(
                f"{topic}: partitions {dirty} not cleaned in {_WAIT_SECONDS:.0f} s"
            )
        time.sleep(0.5)
    side.configure(topic, {"segment.bytes": None, "min.cleanable.dirty.ratio": None})


def _dirty(data: Path, topic: str, partitions: int) -> list[int]:
    """Partitions whose active segment starts after the cleaner's checkpoint."""
    cleaned = _cleaned(data / "cleaner-offset-checkpoint")
    return [
        number
        for number in range(partitions)
        if cleaned.get((topic, number), 0) < _active_segment(data / f"{topic}-{number}")
    ]


def _cleaned(checkpoint: Path) -> dict[tuple[str, int], int]:
    """`version`, `number of lines`, then `topic partition offset` per line."""
    if not checkpoint.is_file():
        return {}
    lines = [line.split() for line in checkpoint.read_text().splitlines()[2:]]
    return {(line[0], int(line[1])): int(line[2]) for line in lines if len(line) == 3}


def _active_segment(folder: Path) -> int:
    """The base offset of the newest segment; a segment's file is named after it."""
    return max(int(file.stem) for file in folder.glob("*.log"))
