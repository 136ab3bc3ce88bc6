"""Validates offsets that a user sets, with the rules and messages of MM2's connectors (`alterOffsets`).

A null offset is accepted for any partition, so that invalid entries can be removed (KIP-875).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heliograph.mm2.connect import jackson

_INT32_MAX = 2**31 - 1
_INT64 = 2**63

Fields = Mapping[str, object]


class PartitionShape(NamedTuple):
    """The fields of a source partition of one kind of connector; `zero`: its offset is always 0."""

    strings: tuple[str, ...]
    numbered: bool
    zero: bool


#: By the class of the connector.
SHAPES = {
    "MirrorSourceConnector": PartitionShape(("cluster", "topic"), numbered=True, zero=False),
    "MirrorCheckpointConnector": PartitionShape(("group", "topic"), numbered=True, zero=True),
    "MirrorHeartbeatConnector": PartitionShape(
        ("sourceClusterAlias", "targetClusterAlias"), numbered=False, zero=True
    ),
}


def offset_problem(shape: PartitionShape, partition: Fields, offset: Fields | None) -> str | None:
    """Why a connector would refuse the offset; None: it accepts it."""
    for fields in (partition, offset or {}):
        for name, value in fields.items():
            if value is not None and not isinstance(value, str | int | float | bool):
                return (
                    "Offsets may only contain primitive types as values, but field "
                    f"{name} contains {'ARRAY' if isinstance(value, list) else 'MAP'}"
                )
    if offset is None:
        return None
    for key in shape.strings:
        if (problem := _string_problem(partition, key)) is not None:
            return problem
    if shape.numbered and (problem := _number_problem(partition)) is not None:
        return problem
    return _value_problem(partition, offset, zero=shape.zero)


def offset_key(connector: str, partition: Fields) -> bytes:
    """As Connect writes it: a map in the order of Java's `HashMap`."""
    ordered = {name: partition[name] for name in jackson.hash_map_order(list(partition))}
    return jackson.dump([connector, ordered]).encode()


def offset_value(offset: Fields | None) -> bytes | None:
    if offset is None:
        return None
    return jackson.dump(
        {name: offset[name] for name in jackson.hash_map_order(list(offset))}
    ).encode()


def read_offset_record(key: bytes, value: bytes | None) -> tuple[str, Fields, Fields | None] | None:
    """Connector, partition and offset of a record of the offsets topic; None if Connect did not write it."""
    try:
        document = jackson.load("key", key)
        offset = None if value is None else jackson.load("value", value)
    except ValueError:
        return None
    match document:
        case [str() as connector, dict() as partition] if offset is None or isinstance(
            offset, dict
        ):
            return connector, partition, offset
    return None


def _string_problem(partition: Fields, key: str) -> str | None:
    if key not in partition:
        return f"Source partition {_map(partition)} is missing the '{key}' key, which is required"
    if not isinstance(partition[key], str):
        return (
            f"Source partition {_map(partition)} has an invalid value {_text(partition[key])} for the "
            f"'{key}' key, which must be a string"
        )
    return None


def _number_problem(partition: Fields) -> str | None:
    if "partition" not in partition:
        return (
            f"Source partition {_map(partition)} is missing the 'partition' key, which is required"
        )
    value = partition["partition"]
    wrong = f"Source partition {_map(partition)} has an invalid value {_text(value)} for the 'partition' key"
    if type(value) is not int or value > _INT32_MAX:
        return f"{wrong}, which must be an integer"
    return f"{wrong}, which cannot be negative" if value < 0 else None


def _value_problem(partition: Fields, offset: Fields, *, zero: bool) -> str | None:
    subject = f"Source offset {_map(offset)} for source partition {_map(partition)}"
    if "offset" not in offset:
        return f"{subject} is missing the 'offset' key, which is required"
    value = offset["offset"]
    wrong = f"{subject} has an invalid value {_text(value)} for the 'offset' key"
    if type(value) is not int or not -_INT64 <= value < _INT64 - 1:
        return f"{wrong}, which must be an integer"
    if zero and value != 0:
        return f"{wrong}; the only accepted value is 0"
    return f"{wrong}, which cannot be negative" if not zero and value < 0 else None


def _map(fields: Fields) -> str:
    """`HashMap.toString`."""
    order = jackson.hash_map_order(list(fields))
    return f"{{{', '.join(f'{name}={_text(fields[name])}' for name in order)}}}"


def _text(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
