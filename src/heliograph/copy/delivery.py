"""How records come to count as mirrored: what both ways promise to the copy loop, and what it gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.bookkeeping.offset_store import OffsetStore
from heliograph.copy.bookkeeping.offset_syncs import Syncs
from heliograph.copy.bookkeeping.producer_snapshots import ProducerSnapshots
from heliograph.copy.cluster_retry import ClusterRetry
from heliograph.copy.partition import Partition
from heliograph.copy.producer_recovery import ProducerRecovery
from heliograph.copy.producers import Producers
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.state.remote_log import Foreign
from heliograph.copy.subscription import SubscriptionState
from heliograph.errors import BrokerError
from heliograph.model import TopicPartition

#: How long the end of an epoch waits for what stands beside the offsets: syncs, snapshots, the offset map.
SIDE_SECONDS = 1.5
MESSAGE_TOO_LARGE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """Of one copy loop. `copies` are by target partition. `mirrored(partition, batch, base_offset)` says that
    a batch counts from now on; `require_leases` raises LeaseLapsed once others may copy the same."""

    flow: FlowConfig
    copies: Mapping[TopicPartition, Partition]
    target: ClusterClient
    probe_client: ClusterClient
    producers: Producers
    offsets: OffsetStore
    state: BackgroundWriter
    syncs: Syncs
    snapshots: ProducerSnapshots
    recovery: ProducerRecovery
    subscription: SubscriptionState
    quarantine: Quarantine
    reach: ClusterRetry
    mirrored: Callable[[TopicPartition, ProducerBatch, int], None]
    require_leases: Callable[[], None]

    def flush_delay(self) -> float:
        """Until offsets are first stored: what is stored of a topic that was created again must not outlive
        its first lease."""
        outdated = any(copy.offset.position is None for copy in self.copies.values())
        return 0.0 if outdated else self.flow.offset_flush_interval_ms / 1000


class Delivery(Protocol):
    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        """Those of which it is known now how much is on the target. Raises ClientError."""

    def send(self) -> None:
        """As far as it goes without waiting."""

    def wait_seconds(self, now: float, most: float) -> float:
        """How long nothing has to be done if no answer comes."""

    def acknowledged(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> None: ...

    def refused(self, partition: TopicPartition, error: BrokerError) -> None: ...

    def foreign(self, copy: Partition, foreign: Foreign) -> None:
        """Something stands between two batches of ours."""

    def losing(self, copy: Partition) -> None:
        """The target has lost records of this partition; they are about to be copied again."""

    def tick(self, now: float) -> None:
        """A few times a second: store offsets, and what else is due."""

    def mark(self) -> None:
        """What is acknowledged now is to be stored, as soon as all that explains it is."""

    def finish(self) -> None:
        """The epoch ends: see through what is under way."""
