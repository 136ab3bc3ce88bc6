"""Reads records of the state topic and checks every type: other versions may have written them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import OffsetRange
from heliograph.mm2.state_records import (
    EVENT_SLOTS,
    EventRecord,
    Failure,
    FlowStatus,
    GapRecord,
    LogsRecord,
    OffsetMapSegment,
    PartitionStatus,
    ProducerSnapshotRecord,
)
from heliograph.model import (
    Gap,
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    TopicIdPair,
    TopicPartition,
)

_INT16_MAX = 2**15 - 1
_INT32_MAX = 2**31 - 1
_OFFSETS = 1 << 62
# Types of status fields in JSON; all others are strings.
_NUMBERS = frozenset(
    {
        "position",
        "source_end",
        "copied_ms",
        "at_ms",
        "since_ms",
        "gaps",
        "unmirrored",
        "restarts",
        "number",
    }
)
_FLAGS = frozenset({"throttled"})
_LISTS = frozenset({"topics", "topics_exclude", "refused"})
_NULLABLE = frozenset({"error", "source_id", "target_id"})
_NESTED = frozenset({"mark", "origin", "last", "failure"})  # checked where they are read


#: Any record of the state topic.
State = (
    OffsetMapSegment
    | PartitionStatus
    | ProducerSnapshotRecord
    | GapRecord
    | FlowStatus
    | LogsRecord
    | EventRecord
)


def read_state(key: bytes | None, value: bytes | None) -> State | Malformed | None:
    """Never raises. None: a tombstone, except that of a segment."""
    try:
        return _read(_load("key", key), value)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        return Malformed(f"{type(problem).__name__}: {problem}")


def _read(key: Any, value: bytes | None) -> State | None:
    match key:
        case ["stretches", str() as topic, int() as number, int() as first] if _is_offset(first):
            partition = _partition(topic, number)
            return _segment(partition, first, value)
        case ["partition", str() as topic, int() as number]:
            _partition(topic, number)
            if value is None:
                return None
            return _status(topic, number, value)
        case ["trail", str() as topic, int() as number]:
            return None if value is None else _snapshot(_partition(topic, number), value)
        case ["gaps", str() as topic, int() as number]:
            _partition(topic, number)
            return None if value is None else _gaps(topic, number, value)
        case ["logs", str() as connector, str() as topic]:
            return None if value is None else _logs(_text(connector), _text(topic), value)
        case ["flow", str() as flow]:
            if value is None:
                return None
            return FlowStatus(flow=_text(flow), **_known(FlowStatus, _load("value", value)))
        case ["event", str() as flow, str() as severity, int() as slot]:
            return None if value is None else _event(_text(flow), severity, slot, value)
        case _:
            raise ValueError("key: not a key of the state topic")


def _segment(partition: TopicPartition, first: int, value: bytes | None) -> OffsetMapSegment:
    if value is None:
        return OffsetMapSegment(topic_partition=partition, first=first, ranges=())
    document = _load("value", value)
    ranges = _ranges(document["stretches"])
    if ranges and ranges[0].upstream != first:
        raise ValueError(f"value: expected to start at {first}, found {ranges[0]}")
    origin = _origin(document.get("origin", ()))
    return OffsetMapSegment(topic_partition=partition, first=first, ranges=ranges, origin=origin)


def _logs(connector: str, topic: str, value: bytes) -> LogsRecord:
    document = _load("value", value)
    syncs_id = document.get("syncs_id")
    return LogsRecord(
        connector=connector,
        topic=topic,
        origin=_origin(document["origin"]),
        syncs_id=None if syncs_id is None else _text(syncs_id),
        syncs_from=read_number(document.get("syncs_from", 0)),
    )


def _origin(ids: Iterable[Any]) -> TopicIdPair:
    return TopicIdPair(*(each and _text(each) for each in ids))


def _snapshot(partition: TopicPartition, value: bytes) -> ProducerSnapshotRecord:
    document = _load("value", value)
    upstream, downstream, sequence = (
        document[name] for name in ("upstream", "downstream", "sequence")
    )
    identity, stored = ProducerIdentity(*document["producer"]), tuple(document["stored"])
    numbers = (upstream, downstream, sequence, *identity, *stored)
    if not all(type(number) is int and -1 <= number < _OFFSETS for number in numbers):
        raise ValueError(f"value: expected offsets and numbers, found {document}")
    if sequence > _INT32_MAX or identity.epoch > _INT16_MAX:
        raise ValueError(f"value: sequence or epoch out of range in {document}")
    # Older versions did not write the next two fields.
    isolation = document.get("isolation")
    return ProducerSnapshotRecord(
        topic_partition=partition,
        remote_topic=_text(document["remote_topic"]),
        snapshot=ProducerSnapshot(
            *(upstream, downstream, sequence, identity, stored),
            isolation=None if isolation is None else IsolationLevel(isolation),
            mark=read_mark(document),
        ),
    )


def _status(topic: str, number: int, value: bytes) -> PartitionStatus:
    document = _load("value", value)
    known = _known(PartitionStatus, document)
    known["state"] = PartitionState(known["state"])
    known["mark"] = read_mark(document)
    known["origin"] = _origin(known.get("origin", ()))
    return PartitionStatus(topic=topic, partition=number, **known)


def _gaps(topic: str, number: int, value: bytes) -> GapRecord:
    known = _known(GapRecord, _load("value", value))
    kind, *numbers = known["last"]
    known["last"] = Gap(GapKind(kind), *_numbers(numbers))
    if known.get("failure") is not None:
        position, stored = (known["failure"][name] for name in ("position", "stored"))
        known["failure"] = Failure(position=read_number(position), stored=read_number(stored))
    return GapRecord(topic=topic, partition=number, **known)


def _event(flow: str, severity: str, slot: int, value: bytes) -> EventRecord:
    if severity not in EVENT_SLOTS:
        raise ValueError(f"key: expected a severity, found {severity!r}")
    event = EventRecord(flow=flow, severity=severity, **_known(EventRecord, _load("value", value)))
    if event.number < 0 or event.slot != slot:
        raise ValueError(f"value: number {event.number} does not belong in slot {slot}")
    return event


def _numbers(row: Iterable[Any]) -> list[int]:
    return [read_number(found) for found in row]


def read_number(found: Any) -> int:
    if type(found) is not int or not -_OFFSETS < found < _OFFSETS:
        raise ValueError(f"value: expected a number, found {found!r}")
    return found


def read_mark(document: Mapping[str, Any]) -> LeaderEpochMark | None:
    if document.get("mark") is None:
        return None
    offset, epoch = _numbers(document["mark"])
    starts = [_numbers(pair) for pair in document.get("epochs") or ()]
    return LeaderEpochMark(offset, epoch, tuple((of, start) for of, start in starts))


def _known(
    kind: type[PartitionStatus | GapRecord | FlowStatus | EventRecord], document: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of a status that this version knows; later versions may write more."""
    names = {each.name for each in fields(kind)}
    return {name: _typed(name, found) for name, found in document.items() if name in names}


def _typed(name: str, found: Any) -> Any:
    """Law: every field of a status has the type that its readers expect."""
    if name in _NUMBERS:
        return read_number(found)
    if name in _NESTED or (name in _FLAGS and isinstance(found, bool)):
        return found
    if name in _LISTS:
        return tuple(_text(word) for word in found)
    if name == "problems":
        return {_text(subject): _text(problem) for subject, problem in found.items()}
    return None if found is None and name in _NULLABLE else _text(found)


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise ValueError(f"expected a string, found {found!r}")
    found.encode()  # UnicodeEncodeError (a ValueError) for lone surrogates, which cannot be printed
    return found


def _is_offset(number: int) -> bool:
    return type(number) is int and 0 <= number < _OFFSETS


def _partition(topic: str, number: int) -> TopicPartition:
    if isinstance(number, bool) or not 0 <= number <= _INT32_MAX:
        raise ValueError(f"key: expected a partition number, found {number!r}")
    return TopicPartition(_text(topic), number)


def _ranges(rows: Iterable[Any]) -> tuple[OffsetRange, ...]:
    ranges = tuple(OffsetRange(*row) for row in rows)
    before = 0
    for each in ranges:
        if not all(type(number) is int and -1 <= number < _OFFSETS for number in each):
            raise ValueError(f"value: expected [upstream, downstream, count], found {each}")
        if each.upstream < before or each.count < 0:
            raise ValueError(f"value: {each} after upstream offset {before}")
        before = each.end
    return ranges


def _load(what: str, data: bytes | None) -> Any:
    if data is None:
        raise ValueError(f"{what}: null")
    return json.loads(data)
