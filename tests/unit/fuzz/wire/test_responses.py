"""Responses, damaged: read, or refused as malformed, whoever's decoder it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import FetchResponse
from kafka.protocol.producer import ProduceResponse

from heliograph.errors import HeliographError, MalformedResponse
from heliograph.wire import fetch, messages, produce
from support.fuzz.laws import at_most, survives
from support.fuzz.mutation import mutants
from support.fuzz.response_samples import REQUESTS, sample

FETCHED = bytes(sample(FetchResponse, fetch.VERSION).encode(version=fetch.VERSION))
PRODUCED = {
    version: header + bytes(sample(ProduceResponse, version).encode(version=version))
    for version, header in ((produce.VERSION, b""), (produce.VERSION_WITH_TRANSACTIONS_2, b"\0"))
}

Decode = Callable[[memoryview], Any]


@given(st.binary(max_size=60) | mutants([FETCHED]))
def test_a_fetch_response_is_read_or_malformed(body: bytes) -> None:
    answer = survives(lambda: fetch.decode_response(memoryview(body)), len(body))

    if isinstance(answer, HeliographError):
        assert isinstance(answer, MalformedResponse)
    else:
        assert sum(len(each.records) for each in answer.partitions) <= len(body)


@pytest.mark.parametrize("version", PRODUCED)
@given(data=st.data())
def test_a_produce_response_is_read_or_malformed(version: int, data: st.DataObject) -> None:
    body = data.draw(st.binary(max_size=60) | mutants([PRODUCED[version]]))

    answer = survives(lambda: produce.decode_response(memoryview(body), version), len(body))

    if isinstance(answer, HeliographError):
        assert isinstance(answer, MalformedResponse)


def exchange(kind: Any, version: int) -> tuple[bytes, Decode]:
    """A valid frame of a response, and what decodes it."""
    request = kind(version=version)
    _, decode = messages.encode(request, {request.API_KEY: (version, version)}, 1, "fuzz")
    response = request.header.get_response_class()
    body = bytes(sample(response, version).encode(version=version))
    flexible = response.flexible_version_q(version) and request.name != "ApiVersionsRequest"
    return bytes(4) + (b"\0" if flexible else b"") + body, decode


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
@at_most(50)
@given(data=st.data())
def test_a_response_that_kafka_python_reads_has_what_it_says_or_is_malformed(
    kind: Any, data: st.DataObject
) -> None:
    version = data.draw(st.integers(0, kind.max_version))
    frame, decode = exchange(kind, version)
    frame = data.draw(mutants([frame, frame + frame]))

    answer = survives(lambda: decode(memoryview(frame)), len(frame))

    if isinstance(answer, HeliographError):
        assert isinstance(answer, MalformedResponse)
    elif hasattr(answer, "_struct"):  # kafka-python's, not one that is read by hand
        check_fields(answer._struct, answer, answer.version)


def check_fields(struct: Any, answer: Any, version: int) -> None:
    """Null only where the schema says so: callers go through arrays and strings without asking."""
    for field in struct.untagged_fields(version):
        value = getattr(answer, field.name)
        if value is None:
            nullable = field.nullable_for_version_q(version)
            assert nullable or field.type_str in ("uuid", "bitfield"), field.name
        elif field.is_struct_array():
            for item in value:
                check_fields(field.array_of, item, version)


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_a_response_of_kafka_python_that_is_cut_anywhere_is_malformed(kind: Any) -> None:
    for version in range(kind.max_version + 1):
        frame, decode = exchange(kind, version)
        decode(memoryview(frame))
        for end in range(len(frame)):
            with pytest.raises(MalformedResponse, match=kind.name.removesuffix("Request")):
                decode(memoryview(frame[:end]))
