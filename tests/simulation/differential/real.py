"""The real broker's side: many sequences in step, the requests of each round in one go."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from kafka.protocol.admin import DeleteTopicsRequest, DescribeTransactionsRequest

from heliograph.client.admin.topics import LATEST, NewTopic, available_offsets, create_topics
from heliograph.client.net.cluster import ClusterClient
from heliograph.embedded import Cluster
from heliograph.errors import ClientError
from heliograph.model import ClusterConfig, TopicPartition
from heliograph.wire import messages
from simulation.differential import operations as op
from simulation.differential.asking import Conversation, Outcome, converse
from simulation.differential.generate import Sequence as Generated
from simulation.differential.generate import name_of
from simulation.differential.side import Side

#: Old records stay; transactions time out soon; a killed broker knows what was deleted.
SETTINGS = {
    "log.retention.ms": "-1",
    "log.index.size.max.bytes": "65536",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "transaction.state.log.num.partitions": "2",
    "log.flush.start.offset.checkpoint.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
}
_CHECKPOINT_SECONDS = 1.5
_NODE = 1
_PATIENCE_SECONDS = 120.0
_PAUSE_SECONDS = 0.02
#: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
_NOT_LOADED = frozenset({14, 15, 16})


T = TypeVar("T")


class Disagreement(NamedTuple):
    seed: int
    step: int
    operation: op.Operation
    model: Outcome
    real: Outcome


class Result(NamedTuple):
    operations: Counter[str]
    errors: Counter[str]
    disagreements: list[Disagreement]


class RealBroker:
    """`may_restart`: no other test uses the broker."""

    def __init__(self, cluster: Cluster, *, may_restart: bool) -> None:
        self._cluster = cluster
        self._may_restart = may_restart
        self._client = self._connect()

    def close(self) -> None:
        self._client.close()

    def run(self, sequences: Sequence[Generated], now_ms: int, topic: str) -> Result:
        """Each on two partitions of a new topic; up to its first disagreement."""
        new = NewTopic(
            name=topic,
            partitions=op.PARTITIONS * len(sequences),
            replication_factor=1,
            configs={"max.message.bytes": str(op.MAX_MESSAGE_BYTES)},
        )
        if failed := create_topics(self._client, [new]):
            raise failed[topic]
        epochs = self._leader_epochs(topic, new.partitions, above={})
        replays = [
            _Replay(each, _side(each, topic, index, now_ms, epochs))
            for index, each in enumerate(sequences)
        ]
        self._await_coordinator(replays)
        self._in_step(replays, topic)
        self._client.call_controller(
            DeleteTopicsRequest(topic_names=[topic], timeout_ms=30_000, max_version=5)
        )
        return _sum(replays)

    def _in_step(self, replays: list[_Replay], topic: str) -> None:
        while active := [each for each in replays if not each.done]:
            asking = [each for each in active if not each.waits_for_restart]
            if not asking:
                self._restart(active, topic)
                continue
            requests = [request for each in asking for request in each.requests]
            answers = iter(self._client.call_all(_NODE, requests))
            for each in asking:
                each.answered([next(answers) for _ in each.requests])
            if all(each.polls for each in asking):
                time.sleep(_PAUSE_SECONDS)

    def _restart(self, replays: list[_Replay], topic: str) -> None:
        if not self._may_restart:
            raise ValueError("sequences with a restart need a broker of their own")
        restart = replays[0].operation
        assert isinstance(restart, op.Restart)
        before = dict(self._client.metadata.leader_epochs)
        self._client.close()
        if restart.clean:
            self._cluster.stop_node(_NODE)
        else:
            time.sleep(_CHECKPOINT_SECONDS)
            self._cluster.kill_node(_NODE)
        self._cluster.start_node(_NODE)
        self._client = self._connect()
        epochs = self._leader_epochs(topic, self._partitions(before, topic), above=before)
        self._await_coordinator(replays)
        for each in replays:
            each.restarted(epochs)

    @staticmethod
    def _partitions(known: dict[TopicPartition, int], topic: str) -> int:
        return sum(partition.topic == topic for partition in known)

    def _leader_epochs(
        self, topic: str, count: int, above: dict[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """When all partitions have a leader that answers, after a restart with a new epoch."""

        def led() -> dict[TopicPartition, int] | None:
            found = dict(self._client.refresh([topic]).leader_epochs)
            ready = len(found) == count and all(
                epoch > above.get(partition, -1) for partition, epoch in found.items()
            )
            if not ready or available_offsets(self._client, found, LATEST)[1]:
                return None
            return found

        return _eventually(led)

    def _await_coordinator(self, replays: Iterable[_Replay]) -> None:
        """It has read all transactions from its log."""
        ids = [each.side.transactional_id(slot) for each in replays for slot in op.TRANSACTIONAL]
        find = messages.FindCoordinatorRequest(key_type=1, coordinator_keys=ids, max_version=5)

        def loaded() -> bool | None:
            found, described = self._client.call_all(
                _NODE, [find, DescribeTransactionsRequest(transactional_ids=ids)]
            )
            answers = (*found.coordinators, *described.transaction_states)
            return None if {each.error_code for each in answers} & _NOT_LOADED else True

        _eventually(loaded)

    def _connect(self) -> ClusterClient:
        servers = tuple(self._cluster.bootstrap_servers.split(","))
        config = ClusterConfig(alias="real", bootstrap_servers=servers)
        client = ClusterClient(config, client_id="differential")
        client.refresh([])
        return client


class _Replay:
    """One sequence on the real broker."""

    def __init__(self, sequence: Generated, side: Side) -> None:
        self.side = side
        self.requests: list[Any] = []
        self.disagreement: Disagreement | None = None
        self.carried_out: list[tuple[op.Operation, Outcome]] = []
        self.polls = False
        self._sequence = sequence
        self._at = -1
        self._conversation: Conversation | None = None
        self._next()

    @property
    def done(self) -> bool:
        return self.disagreement is not None or self._at >= len(self._sequence.steps)

    @property
    def operation(self) -> op.Operation:
        return self._sequence.steps[self._at].operation

    @property
    def waits_for_restart(self) -> bool:
        return isinstance(self.operation, op.Restart)

    def answered(self, answers: list[Any]) -> None:
        assert self._conversation is not None
        name = self.requests[0].name
        try:
            self.requests = self._conversation.send(answers)
            self.polls = self.requests[0].name == name
        except StopIteration as end:
            self._compare(end.value)

    def restarted(self, epochs: dict[TopicPartition, int]) -> None:
        for partition, known in zip(self.side.partitions, self.side.epochs, strict=True):
            known.append(epochs[partition])
        self._compare(None)

    def _compare(self, outcome: Outcome) -> None:
        operation, expected = self._sequence.steps[self._at]
        self.carried_out.append((operation, outcome))
        if outcome != expected:
            self.disagreement = Disagreement(
                self._sequence.seed, self._at, operation, expected, outcome
            )
            return
        self._next()

    def _next(self) -> None:
        """To the next operation with a request, if there is one."""
        self.polls = False
        self._at += 1
        if self.done or self.waits_for_restart:
            return
        self._conversation = converse(self.operation, self.side)
        try:
            self.requests = next(self._conversation)
        except StopIteration as end:
            self._compare(end.value)


def _side(
    sequence: Generated, topic: str, index: int, now_ms: int, epochs: dict[TopicPartition, int]
) -> Side:
    first = index * op.PARTITIONS
    partitions = tuple(TopicPartition(topic, first + each) for each in range(op.PARTITIONS))
    name = f"{topic}-{name_of(sequence.seed)}"
    return Side(name, partitions, now_ms, sequence.stranger, [[epochs[p]] for p in partitions])


def _sum(replays: Iterable[_Replay]) -> Result:
    operations: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    found = []
    for replay in replays:
        for operation, outcome in replay.carried_out:
            kind = type(operation).__name__
            operations[kind] += 1
            errors.update(f"{kind} {code}" for code in _codes(operation, outcome))
        if replay.disagreement is not None:
            found.append(replay.disagreement)
    return Result(operations, errors, found)


def _codes(operation: op.Operation, outcome: Outcome) -> list[int]:
    """Error codes in an outcome."""
    if isinstance(operation, op.Produce):
        return [code for _, code, _ in outcome]
    if isinstance(operation, op.AddPartitions):
        return [code for _, code in outcome]
    if isinstance(operation, op.Fetch):
        return [outcome["error"]]
    if isinstance(operation, op.Bump | op.Restart | op.Observe):
        return []
    return [outcome[0] if isinstance(outcome, tuple) else outcome]


def _eventually(look: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        problem: ClientError | None = None
        try:
            if (found := look()) is not None:
                return found
        except ClientError as e:
            problem = e
        if time.monotonic() > deadline:
            raise TimeoutError(f"the broker is not ready after {_PATIENCE_SECONDS} s") from problem
        time.sleep(_PAUSE_SECONDS)
