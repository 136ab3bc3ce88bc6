"""Records of the state topic, every type checked: others, or later versions, may have written them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import Stretch
from heliograph.mm2.state_records import (
    Chunk,
    Failure,
    FlowStatus,
    GapRecord,
    PartitionStatus,
    TrailRecord,
)
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

_INT16_MAX = 2**15 - 1
_INT32_MAX = 2**31 - 1
_OFFSETS = 1 << 62
# The fields of statuses by their types in JSON; what is not named is a string.
_NUMBERS = frozenset(
    {"position", "source_end", "copied_ms", "at_ms", "since_ms", "gaps", "unmirrored", "restarts"}
)
_FLAGS = frozenset({"throttled"})
_LISTS = frozenset({"topics", "topics_exclude", "refused"})
_NULLABLE = frozenset({"error", "source_id", "target_id"})
_NESTED = frozenset({"mark", "origin", "last", "failure"})  # looked at by who reads them


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
    known["origin"] = Origin(*(each and _text(each) for each in known.get("origin", ())))
    return PartitionStatus(topic=topic, partition=number, **known)


def _gaps(topic: str, number: int, value: bytes) -> GapRecord:
    known = _known(GapRecord, value)
    kind, *numbers = known["last"]
    known["last"] = Gap(GapKind(kind), *_numbers(numbers))
    if known.get("failure") is not None:
        position, stored = (known["failure"][name] for name in ("position", "stored"))
        known["failure"] = Failure(position=_number(position), stored=_number(stored))
    return GapRecord(topic=topic, partition=number, **known)


def _numbers(row: Iterable[Any]) -> list[int]:
    return [_number(found) for found in row]


def _number(found: Any) -> int:
    if type(found) is not int or not -_OFFSETS < found < _OFFSETS:
        raise ValueError(f"value: expected a number, found {found!r}")
    return found


def _known(kind: type[PartitionStatus | GapRecord | FlowStatus], value: bytes) -> dict[str, Any]:
    """The fields of a status that this version knows; a later one may write more."""
    names = {each.name for each in fields(kind)}
    document = _load("value", value)
    return {name: _typed(name, found) for name, found in document.items() if name in names}


def _typed(name: str, found: Any) -> Any:
    """Law: nothing gets into a status that those who show or compare it do not expect there."""
    if name in _NUMBERS:
        return _number(found)
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
