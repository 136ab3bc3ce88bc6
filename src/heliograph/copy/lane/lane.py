"""The parts of a copy loop that a lane has in place of the raw copy's.

fetched ──► LaneForward ─► Outlet ──► producer ──► LaneAtLeastOnce, or LaneExactlyOnce ──► LaneTarget
            chain, spans   open or                                                         landed
                           closed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from heliograph.client.produce.transactions import Transaction
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.delivery import Delivery, LoopParts
from heliograph.copy.lane.at_least_once import LaneAtLeastOnce
from heliograph.copy.lane.chain import Chain, TransformChain
from heliograph.copy.lane.exactly_once import LaneExactlyOnce
from heliograph.copy.lane.forwarding import LaneForward
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.preparing import Rules
from heliograph.copy.lane.target_events import LaneTarget
from heliograph.copy.subscription import SubscriptionState
from heliograph.model import Timestamps, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Of one copy loop."""

    flow: FlowConfig
    chain: Chain
    copies: Sequence[LanePartition]
    outlet: Outlet
    subscription: SubscriptionState
    target: LaneTarget

    def delivery(self, parts: LoopParts, transaction: Transaction | None) -> Delivery:
        if transaction is None:
            return LaneAtLeastOnce(parts, self.outlet, self.target)
        return LaneExactlyOnce(parts, transaction, self.copies, self.outlet, self.target)

    def forward(self) -> LaneForward:
        return LaneForward(
            self.flow.name,
            rules=self._rules(),
            outlet=self.outlet,
            subscription=self.subscription,
        )

    def _rules(self) -> Callable[[LanePartition], Rules]:
        """Heartbeats are MirrorMaker's own records: they measure the flow, and pass as they are."""
        settings, quarantine = self.flow.lane, self.flow.quarantine
        assert settings is not None
        rules = Rules(
            flow=self.flow.name,
            chain=self.chain,
            on_error=settings.on_error,
            quarantine=None if quarantine is None else TopicPartition(quarantine.name, 0),
            quarantines_oversize=settings.quarantines_oversize,
            append_time=self.flow.timestamps is Timestamps.READER,
            most=self.outlet.most,
        )
        unchanged = replace(rules, chain=TransformChain(()))
        policy = self.flow.policy

        @cache
        def of_topic(topic: str) -> Rules:
            return unchanged if policy.is_heartbeats_topic(topic) else rules

        return lambda copy: of_topic(copy.source.topic)
