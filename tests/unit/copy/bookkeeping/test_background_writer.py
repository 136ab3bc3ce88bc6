"""What waits for the state topic, and what does not: an offset may be stored once a snapshot knows of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.errors import ConnectionLost, HeliographError
from heliograph.model import ClusterConfig
from heliograph.records.decode import Record
from heliograph.wire.messages import broker_error
from support.waiting import PATIENCE_SECONDS

_UNKNOWN_TOPIC, _NOT_AUTHORIZED, _NOT_ENOUGH_REPLICAS = 3, 29, 19


class Topic:
    """Takes the place of a RecordWriter; `trouble` is what each write ends with."""

    topic = "mm2-heliograph.a.internal"

    def __init__(self) -> None:
        self.trouble: HeliographError | None = None
        self.tried = threading.Event()

    def partitions(self) -> int:
        return 1

    def write(self, records: Mapping[int, Sequence[Record]], *, patience: float) -> None:
        self.tried.set()
        if self.trouble is not None:
            raise self.trouble


@contextmanager
def writing(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> Iterator[BackgroundWriter]:
    monkeypatch.setattr(
        "heliograph.copy.bookkeeping.background_writer.RecordWriter", lambda *_: topic
    )
    config = ClusterConfig(alias="b", bootstrap_servers=("localhost:1",))
    writer = BackgroundWriter(config, topic.topic, client_id="test", what="snapshots")
    writer.start()
    try:
        yield writer
    finally:
        writer.close(PATIENCE_SECONDS)


def attempt(writer: BackgroundWriter, topic: Topic) -> None:
    writer.offer([(b"key", b"value")])
    assert topic.tried.wait(PATIENCE_SECONDS)
    writer.wait_idle(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "trouble", [ConnectionLost("gone"), broker_error(_NOT_ENOUGH_REPLICAS, "b")], ids=str
)
def test_what_passes_is_waited_for(
    trouble: HeliographError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or an offset would be stored that no snapshot knows of, and taken for a user's word by a successor."""
    topic = Topic()
    topic.trouble = trouble
    with writing(topic, monkeypatch) as writer:
        attempt(writer, topic)

        assert not writer.settled
        assert writer.problem == str(trouble)


@pytest.mark.parametrize("code", [_UNKNOWN_TOPIC, _NOT_AUTHORIZED])
def test_what_people_have_to_mend_is_not_waited_for(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = Topic()
    topic.trouble = broker_error(code, "b")
    with writing(topic, monkeypatch) as writer:
        attempt(writer, topic)

        assert writer.settled
        assert not writer.idle
