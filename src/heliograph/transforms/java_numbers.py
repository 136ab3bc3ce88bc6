"""Java's numbers: widths, conversions and texts, as Connect's `Cast`, `Values` and JsonConverter use them.

JSON's integers are Java's long here and its other numbers double, until `Cast` narrows them.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

import numpy as np


class Int8(int):
    """A Byte."""


class Int16(int):
    """A Short."""


class Int32(int):
    """An Integer."""


class Float32(float):
    """A Float; holds its exact value."""


_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?")
_INTEGER = re.compile(r"[+-]?\d+")
_FLOATING = re.compile(
    r"[\x00-\x20]*([+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))[fFdD]?[\x00-\x20]*"
)
#: Ten to this power has 64 factors of two: nothing of it is left in a long.
_NOTHING_LEFT = 64


def wrapped(value: int, bits: int = 64) -> int:
    """The lowest bits, as a Java cast between integers keeps them."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def narrowed(value: float, bits: int) -> int:
    """As Java casts a double to an integer: limited to int or long, then to the lowest bits."""
    if math.isnan(value):
        return 0
    wide = max(bits, 32)
    limit = 1 << (wide - 1)
    if not -limit <= value < limit:
        return wrapped(-limit if value < 0 else limit - 1, bits)
    return wrapped(int(value), bits)


def parse_integer(text: str, bits: int) -> int:
    """`Long.parseLong` and its like; raises ValueError."""
    if not _INTEGER.fullmatch(text) or len(text) > 100:
        raise ValueError(text)
    value = int(text)
    if value != wrapped(value, bits):
        raise ValueError(text)
    return value


def parse_floating(text: str) -> float:
    """`Double.parseDouble`, without hexadecimal numbers; raises ValueError."""
    found = _FLOATING.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return float(found[1])


def decimal_to_long(text: str) -> int:
    """`new BigDecimal(text).longValue()`; raises ValueError."""
    number = _decimal(text)
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= _NOTHING_LEFT:
        return 0
    if number.adjusted() < 0:
        return 0
    return wrapped(int(number))


def decimal_to_double(text: str) -> float:
    """`new BigDecimal(text).doubleValue()`; raises ValueError."""
    return float(_decimal(text)) + 0.0  # BigDecimal has no negative zero


def _decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text) or len(text) > 1000:
        raise ValueError(text)
    return Decimal(text)


def to_float32(value: float) -> Float32:
    with np.errstate(over="ignore"):
        return Float32(np.float32(value))


def number_text(value: float) -> str:
    """`toString` of a Java number."""
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, Float32):
        return _java_text(value, np.format_float_scientific(np.float32(value), unique=True), "%.1e")
    return _java_text(value, f"{float.__repr__(value)}", "%.1e")


def _java_text(value: float, shortest: str, two_digits: str) -> str:
    """From 0.001 to 10,000,000 without an exponent, always with a digit after the point."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(shortest).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    if not text:
        return "-0.0" if sign else "0.0"
    point = len(digits) + int(exponent)  # digits before the point
    if len(text) == 1:
        # Java chooses among the numbers of two digits the nearest: 4.9E-324, not 5E-324.
        _, digits, exponent = Decimal(two_digits % abs(value)).as_tuple()
        text = "".join(map(str, digits)).rstrip("0")
        point = len(digits) + int(exponent)
    if -3 < point <= 7:
        text = text.ljust(point, "0")
        whole, fraction = (text[:point], text[point:]) if point > 0 else ("", "0" * -point + text)
        plain = f"{whole or '0'}.{fraction or '0'}"
    else:
        plain = f"{text[0]}.{text[1:] or '0'}E{point - 1}"
    return f"-{plain}" if sign else plain
