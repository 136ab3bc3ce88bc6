"""Whether a copy loop may fetch more, while partitions that cannot be written to hold responses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.buffer_pool import BufferPool
from heliograph.copy.partition import Partition
from heliograph.model import Lease

LIMIT = 2000


class Stuck:
    """A stalled partition with one batch of `buffered` bytes, a slice of responses of `held` bytes."""

    def __init__(self, buffered: int, held: int) -> None:
        self.buffered_bytes, self.stuck_bytes, self.bytes = buffered, buffered, held
        self.copy = Partition(
            Lease(flow="a->b", topic="t", partition=0, target_topic="a.t", start=0)
        )
        self.copy.recovered()
        self.copy.outstanding = 1
        self.copy.stall("NOT_ENOUGH_REPLICAS")

    def release(self, _: object) -> tuple[list[ProducerBatch], float]:
        self.buffered_bytes = self.stuck_bytes = self.bytes = 0
        return [ProducerBatch(memoryview(b""), 1, 0, 1)], 7.0


@pytest.mark.parametrize(
    ("buffered", "held", "released"),
    [(1100, 1500, True), (600, 2100, True), (600, 1100, True), (600, 900, False)],
    ids=["half is queued", "responses fill it", "responses take half", "there is room"],
)
def test_what_waits_for_a_stalled_partition_makes_room_for_others(
    buffered: int, held: int, released: bool
) -> None:
    """Small batches may hold large responses; nothing would free them until their partition recovers."""
    stuck: Any = Stuck(buffered, held)
    pool = BufferPool(LIMIT, [stuck.copy], SimpleNamespace(held=stuck), stuck)  # type: ignore[arg-type]

    assert pool.has_room()
    assert (stuck.copy.outstanding == 0) is released
