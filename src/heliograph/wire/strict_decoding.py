"""kafka-python's decoders as strict as Java's, which refuse what theirs read somehow.

A message's decoder is Python source that its fields write when it is first used. Here the fields write
a few lines more:

- a varint has at most five bytes. Without that, a megabyte of them is one number, put together in minutes;
- tags, for which theirs copies the rest of the message, structure by structure, have a bounded size;
- a string ends where the message does. Without that, a cut one is a shorter one;
- null stands only where the schema allows it. Without that, who reads an array gets a TypeError.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.schemas.fields.array import ArrayField
from kafka.protocol.schemas.fields.codecs import UnsignedVarInt32
from kafka.protocol.schemas.fields.simple import SimpleField
from kafka.protocol.schemas.fields.struct import StructField
from kafka.protocol.schemas.fields.struct_array import StructArrayField

_MAX_SHIFT = 28  # of the fifth byte
_MAX_TAG_BYTES = (
    16 << 10
)  # of one structure; the largest that brokers send, of ApiVersions, has some 500
_VARIABLE = ("string", "bytes", "records")


def install() -> None:
    """Once per process, before the first message is decoded; `tests/unit/wire` holds that it works."""
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
        shift = ctx.lines[-1].split()[0]  # the last line of the loop: `shift += 7`
        ctx.emit(indent, f"    if {shift} > {_MAX_SHIFT}: raise ValueError('endless varint')")

    UnsignedVarInt32.emit_decode_from = staticmethod(emit_bounded)


def _bound_tags() -> None:
    emit = StructField._emit_tagged_decode

    def emit_bounded(field: Any, ctx: Any, var_name: str, indent: str, version: int) -> None:
        at = len(ctx.lines)  # of the first line: `copy = _BytesIO(bytes(data[pos:]))`
        emit(field, ctx, var_name, indent, version)
        ctx.lines[at] = ctx.lines[at].replace("data[pos:]", f"data[pos:pos+{_MAX_TAG_BYTES}]")
        copy = ctx.lines[at].split()[0]
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
