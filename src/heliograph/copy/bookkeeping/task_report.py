"""Reports what a copy loop measures of itself, besides the receipts of its partitions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.copy.bookkeeping.offset_store import OffsetStore
from heliograph.copy.buffer_pool import BufferPool
from heliograph.copy.partition import Partition
from heliograph.copy.throttle import Throttle
from heliograph.measured import ClientReport, TaskReport, Times


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Parts of one copy loop. Clients outlive it, so theirs is what they had counted when it began."""

    flow: str
    copies: Collection[Partition]
    fetcher: Fetcher
    producer: Producer
    buffers: BufferPool
    throttle: Throttle
    offsets: OffsetStore
    began: tuple[ClientReport, ClientReport]

    def report(self) -> TaskReport:
        """For the copy loop's thread."""
        source, target = clients(self.fetcher.cluster, self.producer.cluster)
        return TaskReport(
            flow=self.flow,
            throttled_seconds=self.throttle.seconds,
            fetches=len(self.fetcher.connections()),
            produces=self.producer.requests_in_flight,
            buffered_bytes=self.producer.buffered_bytes,
            buffer_bytes=self.buffers.limit,
            active_records=sum(max(copy.position - copy.acked, 0) for copy in self.copies),
            offset_commits=self.offsets.times.read().reported(),
            source=_since(self.began[0], source),
            target=_since(self.began[1], target),
        )


def clients(source: ClusterClient, target: ClusterClient) -> tuple[ClientReport, ClientReport]:
    return source.meter.report(source.config.alias), target.meter.report(target.config.alias)


def _since(before: ClientReport, now: ClientReport) -> ClientReport:
    requests = Times(
        now.requests.count - before.requests.count,
        now.requests.total - before.requests.total,
        tuple(
            after - earlier
            for after, earlier in zip(now.requests.buckets, before.requests.buckets, strict=True)
        ),
        now.requests.last,
    )
    return replace(
        now,
        connections=now.connections - before.connections,
        login_failures=now.login_failures - before.login_failures,
        received_bytes=now.received_bytes - before.received_bytes,
        sent_bytes=now.sent_bytes - before.sent_bytes,
        requests=requests,
    )
