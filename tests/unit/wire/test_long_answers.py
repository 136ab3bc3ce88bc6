"""Our decoders of long responses, against kafka-python's at the same versions."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.admin import DescribeConfigsResponse
from kafka.protocol.consumer import OffsetFetchResponse
from kafka.protocol.metadata import MetadataResponse

from heliograph.errors import MalformedResponse
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.wire import describe_configs, messages, metadata, offset_fetch

RESOURCE = DescribeConfigsResponse.DescribeConfigsResult
CONFIG = RESOURCE.DescribeConfigsResourceResult
GROUP = OffsetFetchResponse.OffsetFetchResponseGroup
GROUP_TOPIC = GROUP.OffsetFetchResponseTopics
GROUP_PARTITION = GROUP_TOPIC.OffsetFetchResponsePartitions
TOPIC = MetadataResponse.MetadataResponseTopic
PARTITION = TOPIC.MetadataResponsePartition

i16 = st.integers(-(2**15), 2**15 - 1)
i32 = st.integers(-(2**31), 2**31 - 1)
i64 = st.integers(-(2**63), 2**63 - 1)
# Some of them longer than a length of one byte can say.
text = st.one_of(st.text(max_size=8), st.text(min_size=120, max_size=140))
few = {"max_size": 4}

configs = st.builds(
    CONFIG,
    name=text,
    value=st.none() | text,
    read_only=st.booleans(),
    config_source=st.integers(-1, 6),
    is_sensitive=st.booleans(),
    synonyms=st.lists(
        st.builds(
            CONFIG.DescribeConfigsSynonym,
            name=text,
            value=st.none() | text,
            source=st.integers(0, 6),
        ),
        max_size=2,
    ),
    config_type=st.integers(0, 9),
    documentation=st.none() | text,
)
# Two topics set up alike are the rule: few different lists, drawn again and again.
resources = st.lists(st.lists(configs, **few), min_size=1, max_size=2).flatmap(
    lambda kinds: st.lists(
        st.builds(
            RESOURCE,
            error_code=i16,
            error_message=st.none() | text,
            resource_type=st.just(2),
            resource_name=text,
            configs=st.sampled_from(kinds),
        ),
        max_size=8,
    )
)
group_offsets = st.lists(
    st.builds(
        GROUP,
        group_id=text,
        topics=st.lists(
            st.builds(
                GROUP_TOPIC,
                name=text,
                partitions=st.lists(
                    st.builds(
                        GROUP_PARTITION,
                        partition_index=i32,
                        committed_offset=i64,
                        committed_leader_epoch=i32,
                        metadata=st.one_of(st.just(""), st.none(), text),
                        error_code=st.just(0) | i16,
                    ),
                    **few,
                ),
            ),
            **few,
        ),
        error_code=i16,
    ),
    **few,
)
nodes = st.lists(i32, max_size=3) | st.just([1] * 200)
topics = st.lists(
    st.builds(
        TOPIC,
        error_code=i16,
        name=st.none() | text,
        topic_id=st.uuids(allow_nil=True),
        is_internal=st.booleans(),
        partitions=st.lists(
            st.builds(
                PARTITION,
                error_code=i16,
                partition_index=i32,
                leader_id=i32,
                leader_epoch=i32,
                replica_nodes=nodes,
                isr_nodes=nodes,
                offline_replicas=nodes,
            ),
            **few,
        ),
    ),
    **few,
)
brokers = st.lists(
    st.builds(
        MetadataResponse.MetadataResponseBroker,
        node_id=i32,
        host=text,
        port=i32,
        rack=st.none() | text,
    ),
    **few,
)


@given(resources)
def test_settings_of_topics(results: list[Any]) -> None:
    theirs = DescribeConfigsResponse(throttle_time_ms=7, results=results)
    body = theirs.encode(version=4)

    assert_same(describe_configs.decode_response(memoryview(body)), oracle(theirs, body, 4))


@given(group_offsets, st.sampled_from(offset_fetch.VERSIONS))
def test_offsets_of_groups(found: list[Any], version: int) -> None:
    theirs = OffsetFetchResponse(throttle_time_ms=7, groups=found)
    body = theirs.encode(version=version)

    ours = offset_fetch.decode_response(memoryview(body)).groups
    expected = oracle(theirs, body, version).groups

    assert [(g.group_id, g.error_code) for g in ours] == [
        (g.group_id, g.error_code) for g in expected
    ]
    for one, other in zip(ours, expected, strict=True):
        answers = [(t.name, p) for t in other.topics for p in t.partitions]
        assert one.offsets == {
            TopicPartition(name, p.partition_index): (p.committed_offset, p.metadata or "")
            for name, p in answers
            if not p.error_code
        }
        assert one.refused == {
            TopicPartition(name, p.partition_index): p.error_code
            for name, p in answers
            if p.error_code
        }
        assert all(isinstance(key, TopicPartition) for key in one.offsets)
        assert all(isinstance(value, CommittedOffset) for value in one.offsets.values())


@given(brokers, topics, st.none() | text, i32)
def test_metadata(
    its_brokers: list[Any], its_topics: list[Any], cluster_id: str | None, controller: int
) -> None:
    theirs = MetadataResponse(
        throttle_time_ms=7,
        brokers=its_brokers,
        cluster_id=cluster_id,
        controller_id=controller,
        topics=its_topics,
    )
    body = theirs.encode(version=12)

    assert_same(metadata.decode_response(memoryview(body)), oracle(theirs, body, 12))


def test_topics_that_are_set_up_alike_share_their_settings() -> None:
    entry = CONFIG(name="retention.ms", value="1", read_only=False, config_source=1)
    other = CONFIG(name="retention.ms", value="2", read_only=False, config_source=1)
    results = [
        RESOURCE(resource_type=2, resource_name=name, configs=[config])
        for name, config in (("a", entry), ("b", other), ("c", entry), ("d", other))
    ]
    body = DescribeConfigsResponse(results=results).encode(version=4)

    a, b, c, d = describe_configs.decode_response(memoryview(body)).results

    assert (a.configs[0].value, b.configs[0].value) == ("1", "2")
    assert a.configs is c.configs
    assert b.configs is d.configs


def test_tagged_fields_of_later_brokers_are_passed_over() -> None:
    body = OffsetFetchResponse(groups=[GROUP(group_id="g", topics=[])]).encode(version=9)
    tagged = bytes(body[:-1]) + bytes([2, 0, 3, 1, 2, 3, 0x81, 0x01, 1, 9])

    assert offset_fetch.decode_response(memoryview(tagged)).groups[0].group_id == "g"


@given(st.binary(max_size=60))
@pytest.mark.parametrize(
    "decode",
    [
        describe_configs.decode_response,
        metadata.decode_response,
        offset_fetch.decode_response,
    ],
)
def test_garbage_is_an_error_of_ours(decode: messages.Decode, garbage: bytes) -> None:
    with suppress(MalformedResponse):
        decode(memoryview(garbage))


@given(st.data())
def test_an_answer_that_was_cut_is_an_error(data: st.DataObject) -> None:
    body = bytes(
        OffsetFetchResponse(
            groups=[
                GROUP(
                    group_id="g",
                    topics=[
                        GROUP_TOPIC(
                            name="orders",
                            partitions=[
                                GROUP_PARTITION(partition_index=p, committed_offset=5, metadata="")
                                for p in range(3)
                            ],
                        )
                    ],
                )
            ]
        ).encode(version=9)
    )
    cut = data.draw(st.integers(0, len(body) - 1))

    with pytest.raises(MalformedResponse):
        offset_fetch.decode_response(memoryview(body[:cut]))


def test_a_broker_of_today_is_read_by_hand_and_an_older_one_is_not() -> None:
    for offered, kind in ((9, offset_fetch.OffsetFetchResponse), (7, OffsetFetchResponse)):
        request = messages.OffsetFetchRequest(group_id="g", topics=None, groups=[], max_version=9)
        _, decode = messages.encode(request, {offset_fetch.API_KEY: (1, offered)}, 1, "me")
        body = OffsetFetchResponse(topics=[], groups=[]).encode(version=offered)

        assert isinstance(decode(memoryview(b"\0\0\0\1\0" + bytes(body))), kind)


def oracle(theirs: Any, body: bytes, version: int) -> Any:
    return type(theirs).decode(body, version=version)


def assert_same(ours: Any, theirs: Any) -> None:
    """Every field of ours is what kafka-python calls so."""
    if isinstance(ours, list | tuple) and not hasattr(ours, "_fields"):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif hasattr(ours, "_fields"):
        for name in ours._fields:
            assert_same(getattr(ours, name), getattr(theirs, name))
    else:
        assert ours == theirs
        assert type(ours) is type(theirs) or isinstance(ours, UUID)
