"""kafka-python's decoders refuse malformed responses that they would accept without the patch."""

from __future__ import annotations

import time
from typing import Any

import pytest

from heliograph.errors import MalformedResponse
from heliograph.wire import messages, strict_decoding
from heliograph.wire.strict_decoding import UnexpectedSource


def decode(request: Any, version: int, body: bytes) -> Any:
    offered = {request.API_KEY: (version, version)}
    return messages.encode(request, offered, 1, "test")[1](memoryview(bytes(4) + body))


def test_a_varint_without_an_end_is_malformed_at_once() -> None:
    before = time.thread_time()

    with pytest.raises(MalformedResponse, match="endless varint"):
        decode(messages.MetadataRequest(), 11, bytes(5) + b"\xff" * (1 << 20))

    assert time.thread_time() - before < 1.0


def test_many_tags_are_read_without_copying_the_message_for_each() -> None:
    broker = bytes(4) + b"\x02a" + bytes(4) + b"\x00" + b"\x01\x07\x00"
    count = 50_000
    body = bytes(5) + bytes(
        (count + 1 & 0x7F | 0x80, count + 1 >> 7 & 0x7F | 0x80, count + 1 >> 14)
    )
    before = time.thread_time()

    answer = decode(messages.MetadataRequest(), 11, body + broker * count + bytes(5) + b"\x01\0")

    assert len(answer.brokers) == count
    assert time.thread_time() - before < 2.0


def test_tags_without_an_end_are_malformed() -> None:
    with pytest.raises(MalformedResponse, match="too many tags"):
        decode(
            messages.ApiVersionsRequest(),
            3,
            bytes(2) + b"\x01" + bytes(4) + b"\x01\x07\xff\xff\x03" + bytes(1 << 16),
        )


def test_null_where_the_schema_has_none_is_malformed() -> None:
    with pytest.raises(MalformedResponse, match=r"ListGroupsResponse version 0: .* groups is null"):
        decode(messages.ListGroupsRequest(), 0, b"\0\0" + b"\xff" * 4)


def test_null_where_the_schema_allows_it_is_read() -> None:
    answer = decode(messages.MetadataRequest(), 2, bytes(4) + b"\xff\xff" + bytes(8))

    assert answer.cluster_id is None


def test_a_string_that_the_message_cuts_off_is_malformed() -> None:
    with pytest.raises(MalformedResponse, match="cluster_id is cut off"):
        decode(messages.MetadataRequest(), 2, bytes(4) + b"\x7f\xffabc")


def test_a_response_header_with_tags_is_malformed() -> None:
    with pytest.raises(MalformedResponse, match="tags in its header"):
        decode(messages.MetadataRequest(), 12, b"\x01" + bytes(40))


def test_source_that_the_patch_was_not_written_for_is_refused() -> None:
    """A kafka-python that generates other lines is noticed, not patched in the wrong place."""
    with pytest.raises(UnexpectedSource, match=r"ends with '\+= 7', found 'shift = shift \+ 7'"):
        strict_decoding._expect("shift = shift + 7", "+= 7")
