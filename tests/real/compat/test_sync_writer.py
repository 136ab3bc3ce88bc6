"""When an offset sync is due: after every step the same queues as the real OffsetSyncWriter's."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from heliograph.mm2.sync_policy import OffsetSyncPolicy
from heliograph.model import TopicPartition
from support.java.oracle import Oracle

_STEPS = 1000


def steps(chance: random.Random) -> Iterator[list[Any]]:
    """Runs of records of three partitions: gaps upstream, truncations on either side, commits between."""
    ends = dict.fromkeys([("orders", 0), ("orders", 1), ("größe", 0)], (0, 0))
    for _ in range(_STEPS):
        key, dice = chance.choice(list(ends)), chance.random()
        upstream, downstream = ends[key]
        if dice < 0.05:
            upstream += chance.randint(1, 30)
        elif dice < 0.07:
            upstream = chance.randint(0, upstream)
        elif dice < 0.09:
            downstream = chance.randint(0, downstream)
        count = chance.choice([1, 1, 2, 7, 60])
        yield ["acknowledged", *key, upstream, downstream, count]
        ends[key] = upstream + count, downstream + count
        if dice > 0.8:
            yield ["commit"]
        if dice > 0.7:
            yield ["fire"]


@pytest.mark.parametrize("lag_max", [0, 1, 10, 50, 100])
def test_pending_and_delayed_syncs_are_javas(oracle: Oracle, lag_max: int) -> None:
    wanted = list(steps(random.Random(lag_max)))

    theirs = oracle.ask("queue", steps=wanted, lag_max=lag_max)

    policy = OffsetSyncPolicy(lag_max)
    for step, (pending, delayed) in zip(wanted, theirs, strict=True):
        match step:
            case ["commit"]:
                policy.promote()
            case ["fire"]:
                list(policy.take(3))
            case [_, topic, partition, upstream, downstream, count]:
                policy.acknowledged(TopicPartition(topic, partition), upstream, downstream, count)
        assert [str(sync) for sync in policy.pending.values()] == pending, step
        assert sorted(str(sync) for sync in policy.delayed.values()) == sorted(delayed), step
