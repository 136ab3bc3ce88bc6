"""The driver's end of the channel, and what its tasks tell it."""

from __future__ import annotations

import queue

from heliograph.model import PartitionState, Receipt
from heliograph.spark.control_channel import ChannelServer, TaskChannel

TOKEN = "only our tasks know"
SECONDS = 10


def receipt(position: int = 5, error: str | None = None) -> Receipt:
    return Receipt(
        flow="a->b",
        topic="größe",
        partition=3,
        position=position,
        records=2,
        bytes=100,
        source_end=9,
        stored=True,
        state=PartitionState.RUNNING if error is None else PartitionState.FAILED,
        error=error,
    )


class Driver:
    def __init__(self) -> None:
        self.heard: queue.Queue[tuple[int, list[Receipt]]] = queue.Queue()
        self.missed: queue.Queue[int] = queue.Queue()
        self.server = ChannelServer(
            TOKEN, lambda epoch, got: self.heard.put((epoch, got)), on_gone=self.missed.put
        )

    def task(self, epoch: int = 1, token: str = TOKEN) -> TaskChannel:
        return TaskChannel(self.server.address, token, epoch)
