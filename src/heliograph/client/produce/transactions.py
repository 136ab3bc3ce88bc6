"""Transactions of one transactional.id: requests to its coordinator.

    version 1    InitProducerId ─► AddPartitionsToTxn ─► Produce … ─► EndTxn ─► AddPartitionsToTxn …
    version 2    InitProducerId ─► Produce … ─► EndTxn, which answers with the next epoch ─► Produce …

Version 2 (KIP-890) is used where the cluster has finalized it. InitProducerId of another process under the
same transactional.id aborts our open transaction and fences us: from then on brokers refuse our epoch.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.response_checks import only
from heliograph.errors import BrokerError, ClientError, Fenced
from heliograph.model import ProducerIdentity, TopicPartition
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

_TRANSACTION_KEY = 1
#: KIP-699: before this version of FindCoordinator a request names one key only.
_BATCHED_VERSION = 4
_NO_PRODUCER = ProducerIdentity(-1, -1)
_FEATURE = "transaction.version"
_LIST_TRANSACTIONS_KEY = 66

_MOVED = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR})
#: Codes of AddPartitionsToTxn that concern one partition; every other one concerns the transaction.
_OF_A_PARTITION = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
    }
)
FENCING = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,  # the transactional.id has another producer id now
        ErrorCode.PRODUCER_FENCED,
    }
)


def fenced(transactional_id: str, error: BrokerError) -> Fenced:
    return Fenced(
        f"transactional.id {transactional_id}: fenced: another service has taken over, or the transaction "
        f"took longer than transaction.timeout.ms ({error})"
    )


class Coordinator:
    """Calls the coordinator of one transactional.id; for one thread. The cluster client should be its own: a
    request to end a transaction must not wait behind a produce request.

    Retriable errors are retried for `patience` seconds. Raises ClientError, or Fenced.
    """

    def __init__(
        self,
        cluster: ClusterClient,
        transactional_id: str,
        *,
        timeout_ms: int,
        patience: float = 30.0,
    ) -> None:
        self.transactional_id = transactional_id
        self.timeout_ms = timeout_ms
        self._cluster = cluster
        self._patience = patience
        self._node: int | None = None

    def version(self) -> int:
        """The transaction version that the cluster has finalized: 1 or 2."""
        try:
            features = self._cluster.connection(self._find()).features
        except ClientError:
            self._node = None
            raise
        return 2 if features.get(_FEATURE, 0) >= 2 else 1

    def init(self, current: ProducerIdentity | None = None) -> ProducerIdentity:
        """A new epoch; an open transaction is aborted. Without `current`, the present owner of the id is
        fenced; with it (KIP-360, Kafka 2.5), we are fenced if another process owns the id."""
        wanted = current or _NO_PRODUCER
        answer = self._ask(
            "InitProducerId",
            lambda: messages.InitProducerIdRequest(
                transactional_id=self.transactional_id,
                transaction_timeout_ms=self.timeout_ms,
                producer_id=wanted.producer_id,
                producer_epoch=wanted.epoch,
                max_version=5,  # 6 is marked unstable
            ),
        )
        return ProducerIdentity(answer.producer_id, answer.producer_epoch)

    def add(
        self, identity: ProducerIdentity, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, BrokerError]:
        """Add partitions to the transaction (version 1 only); returns those that failed."""
        failed: dict[TopicPartition, BrokerError] = {}
        left = set(partitions)
        while left:
            answers = self._add_once(identity, sorted(left))
            refused = {
                p: e for p, e in answers.items() if e.code != ErrorCode.OPERATION_NOT_ATTEMPTED
            }
            failed |= refused
            left = answers.keys() - refused.keys() if refused else set()
        return failed

    def end(self, identity: ProducerIdentity, *, commit: bool, version: int) -> ProducerIdentity:
        """Commit or abort; returns the identity for the next transaction. May be repeated until answered."""
        answer = self._ask(
            f"EndTxn ({'commit' if commit else 'abort'})",
            lambda: messages.EndTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                committed=commit,
                max_version=5 if version == 2 else 4,
            ),
        )
        if version == 2:
            return ProducerIdentity(answer.producer_id, answer.producer_epoch)
        return identity

    def _add_once(
        self, identity: ProducerIdentity, partitions: list[TopicPartition]
    ) -> dict[TopicPartition, BrokerError]:
        by_topic: dict[str, list[int]] = {}
        for topic, number in partitions:
            by_topic.setdefault(topic, []).append(number)
        entry = messages.AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
        answer = self._ask(
            "AddPartitionsToTxn",
            lambda: messages.AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=identity.producer_id,
                v3_and_below_producer_epoch=identity.epoch,
                v3_and_below_topics=[
                    entry(name=topic, partitions=numbers) for topic, numbers in by_topic.items()
                ],
                max_version=3,  # later versions are for brokers
            ),
        )
        return {
            TopicPartition(topic.name, each.partition_index): messages.broker_error(
                each.partition_error_code, f"target {topic.name}-{each.partition_index}"
            )
            for topic in answer.results_by_topic_v3_and_below
            for each in topic.results_by_partition
            if each.partition_error_code
        }

    # ── asking ───────────────────────────────────────────────────────────────────────────────

    def _ask(self, what: str, request: Callable[[], Any]) -> Any:
        subject = f"{self._cluster.config.alias}: {self.transactional_id}: {what}"
        backoff, deadline = Backoff(first=0.02, most=1.0), time.monotonic() + self._patience
        while True:
            try:
                answer = self._cluster.call(self._find(), request())
                self._check(subject, answer)
                return answer
            except ClientError as e:
                if not isinstance(e, BrokerError) or e.code in _MOVED:
                    self._node = None
                if not e.retriable or time.monotonic() > deadline or self._cluster.stopped():
                    raise
                log.debug("%s", e)
            time.sleep(backoff.next())

    def _check(self, subject: str, answer: Any) -> None:
        for code in _codes(answer):
            if code:
                error = messages.broker_error(code, subject)
                raise fenced(self.transactional_id, error) if code in FENCING else error

    def _find(self) -> int:
        if self._node is None:
            request = messages.FindCoordinatorRequest(
                key=self.transactional_id,
                key_type=_TRANSACTION_KEY,
                coordinator_keys=[self.transactional_id],
                max_version=5,
            )
            about = f"{self._cluster.config.alias}: coordinator of {self.transactional_id}"
            answer = self._cluster.call_any(request)
            if request.API_VERSION >= _BATCHED_VERSION:
                answer = only(answer.coordinators, about)
            if answer.error_code:
                raise messages.broker_error(answer.error_code, about, answer.error_message)
            if answer.node_id not in self._cluster.metadata.nodes:
                self._cluster.refresh([])
            self._node = answer.node_id
        return self._node


def _codes(answer: Any) -> list[int]:
    """The error codes that concern the whole request."""
    topics = getattr(answer, "results_by_topic_v3_and_below", None)
    if topics is None:
        return [answer.error_code]
    codes = (each.partition_error_code for topic in topics for each in topic.results_by_partition)
    return [code for code in codes if code not in _OF_A_PARTITION]


class Transaction:
    """The current transaction of one producer: its partitions, and the identity it writes under.

    `identity` is new: nothing was written under it. A transaction begins with its first request:
    AddPartitionsToTxn in version 1, Produce in version 2. Before that there is nothing to end: the
    coordinator answers a commit with INVALID_TXN_STATE. After that the request may have taken effect,
    answered or not.
    """

    def __init__(self, coordinator: Coordinator, identity: ProducerIdentity) -> None:
        self.identity = identity
        self.version = 0  # before `start`
        #: Those that get a marker at its end. Version 1: all that were added; version 2: all that were sent
        #: to.
        self.partitions: set[TopicPartition] = set()
        self.opened: float | None = None  # monotonic time of its first request; None: none was sent
        self._commit_asked = False
        self._coordinator = coordinator

    @property
    def transactional_id(self) -> str:
        return self._coordinator.transactional_id

    @property
    def timeout_seconds(self) -> float:
        return self._coordinator.timeout_ms / 1000

    def start(self) -> None:
        """Find out the version to use. Raises ClientError."""
        self.version = self._coordinator.version()

    def join(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, BrokerError]:
        """Call it before anything is written to the partitions; returns those that cannot be added."""
        if self.version != 1:
            return {}  # the first produce request adds them
        new = set(partitions) - self.partitions
        if not new:
            return {}
        self._open()
        failed = self._coordinator.add(self.identity, new)
        self.partitions |= new - failed.keys()
        return failed

    def sending(self, partitions: Iterable[TopicPartition]) -> None:
        """Call it before each produce request is sent."""
        self._open()
        self.partitions.update(partitions)

    def commit(self) -> None:
        """Call it once all that was sent is acknowledged. If it raises, the outcome is open: call it
        again."""
        if self.partitions:
            self._commit_asked = True
            self.identity = self._end(commit=True)
        self._close()

    def abort(self) -> None:
        """As `commit`. Afterwards all that was written is aborted, and the epoch is a new one, so that
        brokers refuse what is still in flight. Without a request sent, the epoch stays."""
        if self.opened is None:
            return
        try:
            self.identity = self._end(commit=False)
            known = True
        except BrokerError as e:
            # Unless we asked for a commit, this means that nothing we sent has arrived. (With version 2
            # Kafka's coordinator aborts unknown transactions, too: TransactionCoordinator.endTransaction.)
            if e.code != ErrorCode.INVALID_TXN_STATE or self._commit_asked:
                raise
            known = False
        if self.version == 1 or not known:
            # EndTxn of version 1 keeps the epoch, and refused batches have left holes in the sequence
            # (KIP-360).
            self.identity = self._coordinator.init(self.identity)
        self._close()

    def _open(self) -> None:
        if self.opened is None:
            self.opened = time.monotonic()

    def _end(self, *, commit: bool) -> ProducerIdentity:
        return self._coordinator.end(self.identity, commit=commit, version=self.version)

    def _close(self) -> None:
        self.partitions = set()
        self.opened = None
        self._commit_asked = False


def transactional_ids(cluster: ClusterClient, pattern: re.Pattern[str]) -> set[str]:
    """Transactional ids that match, of those that brokers list and we may describe (KIP-664, Kafka 3.0)."""
    found: set[str] = set()
    for node in cluster.refresh([]).nodes:
        if _LIST_TRANSACTIONS_KEY not in cluster.connection(node).versions:
            continue
        request = messages.ListTransactionsRequest(
            state_filters=[], producer_id_filters=[], max_version=0
        )
        answer = cluster.call(node, request)
        if answer.error_code:
            raise messages.broker_error(
                answer.error_code, f"{cluster.config.alias}: transactional ids of broker {node}"
            )
        found |= {
            state.transactional_id
            for state in answer.transaction_states
            if pattern.fullmatch(state.transactional_id)
        }
    return found
