"""The model's side: carries out operations at once."""

from __future__ import annotations

from typing import Any

from heliograph.model import TopicPartition
from simulation.differential import operations as op
from simulation.differential.asking import Outcome, converse
from simulation.differential.side import Side
from simulation.model.cluster import Cluster
from simulation.model.partition_log import PartitionLog
from simulation.model.requests import answer

_TOPIC = "t"
_NODE = 1
#: The broker's clock is ahead of all records, so that markers are newer than these.
_AHEAD_MS = 1_000


class ModelSide:
    def __init__(self, name: str, now_ms: int, stranger: int) -> None:
        self._now_ms = now_ms + _AHEAD_MS
        self.cluster = Cluster(lambda: self._now_ms)
        self.cluster.create_topic(
            _TOPIC, op.PARTITIONS, {"max.message.bytes": str(op.MAX_MESSAGE_BYTES)}
        )
        partitions = tuple(TopicPartition(_TOPIC, index) for index in range(op.PARTITIONS))
        self.side = Side(name, partitions, now_ms, stranger, [[0] for _ in partitions])

    @property
    def logs(self) -> list[PartitionLog]:
        return self.cluster.topics[_TOPIC].logs

    def carry_out(self, operation: op.Operation) -> Outcome:
        if isinstance(operation, op.Restart):
            self.cluster.restart(clean=operation.clean)
            for known, log in zip(self.side.epochs, self.logs, strict=True):
                known.append(log.leader_epoch)
            return None
        if isinstance(operation, op.TimeOut):
            self._now_ms += op.SHORT_TIMEOUT_MS + 1
            self.cluster.abort_timed_out()
        conversation = converse(operation, self.side)
        answers: list[Any] | None = None
        while True:
            try:
                requests = conversation.send(answers)  # type: ignore[arg-type]
            except StopIteration as end:
                return end.value
            answers = [answer(self.cluster, _NODE, request) for request in requests]
