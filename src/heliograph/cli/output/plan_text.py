"""Formats a plan as lines and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from heliograph.cli.output.tables import Block, Table, by_reason, limited
from heliograph.config.formats.format import Form
from heliograph.counted import counted
from heliograph.inspection.mirror_plan import (
    ConfigDifference,
    FlowPlan,
    GroupsPlan,
    HeartbeatsPlan,
    InternalTopicPlan,
    MirrorPlan,
)
from heliograph.plan.replication_factors import (
    connect_block,
    properties_block,
    strimzi_block,
)
from heliograph.plan.topics import CreateTopic

_ROWS = 20
_NAMES = 5
_REMEDY = "--all shows all"


_BLOCKS = {
    Form.PROPERTIES: properties_block,
    Form.CONNECT: connect_block,
    Form.STRIMZI: strimzi_block,
}


def plan_blocks(plan: MirrorPlan, *, everything: bool, form: Form = Form.PROPERTIES) -> list[Block]:
    """`form`: of the user's file, for lines to paste into it."""
    words = _Words(everything)
    blocks: list[Block] = []
    for alias, reason in plan.unreachable.items():
        blocks.append(f"NOT REACHED: {alias}: {reason}")
    for flow in plan.flows:
        blocks += [*words.flow(flow), ""]
    if plan.heartbeats:
        blocks += [*words.heartbeats(plan.heartbeats), ""]
    if plan.factors:
        lines = _BLOCKS[form](plan.factors)
        blocks += ["replication factors to paste", *(f"  {line}" for line in lines), ""]
    if plan.warnings:
        blocks += ["settings to check", *(f"  {warning}" for warning in plan.warnings), ""]
    return [*blocks, "Nothing was changed."]


class _Words:
    def __init__(self, everything: bool) -> None:
        self._most = None if everything else _ROWS
        self._names = None if everything else _NAMES

    def flow(self, flow: FlowPlan) -> Iterator[Block]:
        yield f"flow {flow.name}: {flow.summary}"
        yield from self._problems(flow)
        yield from self._topics(flow)
        yield from self._changes(flow)
        yield from self._internal(flow.internal_topics)
        yield from self._groups(flow.groups)
        yield from (f"  note: {note}" for note in flow.notes)
        if flow.off:
            yield f"  switched off: {'; '.join(flow.off)}"

    def heartbeats(self, pairs: Iterable[HeartbeatsPlan]) -> Iterator[Block]:
        yield "heartbeats"
        for pair in pairs:
            yield f"  {pair.source}->{pair.target} every {pair.interval_seconds} s"
            yield from (f"    NOT CHECKED: {why}" for why in pair.unknown.values())
            yield from (f"    PROBLEM: {sentence}" for sentence in pair.problems.values())
        missing = {
            (t.cluster, t.topic): t for p in pairs for t in p.internal_topics if t.found is None
        }
        yield from self._internal(missing.values())

    def _problems(self, flow: FlowPlan) -> Iterator[Block]:
        for why, parts in gathered(flow.unknown.items()):
            yield f"  NOT CHECKED: {', '.join(parts)}: {why}"
        for sentence, _ in gathered(flow.problems.items()):
            yield f"  PROBLEM: {sentence}"

    def _topics(self, flow: FlowPlan) -> Iterator[Block]:
        partitions = sum(topic.partitions for topic in flow.topics)
        if flow.topics:
            yield self._table(
                f"mirrored: {counted(len(flow.topics), 'topic')}, {counted(partitions, 'partition')}",
                ("topic", f"on {flow.target}", "partitions"),
                ((t.topic, t.remote_topic, str(t.partitions)) for t in flow.topics),
            )
        if flow.not_mirrored:
            yield self._table(
                f"not mirrored: {counted(len(flow.not_mirrored), 'topic')}",
                ("topics", "why", "which"),
                by_reason(flow.not_mirrored, names=self._names),
            )

    def _changes(self, flow: FlowPlan) -> Iterator[Block]:
        if flow.create:
            yield self._table(
                f"to create on {flow.target}",
                ("topic", "partitions", "replicas", "configs"),
                map(_creation, flow.create),
            )
        if flow.grow:
            yield self._table(
                f"partitions to add on {flow.target}",
                ("topic", "now", "then"),
                ((a.topic, str(a.partitions_now), str(a.partitions)) for a in flow.grow),
            )
        if flow.configs:
            yield self._table(
                f"topic configurations to change on {flow.target}",
                ("topic", "setting", "now", "then"),
                map(_config, flow.configs),
            )
        if flow.acls:
            yield self._table(
                f"ACLs to create on {flow.target}",
                ("topic", "principal", "host", "operation", "permission"),
                ((a.topic, a.principal, a.host, a.operation, a.permission) for a in flow.acls),
            )

    def _internal(self, topics: Iterable[InternalTopicPlan]) -> Iterator[Block]:
        everyone = list(topics)
        present = [each for each in everyone if each.found is not None]
        missing = [each for each in everyone if each.found is None]
        if missing:
            yield self._table(
                "internal topics to create",
                ("cluster", "topic", "partitions", "replicas"),
                (
                    (t.cluster, t.topic, str(t.partitions), _replicas(t.replication_factor))
                    for t in missing
                ),
            )
        if present:
            yield f"  internal topics present: {', '.join(each.topic for each in present)}"

    def _groups(self, groups: GroupsPlan) -> Iterator[Block]:
        if groups.followed:
            yield self._table(
                f"groups followed: {len(groups.followed):,}; "
                f"{len(groups.checkpoints):,} checkpoints to write",
                ("group",),
                ((group,) for group in groups.followed),
            )
        if groups.not_followed:
            yield self._table(
                f"groups not followed: {len(groups.not_followed):,}",
                ("groups", "why", "which"),
                by_reason(groups.not_followed, names=self._names),
            )
        untranslated = {
            f"{group} {partition}": why
            for group, its in groups.untranslated.items()
            for partition, why in its.items()
        }
        if untranslated:
            yield self._table(
                f"offsets without a translation: {len(untranslated):,}",
                ("offsets", "why", "which"),
                by_reason(untranslated, names=self._names),
            )
        yield from self._group_offsets(groups)

    def _group_offsets(self, groups: GroupsPlan) -> Iterator[Block]:
        if groups.commits:
            yield self._table(
                "group offsets to commit",
                ("group", "partition", "offset", "why"),
                (
                    (d.group, str(d.partition), str(d.offset.offset if d.offset else "-"), d.reason)
                    for d in groups.commits
                ),
            )
        left = {
            d.group if d.partition is None else f"{d.group} {d.partition}": d.reason
            for d in groups.offsets
            if d.offset is None
        }
        if left:
            yield self._table(
                f"group offsets left as they are: {len(left):,}",
                ("offsets", "why", "which"),
                by_reason(left, names=self._names),
            )

    def _table(
        self, title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]
    ) -> Table:
        return limited(title, columns, rows, most=self._most, remedy=_REMEDY)


def gathered(sentences: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Each sentence once, with the subjects that share it."""
    subjects: dict[str, list[str]] = {}
    for subject, sentence in sentences:
        subjects.setdefault(sentence, []).append(subject)
    return list(subjects.items())


def _creation(action: CreateTopic) -> tuple[str, ...]:
    configs = " ".join(f"{name}={value}" for name, value in sorted(action.configs.items()))
    replicas = _replicas(action.replication_factor)
    return action.topic, str(action.partitions), replicas, configs or "-"


def _replicas(factor: int) -> str:
    return "default" if factor == -1 else str(factor)


def _config(change: ConfigDifference) -> tuple[str, ...]:
    old = "-" if change.old is None else change.old
    return (
        change.topic,
        change.name,
        f"{old} (default)" if change.old_is_default else old,
        "default" if change.new is None else change.new,
    )
