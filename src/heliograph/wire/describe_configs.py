"""Decodes DescribeConfigs responses of version 4: a thousand topics have tens of thousands of settings.

Most topics of a cluster have the same settings, and these do not name their topic. So settings whose bytes
occurred before in a response are not decoded again: such topics share one tuple.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from heliograph.wire.flexible import count, nullable_string, skip_tags, string, whole

API_KEY = 32
VERSION = 4

_THROTTLE_BYTES = 4
_ERROR = struct.Struct(">h")
_FLAGS = struct.Struct(
    ">?"  # read only
    "b"   # source
    "?"   # sensitive
)  # fmt: skip
#: How many different blocks of settings are compared with the next, the latest first.
_KNOWN_BLOCKS = 8


class Config(NamedTuple):
    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool


class DescribedResource(NamedTuple):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: tuple[Config, ...]


class DescribeConfigsResponse(NamedTuple):
    results: list[DescribedResource]


@whole
def decode_response(body: bytes) -> tuple[DescribeConfigsResponse, int]:
    results: list[DescribedResource] = []
    blocks: list[tuple[bytes, tuple[Config, ...]]] = []
    number, at = count(body, _THROTTLE_BYTES)
    for _ in range(number):
        (error,) = _ERROR.unpack_from(body, at)
        message, at = nullable_string(body, at + _ERROR.size)
        kind = body[at]
        name, at = string(body, at + 1)
        configs, at = _configs(body, at, blocks)
        at = skip_tags(body, at)
        results.append(DescribedResource(error, message, kind, name, configs))
    return DescribeConfigsResponse(results), skip_tags(body, at)


def _configs(
    body: bytes, at: int, blocks: list[tuple[bytes, tuple[Config, ...]]]
) -> tuple[tuple[Config, ...], int]:
    """An array starts with its length, so equal bytes are an equal array, whatever follows."""
    for index, (block, configs) in enumerate(blocks):
        if body.startswith(block, at):
            if index:
                blocks.insert(0, blocks.pop(index))
            return configs, at + len(block)
    start = at
    number, at = count(body, at)
    found = []
    for _ in range(number):
        config, at = _config(body, at)
        found.append(config)
    configs = tuple(found)
    blocks.insert(0, (body[start:at], configs))
    del blocks[_KNOWN_BLOCKS:]
    return configs, at


def _config(body: bytes, at: int) -> tuple[Config, int]:
    name, at = string(body, at)
    value, at = nullable_string(body, at)
    read_only, source, sensitive = _FLAGS.unpack_from(body, at)
    synonyms, at = count(body, at + _FLAGS.size)
    for _ in range(synonyms):
        _, at = string(body, at)
        _, at = nullable_string(body, at)
        at = skip_tags(body, at + 1)
    _, at = nullable_string(body, at + 1)  # after the type: the documentation, if requested
    return Config(name, value, read_only, source, sensitive), skip_tags(body, at)
