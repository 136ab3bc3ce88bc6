"""One cluster as an administrator sees it: topics and log ends.

The proofs talk to brokers with confluent-kafka only: what measures shares no code with what is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from harness.errors import HarnessError
from heliograph.embedded import Cluster, start_all, stop_all

#: librdkafka logs to stderr what is expected here, such as connections that brokers close.
QUIET = {"log_level": 2}
TIMEOUT_SECONDS = 60.0

# A new topic has metadata before it has leaders.
_NOT_YET = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
)
# A topic that was deleted and created again: the client remembers the leader epoch of the first one.
_OUTDATED = (KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH)
_RETRY_SECONDS = 0.2


@contextmanager
def running_clusters(*clusters: Cluster) -> Iterator[None]:
    """Starts the clusters together and stops them when the block ends."""
    start_all(clusters)
    try:
        yield
    finally:
        stop_all(clusters)


class ClusterSide:
    """`bootstrap` is called when the first client connects: brokers that have not started have no ports."""

    def __init__(
        self, bootstrap: Callable[[], str], settings: Mapping[str, str] | None = None
    ) -> None:
        """`settings` of the client, such as its login."""
        self._bootstrap = bootstrap
        self._settings = dict(settings or {})
        self._admin: AdminClient | None = None

    @property
    def admin(self) -> AdminClient:
        if self._admin is None:
            servers = {"bootstrap.servers": self._bootstrap()}
            self._admin = AdminClient({**servers, **QUIET, **self._settings})
        return self._admin

    def forget_admin(self) -> None:
        """Before brokers stop: librdkafka would log every lost connection."""
        self._admin = None

    def create_topics(self, topics: Iterable[NewTopic]) -> None:
        wanted = list(topics)
        if wanted:
            for future in self.admin.create_topics(wanted).values():
                future.result(TIMEOUT_SECONDS)

    def partitions(self, topic: str, timeout: float = TIMEOUT_SECONDS) -> int:
        """0 for a topic that does not exist."""
        found = self.admin.list_topics(topic, timeout=timeout).topics.get(topic)
        return 0 if found is None or found.error is not None else len(found.partitions)

    def delete_all_but(self, keep: Iterable[str]) -> None:
        """Deletes every topic that is neither in `keep` nor internal to the brokers."""
        kept = set(keep)
        topics = self.admin.list_topics(timeout=TIMEOUT_SECONDS).topics
        doomed = [name for name in topics if name not in kept and not name.startswith("__")]
        if doomed:
            for future in self.admin.delete_topics(doomed).values():
                future.result(TIMEOUT_SECONDS)


class LogEnds:
    """The log end offsets of one topic, listed in one request and added up.

    `committed`: only what readers of committed records see; the markers between the records count.
    """

    def __init__(self, side: ClusterSide, topic: str, *, committed: bool = False) -> None:
        self._side = side
        self._topic = topic
        self._isolation = (
            IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        )
        self._partitions: list[TopicPartition] = []

    def total(self) -> int:
        """The number of records of a topic from which none was deleted. 0 before the topic exists."""
        if not self._partitions:
            count = self._side.partitions(self._topic)
            self._partitions = [TopicPartition(self._topic, number) for number in range(count)]
        return self._sum(OffsetSpec.latest()) if self._partitions else 0

    def _sum(self, spec: OffsetSpec) -> int:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            futures = self._side.admin.list_offsets(
                dict.fromkeys(self._partitions, spec), isolation_level=self._isolation
            )
            try:
                return sum(future.result(TIMEOUT_SECONDS).offset for future in futures.values())
            except KafkaException as e:
                code = e.args[0].code()
                if code in _NOT_YET:
                    return 0
                if code not in _OUTDATED or time.monotonic() > deadline:
                    raise HarnessError(f"{self._topic}: offsets cannot be listed: {e}") from e
            self._side.forget_admin()
            time.sleep(_RETRY_SECONDS)
