"""Carries out the commands of a copy loop's partitions: fetch, recover, check, quarantine or wait."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from heliograph.client.admin.topics import topic_config
from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.copy.bookkeeping.offset_syncs import Syncs
from heliograph.copy.bookkeeping.producer_snapshots import ProducerSnapshots
from heliograph.copy.partition import Partition
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.state.phases import Command
from heliograph.errors import ClientError
from heliograph.model import PartitionState

log = logging.getLogger(__name__)

_QUIET_SECONDS = 1.0


class SubscriptionState:
    """Part of one copy loop, for its thread. Law: only partitions in `Fetcher.positions` are fetched, and
    only this class puts them there."""

    def __init__(
        self,
        flow: str,
        copies: Iterable[Partition],
        *,
        target: ClusterClient,
        fetcher: Fetcher,
        producer: Producer,
        quarantine: Quarantine,
        syncs: Syncs,
        snapshots: ProducerSnapshots,
    ) -> None:
        self.awaiting_recovery = set(copies)
        self.awaiting_check: set[Partition] = set()
        self._flow = flow
        self._target = target
        self._fetcher = fetcher
        self._producer = producer
        self._quarantine = quarantine
        self._syncs = syncs
        self._snapshots = snapshots
        self._quiet_until = 0.0

    def obey(self, copy: Partition) -> None:
        """Carry out the partition's command; called after each of its events."""
        self._syncs.moved = self._snapshots.moved = True
        command = copy.command
        if command is Command.FETCH:
            self._fetcher.positions[copy.source] = copy.position
            if not (self.awaiting_recovery or self.awaiting_check):
                return  # as with nearly every batch
        else:
            self._fetcher.positions.pop(copy.source, None)
        _keep(self.awaiting_recovery, copy, command is Command.RECOVER)
        _keep(self.awaiting_check, copy, command is Command.CHECK)
        if command is Command.QUARANTINE:
            self._quarantine.write(copy, self._producer)

    def to_recover(self, now: float) -> list[Partition]:
        return [copy for copy in self.awaiting_recovery if copy.may_recover(now)]

    def recovered(self, copies: Iterable[Partition]) -> None:
        for copy in copies:
            self._learn_limit_again(copy)
            copy.recovered()
            self.obey(copy)

    def retry(self, copy: Partition, now: float) -> None:
        """Fetch again from the acknowledged position, if the pause is over."""
        if copy.may_retry(now):
            self._learn_limit_again(copy)
            copy.retried()
            self.obey(copy)

    def stall(self, copy: Partition, error: str) -> None:
        """The remote partition cannot be written to at the moment."""
        self._warn(copy, error)
        copy.stall(error)
        self.obey(copy)

    def mark_retrying(self, copy: Partition, error: str) -> None:
        self._warn(copy, error)
        copy.retrying(error)

    def _warn(self, copy: Partition, error: str) -> None:
        """At most one line per second: one lost broker may affect a thousand partitions."""
        now = time.monotonic()
        if copy.error != error and now >= self._quiet_until:
            self._quiet_until = now + _QUIET_SECONDS
            log.warning("%s; retrying (more partitions may be affected: heliograph status)", error)

    def fail(self, copy: Partition, error: str) -> None:
        if copy.error != error:
            log.error("%s", error)
        copy.failed(error, time.monotonic())
        self.obey(copy)

    def learn_max_bytes(self, copy: Partition) -> bool:
        """Whether the target's limit is new, so that batches can be split to fit it."""
        try:
            value = topic_config(self._target, copy.target.topic, "max.message.bytes")
        except ClientError as e:
            log.warning("flow %s: %s", self._flow, e)
            return False
        return copy.learn_max_bytes(int(value) if value else None)

    def _learn_limit_again(self, copy: Partition) -> None:
        """The user may have raised the limit, which is what a failed partition waits for."""
        if copy.state is PartitionState.FAILED and copy.max_bytes is not None:
            self.learn_max_bytes(copy)


def _keep(waiting: set[Partition], copy: Partition, wanted: bool) -> None:
    if wanted:
        waiting.add(copy)
    elif waiting:
        waiting.discard(copy)
