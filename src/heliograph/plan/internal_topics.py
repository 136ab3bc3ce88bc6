"""Lists the internal topics that a flow needs, and their clusters."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.config.mirror_config import Checkpoints, FlowConfig, Heartbeats, InternalTopic
from heliograph.mm2.state_records import state_topic
from heliograph.model import SyncsLocation

#: Snapshots are written every second and read at every start: small segments are compacted soon.
_QUICK_TO_READ = (("segment.bytes", str(4 << 20)), ("min.cleanable.dirty.ratio", "0.1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTopic:
    """`option` is the setting for its replication factor."""

    topic: InternalTopic
    alias: str
    option: str


def internal_topics(flow: FlowConfig) -> list[PlacedTopic]:
    """Connect's topics, Heliograph's state, MM2's offset syncs and checkpoints, the quarantine."""
    topics = [offsets_of(flow), state_of(flow)]
    for topic, option in ((flow.config_topic, "config"), (flow.status_topic, "status")):
        if topic is not None:
            topics.append(_placed(topic, flow.target, f"{option}.storage"))
    syncs = flow.offset_syncs
    if syncs is not None:
        alias = flow.source if syncs.location is SyncsLocation.SOURCE else flow.target
        topics.append(_placed(syncs.topic, alias, "offset-syncs.topic"))
    if flow.checkpoints is not None:
        topics.append(checkpoints_of(flow, flow.checkpoints))
    if flow.quarantine is not None:
        topics.append(_placed(flow.quarantine, flow.target, "quarantine.topic"))
    return topics


def offsets_of(flow: FlowConfig) -> PlacedTopic:
    """Connect's offsets topic, by which a flow resumes."""
    return _placed(flow.offsets_topic, flow.offsets_alias, "offset.storage")


def checkpoints_of(flow: FlowConfig, checkpoints: Checkpoints) -> PlacedTopic:
    return _placed(checkpoints.topic, flow.target, "checkpoints.topic")


def state_of(flow: FlowConfig) -> PlacedTopic:
    """Heliograph's state topic; replicated like the offsets topic."""
    topic = InternalTopic(
        name=state_topic(flow.source),
        partitions=1,
        replication_factor=flow.offsets_topic.replication_factor,
        configs=_QUICK_TO_READ,
    )
    return _placed(topic, flow.target, "offset.storage")


def heartbeat_topics(pair: Heartbeats) -> list[PlacedTopic]:
    return [
        _placed(pair.topic, pair.target, "heartbeats.topic"),
        _placed(pair.offsets_topic, pair.offsets_alias, "offset.storage"),
    ]


def worker_topics(pair: Heartbeats) -> list[PlacedTopic]:
    """The other topics of the worker that MM2 has for a pair without a flow: guides list them, and a Java MM2
    that takes over uses them. Heliograph does not."""
    named = ((pair.config_topic, "config"), (pair.status_topic, "status"))
    return [_placed(topic, pair.target, f"{kind}.storage") for topic, kind in named if topic]


def _placed(topic: InternalTopic, alias: str, option: str) -> PlacedTopic:
    return PlacedTopic(topic=topic, alias=alias, option=f"{option}.replication.factor")
