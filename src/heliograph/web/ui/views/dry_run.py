"""The plan: what a mirror with this configuration would create and change if it were started now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heliograph.inspection.mirror_plan import FlowPlan, MirrorPlan
from heliograph.plan.topics import CreateTopic
from heliograph.web.ui.views.topics import difference

_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFlow:
    name: str
    summary: str
    nothing_to_do: bool
    problems: tuple[str, ...]
    unknown: tuple[str, ...]
    tables: tuple[PlanTable, ...]
    notes: tuple[str, ...]
    off: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPage:
    flows: tuple[PlannedFlow, ...]
    warnings: tuple[str, ...]
    unreachable: tuple[tuple[str, str], ...]
    observation: str | None


def plan_page(plan: MirrorPlan | None, observation: str | None = None) -> PlanPage:
    if plan is None:
        return PlanPage(flows=(), warnings=(), unreachable=(), observation=observation)
    return PlanPage(
        flows=tuple(map(_flow, plan.flows)),
        warnings=plan.warnings,
        unreachable=tuple(plan.unreachable.items()),
        observation=observation,
    )


def _flow(flow: FlowPlan) -> PlannedFlow:
    return PlannedFlow(
        name=flow.name,
        summary=_summary(flow),
        nothing_to_do=flow.nothing_to_do and not flow.unknown,
        problems=tuple(dict.fromkeys(flow.problems.values())),
        unknown=tuple(f"{part}: {why}" for part, why in flow.unknown.items()),
        tables=tuple(_tables(flow)),
        notes=flow.notes,
        off=flow.off,
    )


def _summary(flow: FlowPlan) -> str:
    return f"{flow.summary[:1].upper()}{flow.summary[1:]}."


def _tables(flow: FlowPlan) -> Iterator[PlanTable]:
    on = flow.target
    tables = (
        (
            f"Topics to create on {on}",
            ("Topic", "Partitions", "Replicas", "Settings"),
            [_creation(each) for each in flow.create],
        ),
        (
            f"Partitions to add on {on}",
            ("Topic", "Now", "Then"),
            [(a.topic, f"{a.partitions_now:,}", f"{a.partitions:,}") for a in flow.grow],
        ),
        (
            f"Topic settings to change on {on}",
            ("Topic", "Setting"),
            [(each.topic, difference(each)) for each in flow.configs],
        ),
        (
            f"ACLs to create on {on}",
            ("Topic", "Principal", "Host", "Operation", "Permission"),
            [(a.topic, a.principal, a.host, a.operation, a.permission) for a in flow.acls],
        ),
        (
            "Internal topics to create",
            ("Cluster", "Topic", "Partitions", "Replicas"),
            [
                (t.cluster, t.topic, f"{t.partitions:,}", _replicas(t.replication_factor))
                for t in flow.missing_internal_topics
            ],
        ),
        (
            f"Group offsets to commit on {on}",
            ("Group", "Partition", "Offset", "Why"),
            [
                (d.group, str(d.partition), f"{d.offset.offset:,}" if d.offset else "", d.reason)
                for d in flow.groups.commits
            ],
        ),
        (
            "Mirrored topics",
            ("Topic", f"On {on}", "Partitions"),
            [(t.topic, t.remote_topic, f"{t.partitions:,}") for t in flow.topics],
        ),
        ("Topics that are not mirrored", ("Topic", "Why"), list(flow.not_mirrored.items())),
        ("Groups that are not followed", ("Group", "Why"), list(flow.groups.not_followed.items())),
    )
    for title, columns, rows in tables:
        if rows:
            yield PlanTable(
                title=title,
                columns=columns,
                rows=tuple(rows[:_ROWS]),
                hidden=max(len(rows) - _ROWS, 0),
            )


def _creation(action: CreateTopic) -> tuple[str, ...]:
    settings = " ".join(f"{name}={value}" for name, value in sorted(action.configs.items()))
    replicas = _replicas(action.replication_factor)
    return action.topic, f"{action.partitions:,}", replicas, settings


def _replicas(factor: int) -> str:
    return "default" if factor == -1 else str(factor)
