"""What simulated brokers answer to everything but Produce: metadata, fetches, offsets, epochs, settings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from heliograph.client.admin.topics import EARLIEST
from heliograph.client.net.cluster import Metadata
from heliograph.model import TopicPartition
from simulation.frames import Ends, read_fetch, write_fetched
from simulation.source_log import Fetched, SourceLog
from simulation.target_log import TargetLog
from simulation.transactional_target import COORDINATED, TransactionalWorld
from simulation.world import NOT_LEADER, SOURCE, TARGET, World

NODES = (1, 2)
_SOURCE_NODE = 1
_FENCED_LEADER_EPOCH = 74


class Brokers:
    """Of one side, `source` or `target`."""

    def __init__(self, world: World, side: str) -> None:
        self._world = world
        self._side = side

    @property
    def transaction_version(self) -> int:
        return self._world.version if isinstance(self._world, TransactionalWorld) else 0

    def fetch(self, node: int, body: bytes) -> bytes:
        committed, wanted = read_fetch(body)
        return write_fetched(
            (
                (partition, *self._fetch_source(epoch, offset, committed))
                if self._side == "source"
                else (partition, *self._fetch_target(node, partition, offset))
            )
            for partition, epoch, offset in wanted
        )

    def _fetch_source(self, epoch: int, offset: int, committed: bool) -> tuple[Fetched, Ends]:
        source = self._world.source
        if 0 <= epoch < source.epoch:
            found = Fetched(_FENCED_LEADER_EPOCH)
        elif self._world.chance(1 / 4):
            found = Fetched(NOT_LEADER)
        else:
            most = self._world.rng.choice((1, 400, 3000))
            found = source.fetch(offset, most, committed=committed)
        end = -1 if found.error else source.end
        return found, Ends(end, -1 if found.error else source.last_stable, source.start)

    def _fetch_target(
        self, node: int, partition: TopicPartition, offset: int
    ) -> tuple[Fetched, Ends]:
        log = self._world.logs[partition]
        found = log.fetch(offset, 3000) if node == self._world.leader else Fetched(NOT_LEADER)
        return found, Ends(log.end, log.end, log.start)

    def metadata(self) -> Metadata:
        leader, epoch, partitions = _SOURCE_NODE, self._world.source.epoch, [SOURCE]
        if self._side == "target":
            leader, epoch = self._world.leader, self._world.leader_epoch
            partitions = [TARGET, self._world.offsets]
            partitions += [self._world.quarantine] if self._world.quarantine is not None else []
        return Metadata(
            nodes={node: ("simulated", node) for node in NODES},
            controller=1,
            leaders=dict.fromkeys(partitions, leader),
            leader_epochs=dict.fromkeys(partitions, epoch),
            partitions={partition.topic: 1 for partition in partitions},
        )

    def answer(self, node: int, request: Any) -> Any:
        """With the fields of the real response that are read."""
        if isinstance(self._world, TransactionalWorld) and request.name in COORDINATED:
            return self._world.answer(request)
        if request.name == "InitProducerIdRequest":
            self._world.producer_ids += 1
            return SimpleNamespace(
                error_code=0, producer_id=self._world.producer_ids, producer_epoch=0
            )
        if request.name == "DescribeConfigsRequest":
            limit = SimpleNamespace(name="max.message.bytes", value=str(self._world.max_bytes))
            return SimpleNamespace(results=[SimpleNamespace(error_code=0, configs=[limit])])
        if request.name == "ListOffsetsRequest":
            return self._list_offsets(node, request)
        assert request.name == "OffsetForLeaderEpochRequest", request.name
        return self._epoch_ends(request)

    def _list_offsets(self, node: int, request: Any) -> Any:
        (topic,) = request.topics
        (asked,) = topic.partitions
        partition = TopicPartition(topic.name, asked.partition_index)
        log: SourceLog | TargetLog = (
            self._world.source if self._side == "source" else self._world.logs[partition]
        )
        end = log.end
        if request.isolation_level:
            end = log.last_stable
        led = node == (_SOURCE_NODE if self._side == "source" else self._world.leader)
        answer = SimpleNamespace(
            partition_index=partition.partition,
            error_code=0 if led else NOT_LEADER,
            offset=log.start if asked.timestamp == EARLIEST else end,
        )
        return SimpleNamespace(topics=[SimpleNamespace(name=topic.name, partitions=[answer])])

    def _epoch_ends(self, request: Any) -> Any:
        (topic,) = request.topics
        (asked,) = topic.partitions
        fenced = 0 <= asked.current_leader_epoch < self._world.source.epoch
        epoch, end = self._world.source.epoch_end(asked.leader_epoch)
        answer = SimpleNamespace(
            partition=asked.partition,
            error_code=_FENCED_LEADER_EPOCH if fenced else 0,
            leader_epoch=epoch,
            end_offset=end,
        )
        return SimpleNamespace(topics=[SimpleNamespace(topic=topic.topic, partitions=[answer])])
