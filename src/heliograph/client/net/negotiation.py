"""The first exchange on a connection: which versions of which APIs the broker speaks (ApiVersions)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from heliograph import __version__
from heliograph.errors import ConnectionLost, Interrupted, MalformedResponse, NotKafka
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

#: Version 3 also tells the broker our name.
_API_VERSIONS = range(4)
_STOP_GRACE_SECONDS = 2.0


class Call(Protocol):
    """Sends a request of kafka-python's and waits for its response."""

    def __call__(self, request: Any, *, stopped: Callable[[], bool]) -> Any: ...


class Negotiated(NamedTuple):
    """`features` are the finalized ones of the cluster (KIP-584)."""

    versions: messages.Versions
    features: Mapping[str, int]


def negotiate(address: str, call: Call, stopped: Callable[[], bool]) -> Negotiated:
    """Raises ClientError."""
    # A stop does not end it at once: the last offsets of an epoch may have to go to a new broker.
    impatient = time.monotonic() + _STOP_GRACE_SECONDS

    def enough() -> bool:
        return stopped() and time.monotonic() > impatient

    response = _ask(address, call, _API_VERSIONS[-1], enough)
    if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
        # The answer has the layout of version 0. Brokers since 2.4 list the versions they speak (KIP-511).
        key = messages.ApiVersionsRequest.API_KEY
        offered = {key: (0, 0)} | _versions(response)
        version = messages.pick_version("ApiVersions", key, _API_VERSIONS, offered)
        response = _ask(address, call, version, enough)
    if response.error_code:
        raise messages.broker_error(response.error_code, f"{address}: ApiVersions")
    features = {each.name: each.max_version_level for each in response.finalized_features}
    return Negotiated(_versions(response), features)


def _versions(response: Any) -> dict[int, tuple[int, int]]:
    return {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}


def _ask(address: str, call: Call, version: int, stopped: Callable[[], bool]) -> Any:
    request = messages.ApiVersionsRequest(
        client_software_name="heliograph", client_software_version=__version__, version=version
    )
    try:
        return call(request, stopped=stopped)
    except MalformedResponse as e:
        raise NotKafka(f"{address}: expected Kafka's protocol, but {e}") from e
    except Interrupted:
        raise
    except ConnectionLost as e:
        raise ConnectionLost(
            f"{address}: accepts connections, but does not answer Kafka's first request (ApiVersions); the "
            "broker may be starting, the listener may want TLS, or it is not Kafka"
        ) from e
