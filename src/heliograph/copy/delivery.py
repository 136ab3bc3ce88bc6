"""The interface of the two delivery modes, at least once and exactly once, and the parts they work with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from heliograph.client.fetch.own_batches import OwnEnd
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

#: How long the end of an epoch waits until offset syncs, snapshots and the offset map are written.
SIDE_SECONDS = 1.5
MESSAGE_TOO_LARGE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """Of one copy loop. `copies` are by target partition. `mirrored(partition, batch, base_offset)` is called
    for each batch that counts as mirrored, `lost(copy, left)` if the target has lost all records from the end
    of `left` on; `require_leases` raises LeaseLapsed once other tasks may copy the
    same partitions."""

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
    lost: Callable[[Partition, OwnEnd], None]
    require_leases: Callable[[], None]

    def flush_delay(self) -> float:
        """Seconds until offsets are first stored. 0 if a topic was created again: the offset stored for the
        old topic must be replaced during the first lease."""
        outdated = any(copy.offset.position is None for copy in self.copies.values())
        return 0.0 if outdated else self.flow.offset_flush_interval_ms / 1000


class Delivery(Protocol):
    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        """Returns those of which it is known now how much is on the target. Raises ClientError."""

    def send(self) -> None:
        """Send what can be sent without waiting."""

    def wait_seconds(self, now: float, most: float) -> float:
        """How long the loop may wait for responses, at most `most`."""

    def acknowledged(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> None: ...

    def refused(self, partition: TopicPartition, error: BrokerError) -> None: ...

    def foreign(self, copy: Partition, foreign: Foreign) -> None:
        """There are offsets between two batches of ours."""

    def tick(self, now: float) -> None:
        """Called a few times a second: store offsets and other bookkeeping that is due."""

    def mark(self) -> None:
        """Store the positions acknowledged now, as soon as their snapshots and offset map are written."""

    def finish(self) -> None:
        """The epoch ends: wait for what is in flight, and store offsets."""
