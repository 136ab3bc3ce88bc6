"""Damaged bytes: examples that are valid, changed as wires, disks and bugs of others change them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

#: What a length, count or offset field is replaced by, in 1, 2, 4 or 8 bytes.
_EXTREMES = (
    0,
    1,
    -1,
    -2,
    0x7F,
    -0x80,
    0x7FFF,
    -0x8000,
    0x7FFFFFFF,
    -0x80000000,
    2**63 - 1,
    -(2**63),
)
#: Of varints: the largest of 32 and 64 bits, one without an end, one that never was any.
_VARINTS = (b"\xfe\xff\xff\xff\x0f", b"\xfe" + b"\xff" * 8 + b"\x01", b"\xff" * 12, b"\x80\x00")

Change = Callable[[st.DrawFn, bytearray, Sequence[bytes]], None]


def _flip(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[_place(draw, data) % len(data)] ^= 1 << draw(st.integers(0, 7))


def _replace(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[_place(draw, data) % len(data)] = draw(st.integers(0, 255))


def _truncate(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    del data[_place(draw, data) :]


def _extend(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    data += draw(st.binary(max_size=40))


def _insert(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(draw, data)
    data[at:at] = draw(st.binary(min_size=1, max_size=8))


def _cut_out(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(draw, data)
    del data[at : at + draw(st.integers(1, 16))]


def _splice(draw: st.DrawFn, data: bytearray, others: Sequence[bytes]) -> None:
    other = draw(st.sampled_from(others))
    at, start = _place(draw, data), draw(st.integers(0, len(other)))
    data[at:] = other[start:]


def _extreme(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    width = draw(st.sampled_from((1, 2, 4, 8)))
    at = _place(draw, data)
    value = draw(st.sampled_from(_EXTREMES)) % (1 << 8 * width)
    data[at : at + width] = value.to_bytes(width, "big")


def _varint(draw: st.DrawFn, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(draw, data)
    data[at : at + 1] = draw(st.sampled_from(_VARINTS))


_CHANGES: tuple[Change, ...] = (
    _flip,
    _replace,
    _truncate,
    _extend,
    _insert,
    _cut_out,
    _splice,
    _extreme,
    _varint,
)


def _place(draw: st.DrawFn, data: bytearray) -> int:
    return draw(st.integers(0, len(data)))


@st.composite
def mutants(draw: st.DrawFn, examples: Sequence[bytes], *, least: int = 0, most: int = 4) -> bytes:
    """One of the examples with `least` to `most` changes."""
    data = bytearray(draw(st.sampled_from(examples)))
    for _ in range(draw(st.integers(least, most))):
        draw(st.sampled_from(_CHANGES))(draw, data, examples)
    return bytes(data)


@st.composite
def flipped(draw: st.DrawFn, examples: Sequence[bytes]) -> bytes:
    """One of the examples with one to three bits changed: what damage on a disk looks like."""
    data = bytearray(draw(st.sampled_from(examples)))
    bits = st.integers(0, 8 * len(data) - 1)
    for bit in draw(st.lists(bits, min_size=1, max_size=3, unique=True)):
        data[bit // 8] ^= 1 << bit % 8
    return bytes(data)
