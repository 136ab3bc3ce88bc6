"""Admin requests of faults: replicas, log starts and ends, deletion of records, refused writes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, OffsetSpec

from chaos.clusters.stage import Side
from chaos.errors import ChaosError

Where = tuple[str, int]
_ANSWER_SECONDS = 10.0
_ELECTION_SECONDS = 120.0
_LOOK_SECONDS = 0.1
_WAIT_SECONDS = 1.0
#: A transaction marker has 78 bytes, a batch of records more. A coordinator does not retry a refused marker.
_MARKER_BYTES = "100"


@dataclass(frozen=True, slots=True)
class Replicas:
    leader: int
    all: frozenset[int]
    in_sync: frozenset[int]


def replicas(side: Side, topics: Iterable[str]) -> dict[Where, Replicas]:
    """From the cluster's current metadata."""
    found = {}
    for topic in topics:
        described = side.admin.list_topics(topic, timeout=_ANSWER_SECONDS).topics[topic]
        for number, each in described.partitions.items():
            found[topic, number] = Replicas(
                each.leader, frozenset(each.replicas), frozenset(each.isrs)
            )
    return found


def await_replicas(
    side: Side, topics: Sequence[str], wanted: Callable[[Replicas], bool], what: str
) -> None:
    deadline = time.monotonic() + _ELECTION_SECONDS
    while True:
        with contextlib.suppress(KafkaException):  # no broker or no controller answers
            found = replicas(side, topics)
            if found and all(map(wanted, found.values())):
                return
        if time.monotonic() > deadline:
            raise ChaosError(f"{side.name}: not {what} within {_ELECTION_SECONDS:.0f} s")
        time.sleep(_LOOK_SECONDS)


def ends(side: Side, partitions: Iterable[Where]) -> dict[Where, int]:
    """High watermarks."""
    return _offsets(side, {where: OffsetSpec.latest() for where in partitions})


def starts(side: Side, partitions: Iterable[Where]) -> dict[Where, int]:
    return _offsets(side, {where: OffsetSpec.earliest() for where in partitions})


def end_at(side: Side, where: Where, milliseconds: int) -> int:
    """The offset of the first record after that time; the log end if there is none."""
    found = _offsets(side, {where: OffsetSpec.for_timestamp(milliseconds)})[where]
    return found if found >= 0 else ends(side, [where])[where]


def _offsets(side: Side, specs: Mapping[Where, OffsetSpec]) -> dict[Where, int]:
    """Retries: a new leader may not know its high watermark yet."""
    asked = {TopicPartition(*where): spec for where, spec in specs.items()}
    deadline = time.monotonic() + _ELECTION_SECONDS
    while True:
        try:
            futures = side.admin.list_offsets(
                asked, isolation_level=IsolationLevel.READ_UNCOMMITTED
            )
            return {
                (partition.topic, partition.partition): future.result(_ANSWER_SECONDS).offset
                for partition, future in futures.items()
            }
        except KafkaException as e:
            if time.monotonic() > deadline:
                raise ChaosError(f"{side.name}: offsets of {sorted(specs)}: {e}") from e
            time.sleep(_WAIT_SECONDS)


def delete_records(side: Side, before: Mapping[Where, int]) -> None:
    """Moves the log starts, as retention does."""
    wanted = [TopicPartition(topic, p, offset) for (topic, p), offset in before.items()]
    for future in side.admin.delete_records(wanted).values():
        future.result(_ANSWER_SECONDS)


@contextlib.contextmanager
def writes_refused(side: Side, topics: Sequence[str]) -> Iterator[None]:
    """Makes every batch of records too large. Brokers apply the setting after a moment."""
    _set_limit(side, topics, AlterConfigOpType.SET)
    try:
        yield
    finally:
        _set_limit(side, topics, AlterConfigOpType.DELETE)


def _set_limit(side: Side, topics: Sequence[str], operation: AlterConfigOpType) -> None:
    resources = [
        ConfigResource(
            ConfigResource.Type.TOPIC,
            topic,
            incremental_configs=[
                ConfigEntry("max.message.bytes", _MARKER_BYTES, incremental_operation=operation)
            ],
        )
        for topic in topics
    ]
    for future in side.admin.incremental_alter_configs(resources).values():
        future.result(_ANSWER_SECONDS)
