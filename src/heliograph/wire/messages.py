"""Encodes requests and decodes responses with kafka-python's message classes, except the hot ones.

The longest responses have decoders of our own, in the version that current brokers speak. Except for
OffsetFetch, their fields have kafka-python's names, so that callers need not know which decoder was used.

None of this is a stable API of kafka-python, so only this module and its callers in `client/` use it;
`tests/unit/wire` tests what we rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import kafka.errors
import kafka.protocol.broker_version_data as broker_versions
from kafka.protocol.admin import (
    CreateAclsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeAclsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    ListTransactionsRequest,
)
from kafka.protocol.consumer import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    SyncGroupRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
)
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from heliograph.errors import BrokerError, MalformedResponse, UnsupportedBroker
from heliograph.wire import describe_configs, metadata, offset_fetch, strict_decoding
from heliograph.wire.error_codes import ErrorCode

__all__ = [
    "AddPartitionsToTxnRequest",
    "ApiVersionsRequest",
    "CreateAclsRequest",
    "CreatePartitionsRequest",
    "CreateTopicsRequest",
    "DeleteTopicsRequest",
    "DescribeAclsRequest",
    "DescribeConfigsRequest",
    "DescribeGroupsRequest",
    "EndTxnRequest",
    "FindCoordinatorRequest",
    "HeartbeatRequest",
    "IncrementalAlterConfigsRequest",
    "InitProducerIdRequest",
    "JoinGroupRequest",
    "LeaveGroupRequest",
    "ListGroupsRequest",
    "ListOffsetsRequest",
    "ListTransactionsRequest",
    "MetadataRequest",
    "OffsetCommitRequest",
    "OffsetFetchRequest",
    "OffsetForLeaderEpochRequest",
    "SaslAuthenticateRequest",
    "SaslHandshakeRequest",
    "SyncGroupRequest",
    "Versions",
    "broker_error",
    "broker_version",
    "encode",
    "error_is_retriable",
    "pick_version",
]

#: What a broker offers: api key -> (lowest, highest version).
Versions = Mapping[int, tuple[int, int]]
Decode = Callable[[memoryview], Any]

strict_decoding.install()

_API_VERSIONS_KEY = 18
#: Api key and version -> decoder of a response's body.
_BY_HAND: Mapping[tuple[int, int], Decode] = {
    (describe_configs.API_KEY, describe_configs.VERSION): describe_configs.decode_response,
    (metadata.API_KEY, metadata.VERSION): metadata.decode_response,
    **{
        (offset_fetch.API_KEY, version): offset_fetch.decode_response
        for version in offset_fetch.VERSIONS
    },
}
#: kafka.errors marks these as not retriable; a mirror retries them, for example until its topic exists.
_WORTH_RETRYING = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)


def pick_version(name: str, api_key: int, wanted: range, offered: Versions) -> int:
    """The newest version of an API that client and broker share."""
    low, high = offered.get(api_key, (0, -1))
    version = min(high, wanted[-1])
    if version < max(low, wanted[0]):
        raise UnsupportedBroker(
            f"{name}: this client speaks versions {wanted[0]} to {wanted[-1]}, the broker "
            + (f"{low} to {high}" if high >= 0 else "none")
            + "; Kafka 2.3 or newer is needed"
        )
    return version


def broker_version(offered: Versions) -> tuple[int, ...]:
    """The newest release of Kafka whose APIs a broker offers, such as (4, 3)."""
    inferred: tuple[int, ...] = broker_versions.infer_broker_version_from_api_versions(offered)
    return inferred


def encode(
    request: Any, offered: Versions, correlation_id: int, client_id: str
) -> tuple[bytes, Decode]:
    """A framed request in the newest common version, and the decoder of its response's frame."""
    version = request.API_VERSION
    if version is None:
        newest = request._max_version if request._max_version is not None else request.max_version
        version = pick_version(request.name, request.API_KEY, range(newest + 1), offered)
        request.API_VERSION = version
    request.with_header(correlation_id=correlation_id, client_id=client_id)
    data = bytes(request.encode(framed=True, header=True))
    response = request.header.get_response_class()
    # A flexible response header ends with an empty tag buffer, except that of ApiVersions: a client must be
    # able to read that before it knows the broker's version (KIP-511).
    flexible = response.flexible_version_q(version) and request.API_KEY != _API_VERSIONS_KEY
    start = 5 if flexible else 4
    by_hand = _BY_HAND.get((request.API_KEY, version))

    def decode(frame: memoryview) -> Any:
        try:
            if bytes(frame[4:start]) not in (b"", b"\0"):
                raise ValueError("tags in its header, of which none are known")
            if by_hand is not None:
                return by_hand(frame[start:])
            return response.decode(frame[start:], version=version)
        except Exception as problem:
            # Any exception: kafka-python hardly checks its input, malformed bytes raise anywhere.
            raise MalformedResponse(
                f"{response.name} version {version}: {len(frame)} bytes cannot be decoded "
                f"({type(problem).__name__}: {problem})"
            ) from problem

    return data, decode


def error_is_retriable(code: int) -> bool:
    return bool(kafka.errors.for_code(code).retriable) or code in _WORTH_RETRYING


def broker_error(code: int, subject: str, detail: str | None = None) -> BrokerError:
    """The exception for an error code, with Kafka's name for it."""
    known = kafka.errors.for_code(code)
    name = getattr(known, "message", None) or known.__name__
    return BrokerError(subject, code, str(name), detail or "", retriable=error_is_retriable(code))
