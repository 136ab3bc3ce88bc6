"""An answer of a worker, without what differs from run to run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Scripts do not read Date, Server and the like.
HEADERS_THAT_MATTER = (
    "content-type",
    "location",
    "allow",
    "www-authenticate",
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-headers",
    "access-control-allow-credentials",
    "access-control-max-age",
    "x-conformance",
)

_STACK = re.compile(r"\n\s*(at |\.\.\. \d+ more)[\s\S]*")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_FIXED = {"last_modified": "<time>", "commit": "<commit>", "kafka_cluster_id": "<cluster>"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`body` is the parsed JSON, or the text if it is not JSON; None if it is empty."""

    status: int
    headers: Mapping[str, str]
    body: Any

    def as_json(self) -> dict[str, Any]:
        return {"status": self.status, "headers": dict(self.headers), "body": self.body}


def answer_from(recorded: Mapping[str, Any]) -> Answer:
    return Answer(status=recorded["status"], headers=recorded["headers"], body=recorded["body"])


def read_answer(
    status: int, headers: Mapping[str, str], content: bytes, names: Mapping[str, str]
) -> Answer:
    """`names`: replacements for what differs between runs (a worker's address, bootstrap servers)."""
    text = content.decode("utf-8", errors="backslashreplace")
    for found, word in names.items():
        text = text.replace(found, word)
    return Answer(
        status=status,
        headers={
            name: _header(name, _without_names(headers[name], names))
            for name in HEADERS_THAT_MATTER
            if name in headers
        },
        body=_normal(_parsed(text)),
    )


def _header(name: str, value: str) -> str:
    """Java orders the methods for other origins differently after each start."""
    if name == "access-control-allow-methods":
        return ",".join(sorted(value.split(",")))
    return value


def _without_names(text: str, names: Mapping[str, str]) -> str:
    for found, word in names.items():
        text = text.replace(found, word)
    return text


def _parsed(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def _normal(value: Any) -> Any:
    match value:
        case dict():
            return {
                key: _FIXED[key]
                if key in _FIXED and each is not None
                else _first_line(each)
                if key == "trace"
                else _normal(each)
                for key, each in value.items()
            }
        case list():
            return [_normal(each) for each in value]
        case str():
            return _TIMESTAMP.sub("<time>", value)
        case _:
            return value


def _first_line(trace: Any) -> Any:
    return _STACK.sub("", trace) if isinstance(trace, str) else trace
