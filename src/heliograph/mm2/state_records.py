"""Heliograph's own compacted topic on the target, `mm2-heliograph.<source>.internal`.

    key  ["stretches","orders",0,12345]   topic, partition, first upstream offset of the chunk
         ["partition","orders",0]         where a partition stands
         ["trail","orders",0]             where its writer stands: what a successor resumes by
         ["gaps","orders",0]              what got lost that nobody told of
         ["flow","us->eu"]                who mirrors what to where
    value  JSON; of a chunk {"stretches":[[upstream,downstream,count],…]}, ascending, at most 1000

The name starts with `mm2` and ends with `.internal`: no MM2 mirrors it. The order of the topic counts: a
chunk overrides what older ones say from its first upstream offset on (see `Stretches`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from heliograph.mm2.malformed import Malformed
from heliograph.mm2.stretches import Stretch
from heliograph.model import (
    Gap,
    GapKind,
    Mark,
    Origin,
    PartitionState,
    ProducerIdentity,
    TopicPartition,
    Trail,
)

CHUNK_STRETCHES = 1000
#: `FlowStatus.state` of a flow whose service runs, or has ended in order.
RUNNING, STOPPED = "RUNNING", "STOPPED"

_INT16_MAX = 2**15 - 1
_INT32_MAX = 2**31 - 1
_OFFSETS = 1 << 62
# The fields of both statuses by their types in JSON; what is not named is a string.
_NUMBERS = frozenset({"position", "source_end", "copied_ms", "at_ms", "since_ms"})
_LISTS = frozenset({"topics", "topics_exclude", "refused"})
_NULLABLE = frozenset({"error", "source_id", "target_id"})


_PREFIX, _SUFFIX = "mm2-heliograph.", ".internal"


def state_topic(source_alias: str) -> str:
    return f"{_PREFIX}{source_alias}{_SUFFIX}"


def is_state_topic(topic: str) -> bool:
    return topic.startswith(_PREFIX) and topic.endswith(_SUFFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some stretches of one partition. None of them: a tombstone."""

    topic_partition: TopicPartition
    first: int
    stretches: tuple[Stretch, ...]

    def key(self) -> bytes:
        return chunk_key(self.topic_partition, self.first)

    def value(self) -> bytes | None:
        return _json({"stretches": self.stretches}) if self.stretches else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatus:
    """Where a partition of a flow stands; -1 is unknown. As `Receipt`, without what only the driver needs.
    `origin` are the topics that the stored offset belongs to."""

    topic: str
    partition: int
    flow: str
    position: int
    source_end: int
    copied_ms: int
    state: PartitionState
    error: str | None = None
    mark: Mark | None = None
    origin: Origin = field(default_factory=Origin)

    def key(self) -> bytes:
        return _json(["partition", self.topic, self.partition])

    def value(self) -> bytes:
        document = asdict(self)
        del document["topic"], document["partition"]
        return _json(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailRecord:
    """The trail of one source partition in its remote topic; another topic's trail says nothing."""

    topic_partition: TopicPartition
    remote_topic: str
    trail: Trail

    def key(self) -> bytes:
        return _json(["trail", *self.topic_partition])

    def value(self) -> bytes:
        upstream, downstream, sequence, identity, stored = self.trail
        return _json(
            {
                "remote_topic": self.remote_topic,
                "upstream": upstream,
                "downstream": downstream,
                "sequence": sequence,
                "producer": identity,
                "stored": stored,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A partition that `source.log.gap.policy` has stopped at `position`, when `stored` (-1: none) was its
    stored offset. Another one, which is neither of them, is a user's word to go on."""

    position: int
    stored: int

    def lifted_by(self, stored: int | None) -> bool:
        return (-1 if stored is None else stored) not in (self.stored, self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRecord:
    """What a partition has gone through since its flow was first started: so many gaps, so many source
    offsets never mirrored, and the newest of them."""

    topic: str
    partition: int
    flow: str
    gaps: int
    unmirrored: int
    last: Gap
    failure: Failure | None = None

    def key(self) -> bytes:
        return _json(["gaps", self.topic, self.partition])

    def value(self) -> bytes:
        document = asdict(self)
        del document["topic"], document["partition"]
        return _json(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowStatus:
    """Who mirrors what to where, as of `at_ms`. Cluster ids are the brokers' own: they say where records
    come from whatever aliases people use. `topics` and `topics_exclude` are what the flow's topic filter was
    made from: what it will mirror, whether or not it has begun to. `since_ms` is when its service started;
    `refused` are topics that it leaves alone, because they would go round in a circle."""

    flow: str
    source: str
    target: str
    source_id: str | None
    target_id: str | None
    policy: str
    state: str
    at_ms: int
    since_ms: int = 0
    topics: tuple[str, ...] = ()
    topics_exclude: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)

    def key(self) -> bytes:
        return _json(["flow", self.flow])

    def value(self) -> bytes:
        document = asdict(self)
        del document["flow"]
        return _json(document)


def chunk_key(partition: TopicPartition, first: int) -> bytes:
    return _json(["stretches", partition.topic, partition.partition, first])


def chunks_of(partition: TopicPartition, stretches: Sequence[Stretch]) -> list[Chunk]:
    """Law: read back in this order, they give these stretches."""
    return [
        Chunk(
            topic_partition=partition,
            first=stretches[start].upstream,
            stretches=tuple(stretches[start : start + CHUNK_STRETCHES]),
        )
        for start in range(0, len(stretches), CHUNK_STRETCHES)
    ]


def read_state(
    key: bytes | None, value: bytes | None
) -> Chunk | PartitionStatus | TrailRecord | GapRecord | FlowStatus | Malformed | None:
    """Never raises. None: a tombstone of anything but a chunk."""
    try:
        return _read(_load("key", key), value)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        return Malformed(f"{type(problem).__name__}: {problem}")


def _read(
    key: Any, value: bytes | None
) -> Chunk | PartitionStatus | TrailRecord | GapRecord | FlowStatus | None:
    match key:
        case ["stretches", str() as topic, int() as number, int() as first] if _is_offset(first):
            partition = _partition(topic, number)
            stretches = () if value is None else _stretches(_load("value", value)["stretches"])
            if stretches and stretches[0].upstream != first:
                raise ValueError(f"value: expected to start at {first}, found {stretches[0]}")
            return Chunk(topic_partition=partition, first=first, stretches=stretches)
        case ["partition", str() as topic, int() as number]:
            _partition(topic, number)
            if value is None:
                return None
            return _status(topic, number, value)
        case ["trail", str() as topic, int() as number]:
            return None if value is None else _trail(_partition(topic, number), value)
        case ["gaps", str() as topic, int() as number]:
            _partition(topic, number)
            return None if value is None else _gaps(topic, number, value)
        case ["flow", str() as flow]:
            if value is None:
                return None
            return FlowStatus(flow=_text(flow), **_known(FlowStatus, value))
        case _:
            raise ValueError("key: not one of ours")


def _trail(partition: TopicPartition, value: bytes) -> TrailRecord:
    document = _load("value", value)
    upstream, downstream, sequence = (
        document[name] for name in ("upstream", "downstream", "sequence")
    )
    identity, stored = ProducerIdentity(*document["producer"]), tuple(document["stored"])
    numbers = (upstream, downstream, sequence, *identity, *stored)
    if not all(type(number) is int and -1 <= number < _OFFSETS for number in numbers):
        raise ValueError(f"value: expected offsets and numbers, found {document}")
    if sequence > _INT32_MAX or identity.epoch > _INT16_MAX:
        raise ValueError(f"value: no sequence or epoch is as large as in {document}")
    return TrailRecord(
        topic_partition=partition,
        remote_topic=_text(document["remote_topic"]),
        trail=Trail(upstream, downstream, sequence, identity, stored),
    )


def _status(topic: str, number: int, value: bytes) -> PartitionStatus:
    known = _known(PartitionStatus, value)
    known["state"] = PartitionState(known["state"])
    if known.get("mark") is not None:
        known["mark"] = Mark(*_numbers(known["mark"]))
    known["origin"] = Origin(*known.get("origin", ()))
    return PartitionStatus(topic=topic, partition=number, **known)


def _gaps(topic: str, number: int, value: bytes) -> GapRecord:
    known = _known(GapRecord, value)
    kind, *numbers = known["last"]
    known["last"] = Gap(GapKind(kind), *_numbers(numbers))
    if known.get("failure") is not None:
        known["failure"] = Failure(**known["failure"])
    return GapRecord(topic=topic, partition=number, **known)


def _numbers(row: Iterable[Any]) -> list[int]:
    numbers = list(row)
    if not all(type(number) is int for number in numbers):
        raise ValueError(f"value: expected numbers, found {numbers}")
    return numbers


def _known(kind: type[PartitionStatus | GapRecord | FlowStatus], value: bytes) -> dict[str, Any]:
    """The fields of a status that this version knows; a later one may write more."""
    names = {each.name for each in fields(kind)}
    document = _load("value", value)
    return {name: _typed(name, found) for name, found in document.items() if name in names}


def _typed(name: str, found: Any) -> Any:
    """Law: nothing gets into a status that those who show or compare it do not expect there."""
    if name in _NUMBERS:
        if type(found) is not int or not -_OFFSETS < found < _OFFSETS:
            raise ValueError(f"value: expected a number as {name}, found {found!r}")
        return found
    if name in _LISTS:
        return tuple(_text(word) for word in found)
    if name == "problems":
        return {_text(subject): _text(problem) for subject, problem in found.items()}
    return None if found is None and name in _NULLABLE else _text(found)


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise ValueError(f"expected a string, found {found!r}")
    found.encode()  # UnicodeEncodeError (a ValueError) for halves of characters, which nobody can print
    return found


def _is_offset(number: int) -> bool:
    return type(number) is int and 0 <= number < _OFFSETS


def _partition(topic: str, number: int) -> TopicPartition:
    if isinstance(number, bool) or not 0 <= number <= _INT32_MAX:
        raise ValueError(f"key: expected a partition number, found {number!r}")
    return TopicPartition(_text(topic), number)


def _stretches(rows: Iterable[Any]) -> tuple[Stretch, ...]:
    stretches = tuple(Stretch(*row) for row in rows)
    before = 0
    for stretch in stretches:
        if not all(type(number) is int and -1 <= number < _OFFSETS for number in stretch):
            raise ValueError(f"value: expected [upstream, downstream, count], found {stretch}")
        if stretch.upstream < before or stretch.count < 0:
            raise ValueError(f"value: {stretch} after upstream offset {before}")
        before = stretch.end
    return stretches


def _load(what: str, data: bytes | None) -> Any:
    if data is None:
        raise ValueError(f"{what}: null")
    return json.loads(data)


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
