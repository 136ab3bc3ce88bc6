from __future__ import annotations

from dataclasses import replace

from heliograph.cli.output.plan_text import plan_blocks
from heliograph.cli.output.tables import plain
from heliograph.inspection.mirror_plan import (
    ConfigDifference,
    FlowPlan,
    GroupsPlan,
    HeartbeatsPlan,
    InternalTopicPlan,
    MirroredTopic,
    MirrorPlan,
    PlannedAcl,
)
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.plan.group_offsets import OffsetDecision
from heliograph.plan.topics import AddPartitions, CreateTopic

STATE = InternalTopicPlan(
    cluster="b", topic="mm2-status.a.internal", partitions=5, replication_factor=-1, found=None
)
FLOW = FlowPlan(
    name="a->b",
    source="a",
    target="b",
    topics=(MirroredTopic(topic="orders", remote_topic="a.orders", partitions=4),),
    not_mirrored={f"old-{n}": "topics.exclude matches: old.*" for n in range(8)},
    create=(
        CreateTopic(
            source_topic="orders",
            topic="a.orders",
            partitions=4,
            replication_factor=2,
            configs={"cleanup.policy": "compact"},
        ),
    ),
    grow=(AddPartitions(source_topic="x", topic="a.x", partitions_now=1, partitions=3),),
    configs=(
        ConfigDifference(topic="a.x", name="retention.ms", old="7", old_is_default=True, new="9"),
        ConfigDifference(topic="a.x", name="segment.ms", old="5", old_is_default=False, new=None),
    ),
    acls=(
        PlannedAcl(
            topic="a.orders", principal="User:me", host="*", operation="READ", permission="ALLOW"
        ),
    ),
    internal_topics=(STATE, replace(STATE, topic="mm2-offsets.a.internal", found=25)),
    groups=GroupsPlan(
        followed=("billing",),
        not_followed={"connect-x": "groups.exclude matches: connect-.*"},
        checkpoints=(Checkpoint("billing", "a.orders", 0, 5, 4),),
        untranslated={"billing": {TopicPartition("orders", 1): "no mirrored offsets are known"}},
        offsets=(
            OffsetDecision(
                "billing", TopicPartition("a.orders", 0), CommittedOffset(4), "is behind"
            ),
            OffsetDecision("used", None, None, "in use on the target (Stable)"),
        ),
    ),
    off=("ACLs (sync.topic.acls.enabled)",),
    problems={"loop": "loop: not mirrored: it would go round in a cycle"},
)
EMPTY = FlowPlan(name="a->b", source="a", target="b")


def text(*flows: FlowPlan, everything: bool = False, **parts: object) -> str:
    plan = MirrorPlan(flows=flows, heartbeats=(), warnings=(), unreachable={})
    return plain(plan_blocks(replace(plan, **parts), everything=everything))  # type: ignore[arg-type]


def test_every_change_is_shown_with_old_and_new() -> None:
    lines = [" ".join(line.split()) for line in text(FLOW).splitlines()]

    for line in (
        "orders a.orders 4",
        "8 topics.exclude matches: old.* old-0, old-1, old-2, old-3, old-4, … 3 more",
        "a.orders 4 2 cleanup.policy=compact",
        "a.x 1 3",
        "a.x retention.ms 7 (default) 9",
        "a.x segment.ms 5 default",
        "a.orders User:me * READ ALLOW",
        "b mm2-status.a.internal 5 default",
        "internal topics present: mm2-offsets.a.internal",
        "groups followed: 1; 1 checkpoints to write",
        "1 groups.exclude matches: connect-.* connect-x",
        "1 no mirrored offsets are known billing orders-1",
        "billing a.orders-0 4 is behind",
        "1 in use on the target (Stable) used",
        "switched off: ACLs (sync.topic.acls.enabled)",
        "PROBLEM: loop: not mirrored: it would go round in a cycle",
    ):
        assert line in lines
    assert lines[-1] == "Nothing was changed."


def test_the_first_line_of_a_flow_sums_it_up() -> None:
    assert FLOW.summary == (
        "create 1 topic, add partitions to 1 topic, change the configuration of 1 topic, "
        "create 1 ACL, create 1 internal topic, commit 1 group offset"
    )
    assert EMPTY.summary == "nothing to create or change; records are mirrored"
    assert replace(EMPTY, unknown={"topics": "no"}).summary == "the plan is not complete"


def test_every_topic_is_named_on_demand_only() -> None:
    topics = tuple(
        MirroredTopic(topic=f"t{n}", remote_topic=f"a.t{n}", partitions=1) for n in range(3_000)
    )
    flow = replace(FLOW, topics=topics)

    assert "old-7" not in text(flow)
    assert "… 2,980 more (--all shows all)" in text(flow)
    assert "old-7" in text(flow, everything=True)
    assert "a.t2999" in text(flow, everything=True)


def test_one_reason_for_several_parts_is_shown_once() -> None:
    unreachable = {"b": "cluster 'b': no broker answers"}
    unknown = dict.fromkeys(("topics", "ACLs"), unreachable["b"])

    said = text(replace(EMPTY, unknown=unknown), unreachable=unreachable)

    assert "NOT REACHED: b: cluster 'b': no broker answers" in said
    assert "  NOT CHECKED: topics, ACLs: cluster 'b': no broker answers" in said


def test_heartbeats_and_settings_without_effect_are_named() -> None:
    pair = HeartbeatsPlan(source="a", target="b", interval_seconds=5, internal_topics=(STATE,))

    said = text(heartbeats=(pair,), warnings=("nonsense = 1 has no effect (line 3)",))

    assert "a->b every 5 s" in said
    assert "mm2-status.a.internal" in said
    assert "nonsense = 1 has no effect (line 3)" in said
