"""Our frames against kafka-python's encoder and decoder, at the same versions."""

from __future__ import annotations

import struct

import pytest
from kafka.protocol.consumer import FetchRequest, FetchResponse
from kafka.protocol.producer import ProduceRequest, ProduceResponse

from heliograph.errors import MalformedResponse
from heliograph.model import AbortedTransaction, TopicPartition
from heliograph.wire import fetch, produce
from heliograph.wire.fetch import FetchLimits
from heliograph.wire.frame import describe_garbage, frame

FETCH_TOPIC = FetchRequest.FetchTopic
PRODUCE_TOPIC = ProduceRequest.TopicProduceData
FETCHED_TOPIC = FetchResponse.FetchableTopicResponse
FETCHED = FETCHED_TOPIC.PartitionData
PRODUCED_TOPIC = ProduceResponse.TopicProduceResponse
PRODUCED = PRODUCED_TOPIC.PartitionProduceResponse


def fetch_partition(partition: int, offset: int) -> object:
    return FETCH_TOPIC.FetchPartition(
        partition=partition,
        current_leader_epoch=-1,
        fetch_offset=offset,
        log_start_offset=-1,
        partition_max_bytes=1 << 20,
    )


def test_a_fetch_request_is_the_one_kafka_python_writes() -> None:
    theirs = FetchRequest(
        replica_id=-1,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=8 << 20,
        isolation_level=1,
        session_id=77,
        session_epoch=3,
        topics=[
            FETCH_TOPIC(
                topic="orders", partitions=[fetch_partition(0, 5), fetch_partition(3, 1 << 40)]
            ),
            FETCH_TOPIC(topic="größe", partitions=[fetch_partition(1, 0)]),
        ],
        forgotten_topics_data=[
            FetchRequest.ForgottenTopic(topic="gone", partitions=[2, 4]),
        ],
        rack_id="",
        version=11,
    ).encode(version=11)

    ours = fetch.encode_request(
        limits=FetchLimits(
            max_wait_ms=500, min_bytes=1, max_bytes=8 << 20, partition_max_bytes=1 << 20
        ),
        isolation_level=1,
        session=(77, 3),
        offsets={
            TopicPartition("orders", 0): 5,
            TopicPartition("größe", 1): 0,
            TopicPartition("orders", 3): 1 << 40,
        },
        forgotten=[TopicPartition("gone", 2), TopicPartition("gone", 4)],
    )

    assert ours == bytes(theirs)


def test_a_produce_request_is_the_one_kafka_python_writes() -> None:
    theirs = ProduceRequest(
        transactional_id=None,
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            PRODUCE_TOPIC(
                name="orders",
                partition_data=[
                    PRODUCE_TOPIC.PartitionProduceData(index=0, records=b"first batch"),
                    PRODUCE_TOPIC.PartitionProduceData(index=7, records=b"second"),
                ],
            ),
            PRODUCE_TOPIC(
                name="größe",
                partition_data=[PRODUCE_TOPIC.PartitionProduceData(index=1, records=b"third")],
            ),
        ],
        version=8,
    ).encode(version=8)

    ours = produce.encode_request(
        {
            TopicPartition("orders", 0): memoryview(b"first batch"),
            TopicPartition("größe", 1): memoryview(b"third"),
            TopicPartition("orders", 7): memoryview(b"second"),
        },
        timeout_ms=30_000,
    )

    assert b"".join(ours) == bytes(theirs)


def test_a_transactional_produce_request_is_the_one_kafka_python_writes() -> None:
    batches = {
        TopicPartition("orders", 0): memoryview(b"first batch"),
        TopicPartition("größe", 1): memoryview(b"t" * 300),
        TopicPartition("orders", 7): memoryview(b"second"),
    }
    for version in (8, 12):
        request = ProduceRequest(
            transactional_id="a-mm2-Connector-0",
            acks=-1,
            timeout_ms=30_000,
            topic_data=[
                PRODUCE_TOPIC(
                    name=topic,
                    partition_data=[
                        PRODUCE_TOPIC.PartitionProduceData(
                            index=number, records=bytes(batches[TopicPartition(topic, number)])
                        )
                        for number in numbers
                    ],
                )
                for topic, numbers in (("orders", (0, 7)), ("größe", (1,)))
            ],
            version=version,
        )
        request.with_header(correlation_id=5, client_id="raw")

        body = produce.encode_request(
            batches, timeout_ms=30_000, transactional_id="a-mm2-Connector-0", version=version
        )

        ours = b"".join(frame(0, version, 5, "raw", body))
        assert ours == bytes(request.encode(framed=True, header=True))


def test_a_request_header_is_the_one_kafka_python_writes() -> None:
    request = ProduceRequest(transactional_id=None, acks=-1, timeout_ms=1, topic_data=[], version=8)
    request.with_header(correlation_id=4711, client_id="a->b|Ünï")
    body = bytes(request.encode(version=8))

    ours = frame(0, 8, 4711, "a->b|Ünï", [body[:3], memoryview(body)[3:]])

    assert b"".join(ours) == bytes(request.encode(framed=True, header=True))


def test_a_fetch_response_of_kafka_python_is_read() -> None:
    records = b"\x00" * 61 + b"records"
    body = FetchResponse(
        throttle_time_ms=12,
        error_code=0,
        session_id=99,
        responses=[
            FETCHED_TOPIC(
                topic="größe",
                partitions=[
                    FETCHED(
                        partition_index=3,
                        error_code=0,
                        high_watermark=1 << 40,
                        last_stable_offset=70,
                        log_start_offset=5,
                        aborted_transactions=[
                            FETCHED.AbortedTransaction(producer_id=42, first_offset=60),
                            FETCHED.AbortedTransaction(producer_id=43, first_offset=65),
                        ],
                        preferred_read_replica=-1,
                        records=records,
                    ),
                    FETCHED(
                        partition_index=4,
                        error_code=6,
                        high_watermark=-1,
                        last_stable_offset=-1,
                        log_start_offset=-1,
                        aborted_transactions=None,
                        preferred_read_replica=-1,
                        records=None,
                    ),
                ],
            )
        ],
        version=11,
    ).encode(version=11)

    answer = fetch.decode_response(memoryview(bytes(body)))

    assert (answer.throttle_ms, answer.error, answer.session_id) == (12, 0, 99)
    first, second = answer.partitions
    assert first[:6] == ("größe", 3, 0, 1 << 40, 70, 5)
    assert first.aborted == [AbortedTransaction(42, 60), AbortedTransaction(43, 65)]
    assert first.records == records
    assert (second.partition, second.error, bytes(second.records)) == (4, 6, b"")


def test_records_of_a_fetch_response_are_a_writable_view_into_the_answer() -> None:
    buffer = bytearray(
        FetchResponse(
            throttle_time_ms=0,
            error_code=0,
            session_id=0,
            responses=[
                FETCHED_TOPIC(
                    topic="t",
                    partitions=[
                        FETCHED(
                            partition_index=0,
                            error_code=0,
                            high_watermark=0,
                            last_stable_offset=0,
                            log_start_offset=0,
                            aborted_transactions=None,
                            preferred_read_replica=-1,
                            records=b"0123456789",
                        )
                    ],
                )
            ],
            version=11,
        ).encode(version=11)
    )

    records = fetch.decode_response(memoryview(buffer)).partitions[0].records
    records[0:1] = b"X"

    assert bytes(buffer).endswith(b"X123456789")


def test_a_produce_response_of_kafka_python_is_read() -> None:
    body = ProduceResponse(
        responses=[
            PRODUCED_TOPIC(
                name="orders",
                partition_responses=[
                    PRODUCED(
                        index=0,
                        error_code=0,
                        base_offset=123,
                        log_append_time_ms=-1,
                        log_start_offset=0,
                        record_errors=[],
                        error_message=None,
                    ),
                    PRODUCED(
                        index=1,
                        error_code=87,
                        base_offset=-1,
                        log_append_time_ms=-1,
                        log_start_offset=-1,
                        record_errors=[
                            PRODUCED.BatchIndexAndErrorMessage(
                                batch_index=0, batch_index_error_message="no key"
                            )
                        ],
                        error_message="One or more records have been rejected",
                    ),
                ],
            )
        ],
        throttle_time_ms=0,
        version=8,
    ).encode(version=8)

    first, second = produce.decode_response(memoryview(bytes(body)))

    assert first == (("orders", 0), 0, 123, None)
    assert second == (("orders", 1), 87, -1, "One or more records have been rejected")


def test_a_flexible_produce_response_of_kafka_python_is_read() -> None:
    answer = flexible_produce_response()

    first, second = produce.decode_response(memoryview(answer), 12)

    assert first == (("orders", 0), 0, 123, None)
    assert second == (("orders", 1), 87, -1, "no key")


def flexible_produce_response() -> bytes:
    """With the empty tag buffer that ends a flexible response's header."""
    body = ProduceResponse(
        responses=[
            PRODUCED_TOPIC(
                name="orders",
                partition_responses=[
                    PRODUCED(
                        index=0,
                        error_code=0,
                        base_offset=123,
                        log_append_time_ms=-1,
                        log_start_offset=0,
                        record_errors=[],
                        error_message=None,
                    ),
                    PRODUCED(
                        index=1,
                        error_code=87,
                        base_offset=-1,
                        log_append_time_ms=-1,
                        log_start_offset=-1,
                        record_errors=[
                            PRODUCED.BatchIndexAndErrorMessage(
                                batch_index=0, batch_index_error_message="no key"
                            )
                        ],
                        error_message=None,
                        current_leader=PRODUCED.LeaderIdAndEpoch(leader_id=2, leader_epoch=7),
                    ),
                ],
            )
        ],
        throttle_time_ms=0,
        version=12,
    ).encode(version=12)
    return b"\x00" + bytes(body)


def test_a_flexible_response_that_is_cut_anywhere_is_malformed_and_nothing_else() -> None:
    body = flexible_produce_response()

    for end in range(len(body) - 5):  # the throttle time behind the answers is not read
        with pytest.raises(MalformedResponse):
            produce.decode_response(memoryview(body[:end]), 12)


def test_a_response_that_is_cut_anywhere_is_malformed_and_nothing_else() -> None:
    answer = PRODUCED(
        index=0,
        error_code=0,
        base_offset=1,
        log_append_time_ms=-1,
        log_start_offset=0,
        record_errors=[],
        error_message="said",
    )
    topic = PRODUCED_TOPIC(name="orders", partition_responses=[answer])
    body = bytes(
        ProduceResponse(responses=[topic], throttle_time_ms=0, version=8).encode(version=8)
    )

    for end in range(len(body) - 4):  # the throttle time behind the answers is not read
        with pytest.raises(MalformedResponse):
            produce.decode_response(memoryview(body[:end]))


def test_a_name_that_is_not_utf_8_is_malformed() -> None:
    with pytest.raises(MalformedResponse, match="not UTF-8"):
        produce.decode_response(memoryview(struct.pack(">ih", 1, 2) + b"\xff\xfe" + bytes(40)))


def test_an_array_longer_than_its_response_is_refused_before_it_is_read() -> None:
    with pytest.raises(MalformedResponse, match="array of 2000000000"):
        produce.decode_response(memoryview(struct.pack(">i", 2_000_000_000)))


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"HTTP", "an HTTP server"),
        (b"\x15\x03\x03\x00", "a TLS server"),
        (b"SSH-", "an SSH server"),
        (b"220 ", "b'220 '"),
    ],
)
def test_garbage_is_described_by_what_it_looks_like(head: bytes, words: str) -> None:
    assert words in describe_garbage(head)
