"""Parses request bodies; an invalid one is a 400 that says what was expected.

Connect answers 500 with a message of its JSON parser instead. Where a string is expected, numbers and
booleans are accepted as the text that the client wrote, as in Connect.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from heliograph.config.connectors.field_limits import MOST_OF_A_NAME, too_large
from heliograph.connect.herder import OffsetEntry
from heliograph.web.exchange import Refused

_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
#: Characters of a 64-bit number in any usual notation.
_LONGEST_NUMBER = 40
_STATES = ("RUNNING", "PAUSED", "STOPPED")


class _Number(str):
    """A number as the client wrote it."""


class Creation(NamedTuple):
    name: str
    config: dict[str, str | None]
    initial_state: str | None


def read_json(body: bytes, expected: str) -> Any:
    """Raises Refused."""
    if not body.strip():
        raise Refused(400, f"Request body: expected {expected} as JSON, found nothing")
    try:
        return json.loads(
            body, parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise Refused(400, "Request body: the JSON is nested too deeply") from None
    except UnicodeDecodeError as e:
        where = f"byte {e.start}"
        raise Refused(
            400, f"Request body: expected UTF-8, found an invalid sequence at {where}"
        ) from None
    except ValueError as e:
        raise Refused(400, f"Request body: expected {expected} as JSON, but {e}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_config(body: bytes) -> dict[str, str | None]:
    """A flat map of settings; null stays null."""
    return _settings(read_json(body, "an object of settings"), "Request body")


def read_creation(body: bytes) -> Creation:
    """`{"name": …, "config": {…}, "initial_state": …}`"""
    content = _object(read_json(body, "name and config"), "Request body")
    _only(content, ("name", "config", "initial_state"), "Request body")
    if content.get("config") is None:
        raise Refused(400, "config: missing in the request body; expected an object of settings")
    name = _text(content.get("name"), "name")
    if name is not None and len(name) > MOST_OF_A_NAME:
        raise Refused(400, f"name: expected at most {MOST_OF_A_NAME} characters")
    return Creation(
        name="" if name is None else name.strip(),
        config=_settings(content["config"], "config"),
        initial_state=_initial_state(content.get("initial_state")),
    )


def _initial_state(given: Any) -> str | None:
    text = _text(given, "initial_state")
    if text is None:
        return None
    if text.upper() not in _STATES:
        raise Refused(400, f"initial_state: expected {_listed(_STATES)}, found {text!r}")
    return text.upper()


def read_offsets(body: bytes) -> list[OffsetEntry]:
    """`{"offsets": [{"partition": {…}, "offset": {…}}]}`; empty if the body has none."""
    content = _object(read_json(body, "offsets"), "Request body")
    _only(content, ("offsets",), "Request body")
    entries = content.get("offsets")
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise Refused(400, f"offsets: expected a list, found {_kind(entries)}")
    return [_entry(entry, f"offsets[{number}]") for number, entry in enumerate(entries)]


def _entry(entry: Any, where: str) -> OffsetEntry:
    content = _object(entry, where)
    _only(content, ("partition", "offset"), where)
    if content.get("partition") is None:
        raise Refused(400, f"{where}: Source partitions may not be null")
    offset = content.get("offset")
    return OffsetEntry(
        partition=_plain(_object(content["partition"], f"{where}.partition")),
        offset=None if offset is None else _plain(_object(offset, f"{where}.offset")),
    )


def _plain(value: Any) -> Any:
    """Turns `_Number` into int or float."""
    match value:
        case _Number():
            return _number(value)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value


def _number(text: str) -> int | float:
    if len(text) > _LONGEST_NUMBER or not math.isfinite(float(text)):
        raise Refused(400, f"Request body: expected a 64-bit number, found {text[:20]}…")
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _settings(content: Any, where: str) -> dict[str, str | None]:
    settings = {name: _text(value, name) for name, value in _object(content, where).items()}
    oversize = too_large(settings)
    if oversize is not None:
        raise Refused(400, f"{where}: {oversize}")
    return settings


def _object(content: Any, where: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise Refused(400, f"{where}: expected an object, found {_kind(content)}")
    return content


def _text(value: Any, where: str) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    raise Refused(400, f"{where}: expected a string, found {_kind(value)}")


def _only(content: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    unknown = [name for name in content if name not in known]
    if unknown:
        raise Refused(400, f"{where}: expected {_listed(known)}, found {unknown[0]!r} as well")


def _kind(value: Any) -> str:
    if isinstance(value, _Number):
        return "a number"
    return "null" if value is None else _KINDS[type(value)]


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
