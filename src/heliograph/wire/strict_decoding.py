"""Adds the checks of Java's decoders to kafka-python's, which trust the broker (docs/decisions/0017).

kafka-python generates a message's decoder as Python source when it is first used. These functions wrap the
generators of fields, so that the source has a few lines more:

- a varint has at most five bytes. Without that, a megabyte of continuation bytes takes minutes to decode; -
the tagged fields of a structure have a bounded size. kafka-python copies the rest of the message to read
them,
  for each structure;
- a string ends before the message does. Without that, a truncated string is a shorter string;
- null is accepted only where the schema allows it. Without that, callers get a TypeError from an array.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.schemas.fields.array import ArrayField
from kafka.protocol.schemas.fields.codecs import UnsignedVarInt32
from kafka.protocol.schemas.fields.simple import SimpleField
from kafka.protocol.schemas.fields.struct import StructField
from kafka.protocol.schemas.fields.struct_array import StructArrayField

_MAX_SHIFT = 28  # of the fifth byte
#: Of one structure. The largest that brokers send, in ApiVersions, has some 500.
_MAX_TAG_BYTES = 16 << 10
_VARIABLE = ("string", "bytes", "records")


class UnexpectedSource(Exception):
    """This kafka-python generates other source than the patch was written for."""


def install() -> None:
    """Once per process, before the first message is decoded."""
    if hasattr(UnsignedVarInt32, "heliograph"):
        return
    UnsignedVarInt32.heliograph = True
    _bound_varints()
    _bound_tags()
    for kind in (SimpleField, ArrayField, StructArrayField):
        _refuse_nulls(kind)


def _bound_varints() -> None:
    emit = UnsignedVarInt32.emit_decode_from

    def emit_bounded(ctx: Any, var_name: str, indent: str) -> None:
        emit(ctx, var_name, indent)
        # The last line of the loop: `shift += 7`.
        shift = _expect(ctx.lines[-1], "+= 7").split()[0]
        ctx.emit(indent, f"    if {shift} > {_MAX_SHIFT}: raise ValueError('endless varint')")

    UnsignedVarInt32.emit_decode_from = staticmethod(emit_bounded)


def _bound_tags() -> None:
    emit = StructField._emit_tagged_decode

    def emit_bounded(field: Any, ctx: Any, var_name: str, indent: str, version: int) -> None:
        at = len(ctx.lines)
        emit(field, ctx, var_name, indent, version)
        # The first line: `copy = _BytesIO(bytes(data[pos:]))`.
        first = _expect(ctx.lines[at], "_BytesIO(bytes(data[pos:]))")
        ctx.lines[at] = first.replace("data[pos:]", f"data[pos:pos+{_MAX_TAG_BYTES}]")
        copy = first.split()[0]
        ctx.emit(indent, f"if {copy}.tell() >= {_MAX_TAG_BYTES}: raise ValueError('too many tags')")

    StructField._emit_tagged_decode = emit_bounded


def _refuse_nulls(kind: Any) -> None:
    emit = kind.emit_decode_from

    def emit_checked(
        field: Any, ctx: Any, var_name: str, indent: str, version: int, **encoding: Any
    ) -> None:
        emit(field, ctx, var_name, indent, version=version, **encoding)
        if kind is SimpleField and field.type_str not in _VARIABLE:
            return
        if not field.nullable_for_version_q(version):
            ctx.emit(indent, f"if {var_name} is None: raise ValueError('{field.name} is null')")
        ctx.emit(indent, f"if pos > len(data): raise ValueError('{field.name} is cut off')")

    kind.emit_decode_from = emit_checked


def _expect(line: str, end: str) -> str:
    if not line.rstrip().endswith(end):
        raise UnexpectedSource(
            f"kafka-python: expected a generated line that ends with {end!r}, found {line!r}"
        )
    return str(line)
