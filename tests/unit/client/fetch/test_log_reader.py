"""A stop, an error code and a damaged batch while a log is read."""

from __future__ import annotations

from typing import cast

import pytest

from heliograph.client.fetch.log_reader import LogReader, Unreadable, read_between
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import Interrupted
from heliograph.model import TopicPartition
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchedPartition
from support.brokers.scripted import ScriptedCluster
from support.waiting import PATIENCE_SECONDS

TP = TopicPartition("us.orders", 0)


def answer(error: int = 0) -> FetchedPartition:
    return FetchedPartition(*TP, error, 77, 77, 0, [], memoryview(b""))


def reader(position: int | None = 70) -> LogReader:
    """One whose callback moves every partition to `position`."""
    found = LogReader(cast(ClusterClient, ScriptedCluster({})), lambda *_: position)
    found.positions = {TP: 60}
    return found


def test_a_stop_is_no_partitions_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = ScriptedCluster({})
    monkeypatch.setattr(cluster, "stopped", lambda: True)

    with pytest.raises(Interrupted, match=r"us\.orders-0: stopped while it was read"):
        read_between(
            cast(ClusterClient, cluster),
            {TP: 70},
            {TP: 77},
            lambda *_: None,
            patience=PATIENCE_SECONDS,
        )


def test_a_partition_is_read_until_the_callback_ends_it() -> None:
    going_on, finished = reader(70), reader(None)

    going_on.take(answer())
    finished.take(answer())

    assert (going_on.positions, finished.positions) == ({TP: 70}, {})


def test_a_retriable_error_leaves_the_position() -> None:
    found = reader()

    found.take(answer(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    assert (found.positions, found.unreadable) == ({TP: 60}, {})


def test_a_final_error_gives_the_partition_up() -> None:
    found = reader()

    found.take(answer(ErrorCode.TOPIC_AUTHORIZATION_FAILED))

    assert found.positions == {}
    assert "scripted: us.orders-0: TOPIC_AUTHORIZATION_FAILED" in found.unreadable[TP]


def test_what_the_callback_cannot_read_is_given_up_with_its_reason() -> None:
    def refuse(*_: object) -> int:
        raise Unreadable("too long")

    found = LogReader(cast(ClusterClient, ScriptedCluster({})), refuse)
    found.positions = {TP: 60}

    found.take(answer())

    assert (found.positions, found.unreadable) == ({}, {TP: "us.orders-0: too long"})
