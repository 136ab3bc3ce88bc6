"""Runs the writers' process, and reads its ledger of acknowledged records at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos.errors import ChaosError
from heliograph.embedded.child_process import ChildProcess

_STOP_SECONDS = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    name: str
    partitions: int
    rate: float  # records a second
    transactional: bool
    #: Acknowledged by all replicas; else by the leader alone, and an unclean election may lose records.
    durable: bool = True


class Load:
    """Writes from its creation until `stop`."""

    def __init__(self, bootstrap: str, topics: Sequence[Topic], *, seed: str, folder: Path) -> None:
        self._ledger = folder / "ledger.json"
        self._output = folder / "writer.log"
        spec = folder / "writer.json"
        spec.write_text(
            json.dumps(
                {
                    "bootstrap": bootstrap,
                    "seed": seed,
                    "ledger": str(self._ledger),
                    "topics": [
                        {
                            "name": topic.name,
                            "partitions": topic.partitions,
                            "rate": topic.rate,
                            "transactional": topic.transactional,
                            "durable": topic.durable,
                        }
                        for topic in topics
                    ],
                }
            )
        )
        self._process = ChildProcess(
            [sys.executable, "-m", "chaos.writer", str(spec)], output=self._output, scratch=None
        )

    def stop(self) -> dict[tuple[str, int], list[range]]:
        """Ends the writers; returns the ranges that brokers acknowledged."""
        self._process.terminate()
        if not self._process.wait(_STOP_SECONDS) or self._process.exit_code != 0:
            self.kill()
            raise ChaosError(f"the writers did not end in order: {self._last_words()}")
        return {
            (topic, int(partition)): [range(first, last + 1) for first, last in ranges]
            for topic, partitions in json.loads(self._ledger.read_text()).items()
            for partition, ranges in partitions.items()
        }

    def raise_if_exited(self) -> None:
        if self._process.exit_code is not None:
            raise ChaosError(f"the writers have exited: {self._last_words()}")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(_STOP_SECONDS)

    def _last_words(self) -> str:
        return " / ".join(self._output.read_text(errors="replace").splitlines()[-5:])
