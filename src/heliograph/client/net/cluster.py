"""A client of one cluster: its metadata, a connection to each broker, and calls to any of them.

Not for several threads at once: every thread that talks to a cluster has a client of its own.
"""

from __future__ import annotations

import logging
import math
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import UUID

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.connection import Connection
from heliograph.client.net.meter import Meter
from heliograph.client.security.connection_security import ConnectionSecurity
from heliograph.errors import (
    ClientError,
    ConnectionLost,
    Interrupted,
    NotKafka,
    SecurityFailed,
    Unreachable,
    UnsupportedBroker,
)
from heliograph.model import ClusterConfig, SeenCluster, TopicPartition
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: The first Metadata version whose leader epochs are used: before Kafka 2.4 they may be stale (KAFKA-9212).
_RELIABLE_EPOCHS = 9
#: Brokers answer Metadata from memory, and copies wait for it after a broker was lost.
_METADATA_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Metadata:
    """The newest Metadata response. `leaders` and `leader_epochs` lack partitions without a leader;
    `topic_ids` (KIP-516) is empty if brokers are older than Kafka 2.8. `missing` are topics that were
    requested by name and that the broker does not know; `errors` has the error codes of these and of topics
    that we may not describe. `cluster_id` is the id that the brokers report."""

    nodes: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    controller: int = -1
    leaders: Mapping[TopicPartition, int] = field(default_factory=dict)
    leader_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    internal: frozenset[str] = frozenset()
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    cluster_id: str | None = None
    errors: Mapping[str, int] = field(default_factory=dict)

    def why_leaderless(self, partition: TopicPartition) -> int:
        """The error code of a partition that `leaders` lacks."""
        return self.errors.get(partition.topic, ErrorCode.LEADER_NOT_AVAILABLE)

    def topic_id(self, topic: str) -> str | None:
        """As Kafka writes it: URL-safe base64 without padding (`org.apache.kafka.common.Uuid`)."""
        found = self.topic_ids.get(topic)
        return None if found is None else urlsafe_b64encode(found.bytes).rstrip(b"=").decode()


class _Refusal:
    """A TLS or login failure at one broker: no new attempt before `until`."""

    def __init__(self) -> None:
        self.until = 0.0
        self._backoff = Backoff(first=1.0, most=30.0)
        self._error = SecurityFailed()

    def note(self, error: SecurityFailed) -> None:
        self._error = error
        self.until = time.monotonic() + self._backoff.next()

    def again(self) -> SecurityFailed:
        return type(self._error)(str(self._error))


class ClusterClient:
    """`call_any` uses a connection of its own, so that it does not wait behind a fetch."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        client_id: str,
        timeout: float = 30.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.config = config
        self.client_id = client_id
        self.timeout = timeout
        self.metadata = Metadata()
        self.stopped = stopped
        self._connections: dict[int, Connection] = {}
        self._control: Connection | None = None
        self._access = ConnectionSecurity(config.security, f"cluster {config.alias!r}")
        self._refusals: dict[tuple[str, int], _Refusal] = {}
        self.meter = Meter()

    @property
    def seen(self) -> SeenCluster:
        """What identifies this cluster, as far as it is known; for any thread."""
        metadata = self.metadata
        return SeenCluster(
            bootstrap=frozenset(self.config.bootstrap_servers),
            id=metadata.cluster_id,
            brokers=frozenset(metadata.nodes.values()),
        )

    def refresh(self, topics: Iterable[str] | None = None) -> Metadata:
        """Refresh the metadata from any broker: of `topics`, or of all topics if None."""
        wanted = None if topics is None else sorted(set(topics))
        entry = messages.MetadataRequest.MetadataRequestTopic
        request = messages.MetadataRequest(
            topics=None if wanted is None else [entry(name=name) for name in wanted],
            allow_auto_topic_creation=False,
            max_version=12,
        )
        response = self.call_any_all([request], suspect_after=_METADATA_SECONDS)[0]
        self.metadata = _read_metadata(response, epochs=request.API_VERSION >= _RELIABLE_EPOCHS)
        return self.metadata

    def let_brokers_create(self, topics: Iterable[str]) -> None:
        """Request metadata as a producer does: brokers with auto.create.topics.enable create missing topics a
        moment later, with their own defaults."""
        entry = messages.MetadataRequest.MetadataRequestTopic
        request = messages.MetadataRequest(
            topics=[entry(name=name) for name in topics],
            allow_auto_topic_creation=True,
            max_version=12,
        )
        self.call_any(request)

    def call_any(self, request: Any) -> Any:
        """Call any broker that answers: the one called last, then known ones, then the bootstrap servers."""
        return self.call_any_all([request])[0]

    def call_any_all(self, requests: Sequence[Any], suspect_after: float = math.inf) -> list[Any]:
        """As `call_any`, with several requests at once; responses in the order of the requests.

        The open connection may be half-open: if it does not answer within `suspect_after` seconds, a new one
        is opened, which has the full timeout.
        """
        if not requests:
            return []
        failures: list[ClientError] = []
        if self._control is not None and not self._control.is_trusted:
            self._hang_up()
        if self._control is not None:
            try:
                self._control.timeout = min(self.timeout, suspect_after)
                return self._answered(self._control.call_all(requests, stopped=self.stopped))
            except ClientError as e:
                failures.append(e)
                self._hang_up()
        known = list(self.metadata.nodes.values())
        for host, port in dict.fromkeys([*known, *map(_address, self.config.bootstrap_servers)]):
            try:
                self._control = self._open(host, port)
                return self._answered(self._control.call_all(requests, stopped=self.stopped))
            except ClientError as e:
                failures.append(e)
                self._hang_up()
            if self.stopped():
                break
        self.meter.reachable = all(isinstance(e, Interrupted) for e in failures)
        _raise_unreachable(self.config, failures)

    def _answered(self, answers: list[Any]) -> list[Any]:
        self.meter.reachable = True
        return answers

    def call_controller(self, request: Any) -> Any:
        """Call the controller, the only broker that could alter topics and ACLs before KRaft.

        In a KRaft cluster the metadata name any broker as controller, so another can take its place.
        """
        if self.metadata.controller in self.metadata.nodes:
            try:
                return self.call(self.metadata.controller, request)
            except ConnectionLost as e:
                log.info("cluster %s: calling another broker (%s)", self.config.alias, e)
        return self.call_any(request)

    def call(self, node: int, request: Any) -> Any:
        """Call one broker."""
        return self.call_all(node, [request])[0]

    def call_all(self, node: int, requests: Sequence[Any]) -> list[Any]:
        """Call one broker with several requests at once; responses in the order of the requests."""
        try:
            return self.connection(node).call_all(requests, stopped=self.stopped)
        except ClientError:
            self.disconnect(node)
            raise

    def connection(self, node: int) -> Connection:
        """The connection to a broker; opened when first needed, replaced when it may be half-open."""
        connection = self._connections.get(node)
        if connection is not None and not connection.is_trusted:
            log.info(
                "cluster %s: broker %d: reconnecting; no response since another connection timed out",
                self.config.alias,
                node,
            )
            self.disconnect(node)
            connection = None
        if connection is None:
            if node not in self.metadata.nodes:
                raise Unreachable(f"{self.config.alias}: broker {node} is not in the metadata")
            connection = self._connections[node] = self._open(*self.metadata.nodes[node])
        return connection

    def disconnect(self, node: int) -> None:
        connection = self._connections.pop(node, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        for node in list(self._connections):
            self.disconnect(node)
        self._hang_up()

    def _open(self, host: str, port: int) -> Connection:
        """Backs off after a TLS or login failure, so that accounts are not locked."""
        refusal = self._refusals.get((host, port))
        if refusal is not None and time.monotonic() < refusal.until:
            raise refusal.again()
        try:
            connection = Connection(
                host,
                port,
                client_id=self.client_id,
                timeout=self.timeout,
                stopped=self.stopped,
                access=self._access,
                meter=self.meter,
            )
        except SecurityFailed as e:
            self.meter.login_failures += 1
            self._access.reread()
            self._refusals.setdefault((host, port), _Refusal()).note(e)
            raise
        self._refusals.pop((host, port), None)
        self._count(connection)
        return connection

    def _count(self, connection: Connection) -> None:
        self.meter.connections += 1
        ends = connection.certificate_ends
        if ends is not None:
            self.meter.broker_certificates[connection.address] = ends
        self.meter.client_certificate_ends = self._access.certificate_ends

    def _hang_up(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None


def _address(server: str) -> tuple[str, int]:
    host, _, port = server.rpartition(":")
    return host.strip("[]"), int(port)


def _read_metadata(response: Any, *, epochs: bool) -> Metadata:
    leaders: dict[TopicPartition, int] = {}
    leader_epochs: dict[TopicPartition, int] = {}
    partitions: dict[str, int] = {}
    internal, missing = set(), set()
    ids: dict[str, UUID] = {}
    errors: dict[str, int] = {}
    for topic in response.topics:
        if topic.error_code:
            errors[topic.name] = topic.error_code
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                missing.add(topic.name)
            continue
        partitions[topic.name] = len(topic.partitions)
        if topic.is_internal:
            internal.add(topic.name)
        if (
            topic.topic_id is not None and topic.topic_id.int
        ):  # 0: created before its cluster had ids
            ids[topic.name] = topic.topic_id
        for partition in topic.partitions:
            if partition.leader_id >= 0:
                key = TopicPartition(topic.name, partition.partition_index)
                leaders[key] = partition.leader_id
                if epochs:
                    leader_epochs[key] = partition.leader_epoch
    return Metadata(
        nodes={broker.node_id: (broker.host, broker.port) for broker in response.brokers},
        controller=response.controller_id,
        leaders=leaders,
        leader_epochs=leader_epochs,
        partitions=partitions,
        internal=frozenset(internal),
        topic_ids=ids,
        missing=frozenset(missing),
        cluster_id=response.cluster_id,
        errors=errors,
    )


def _raise_unreachable(config: ClusterConfig, failures: list[ClientError]) -> NoReturn:
    """One error for all addresses. A wrong port or a refused login outranks addresses that do not answer."""
    if failures and all(isinstance(e, Interrupted) for e in failures):
        raise failures[-1]
    failures = [e for e in failures if not isinstance(e, Interrupted)]
    final = [e for e in failures if isinstance(e, NotKafka | UnsupportedBroker | SecurityFailed)]
    reasons = "; ".join(dict.fromkeys(str(e) for e in (final or failures)))
    message = f"cluster {config.alias!r}: no broker answers ({reasons})"
    if final and isinstance(final[0], SecurityFailed):
        message = reasons  # they name the cluster
    if final:
        raise type(final[0])(message) from final[0]
    raise Unreachable(message) from (failures[-1] if failures else None)
