"""What groups, topics, connectors, events and plan show."""

from __future__ import annotations

from heliograph.inspection.mirror_plan import (
    ConfigDifference,
    FlowPlan,
    InternalTopicPlan,
    MirroredTopic,
    MirrorPlan,
)
from heliograph.inspection.mirror_status import (
    FlowView,
    GroupPartition,
    GroupState,
    MirrorStatus,
    Service,
    ServiceState,
)
from heliograph.plan.topics import AddPartitions, CreateTopic
from heliograph.runtime.events import Event, EventKind, Severity
from heliograph.web.ui.rendering import rendered
from heliograph.web.ui.views.dry_run import plan_page
from heliograph.web.ui.views.flow import flow_page
from heliograph.web.ui.views.flow_state import Tone
from heliograph.web.ui.views.flows import known_flows
from heliograph.web.ui.views.groups import exactness, groups_page
from heliograph.web.ui.views.numbers import bytes_per_second, duration, per_second, short
from heliograph.web.ui.views.timeline import timeline
from heliograph.web.ui.views.topics import topics_page
from support.rest.pages import Figures, receipt


def group(**changed: object) -> GroupPartition:
    values: dict[str, object] = {
        "group": "g",
        "topic": "orders",
        "partition": 0,
        "remote_topic": "a.orders",
        "source_offset": 100,
        "source_lag": 5,
        "checkpointed": 100,
        "translated": 90,
        "target_offset": 90,
        "target_lag": 5,
        "state": GroupState.SYNCED,
        "why": None,
    }
    return GroupPartition(**(values | changed))  # type: ignore[arg-type]


def status(*groups: GroupPartition) -> MirrorStatus:
    service = Service(state=ServiceState.RUNNING, detail="seen 1 s ago", seen_seconds_ago=1.0)
    flow = FlowView(
        name="a->b",
        source="a",
        target="b",
        service=service,
        groups=groups,
        not_followed={"other": "excluded by groups.exclude"},
    )
    return MirrorStatus(at_ms=0, flows=(flow,), unreachable={})


def test_a_group_is_exact_or_says_why_not() -> None:
    assert exactness(group()) == "exact: continues at 90"
    assert exactness(group(checkpointed=80)) == (
        "translated up to source offset 80: 20 before its own"
    )
    assert exactness(group(translated=None, checkpointed=None, why="no offset sync yet")) == (
        "no offset sync yet"
    )
    assert exactness(group(state=GroupState.LEFT_ALONE, why="in use on the target")) == (
        "exact: continues at 90; in use on the target"
    )


def test_groups_are_filtered_by_group_and_partition_and_limited() -> None:
    many = [group(group=f"g{number}", partition=number) for number in range(250)]

    page = groups_page(status(*many))
    found = groups_page(status(*many), query="G24 orders")

    assert (len(page.flows[0].rows), page.flows[0].hidden) == (200, 50)
    assert len(found.flows[0].rows) == 11
    assert len(groups_page(status(*many), everything=True).flows[0].rows) == 250
    text = rendered("groups.html", page=page)
    assert "Show 50 more" in text
    assert "excluded by groups.exclude" in text


def test_groups_that_are_not_read_yet_are_not_none() -> None:
    text = rendered("groups.html", page=groups_page(None, observation="Reading both clusters …"))

    assert "Reading both clusters" in text


def planned(**changed: object) -> MirrorPlan:
    values: dict[str, object] = {
        "name": "a->b",
        "source": "a",
        "target": "b",
        "topics": tuple(
            MirroredTopic(topic=name, remote_topic=f"a.{name}", partitions=2)
            for name in ("orders", "payments", "new")
        ),
        "not_mirrored": {"secret": "excluded by topics.exclude"},
        "create": (
            CreateTopic(source_topic="new", topic="a.new", partitions=2, replication_factor=-1),
        ),
        "grow": (
            AddPartitions(
                source_topic="payments", topic="a.payments", partitions_now=1, partitions=2
            ),
        ),
        "configs": (
            ConfigDifference(
                topic="a.orders", name="retention.ms", old="1", old_is_default=True, new="2"
            ),
        ),
        "internal_topics": (
            InternalTopicPlan(
                cluster="b", topic="heartbeats", partitions=1, replication_factor=3, found=None
            ),
        ),
        "problems": {"orders": "orders: grant ALTER_CONFIGS"},
        "off": ("ACLs (sync.topic.acls.enabled)",),
    }
    flow = FlowPlan(**(values | changed))  # type: ignore[arg-type]
    return MirrorPlan(flows=(flow,), heartbeats=(), warnings=("a setting",), unreachable={})


def test_topics_show_their_remote_names_figures_and_differences() -> None:
    figures = Figures()
    figures.tick(receipt("a->b", 0, position=4, end=10), receipt("a->b", 1, position=9, end=10))

    page = topics_page(planned(), figures.publisher.snapshot)

    assert [(row.topic, row.lag, row.differences) for row in page.flows[0].rows] == [
        ("orders", 7, ("retention.ms: 1 (default) → 2",)),
        ("payments", None, ("1 partition, to be 2",)),
        ("new", None, ("not created yet",)),
    ]
    assert "excluded by topics.exclude" in rendered("topics.html", page=page)


def test_a_plan_is_a_sentence_and_tables() -> None:
    page = plan_page(planned())
    text = rendered("plan.html", page=page)

    assert page.flows[0].summary == (
        "Create 1 topic, add partitions to 1 topic, change the configuration of 1 topic, "
        "create 1 internal topic."
    )
    for words in (
        "orders: grant ALTER_CONFIGS",
        "a setting",
        "Topics to create on b",
        "Switched off",
    ):
        assert words in text


def test_a_plan_with_nothing_to_do_says_so() -> None:
    page = plan_page(planned(create=(), grow=(), configs=(), internal_topics=()))

    assert page.flows[0].summary == "Nothing to create or change; records are mirrored."
    assert plan_page(planned(unknown={"ACLs": "refused"})).flows[0].summary == (
        "The plan is not complete."
    )


def test_a_flow_that_the_clusters_were_asked_about_shows_the_targets_end() -> None:
    figures = Figures()
    figures.tick(receipt("a->b"))
    (flow,) = known_flows(figures.publisher.snapshot, [])

    page = flow_page(flow, figures.publisher.snapshot, status().flows[0])

    assert (flow.source, flow.target) == ("a", "b")
    assert page.rows[0].target_end is None
    assert page.states == (("quiet", 1, Tone.GOOD),)


def test_events_are_newest_first_by_day_and_of_one_kind_if_chosen() -> None:
    events = [
        Event(
            number=number,
            at_ms=at_ms,
            kind=kind,
            severity=Severity.WARNING,
            subject="flow a->b",
            message=f"message {number}",
        )
        for number, at_ms, kind in (
            (1, 86_400_000, EventKind.EPOCH),
            (2, 86_401_000, EventKind.RESOLVED),
            (3, 5_000, EventKind.GAP),  # of an earlier service
        )
    ]

    page = timeline(events)

    assert [(day, [entry.message for entry in entries]) for day, entries in page.days] == [
        ("Friday, 2 January 1970", ["message 2", "message 1"]),
        ("Thursday, 1 January 1970", ["message 3"]),
    ]
    assert page.kinds == (("gap", 1), ("resolved", 1), ("epoch", 1))
    assert page.days[0][1][0].tone is Tone.GOOD
    assert [len(entries) for _, entries in timeline(events, "epoch").days] == [1]


def test_figures_have_three_digits_and_a_unit() -> None:
    assert [short(value) for value in (None, 0, 999, 1_000, 12_345, 999_999, 1.5e9)] == [
        "–",
        "0",
        "999",
        "1.0 k",
        "12.3 k",
        "1.0 M",
        "1.5 G",
    ]
    assert [per_second(value) for value in (0.0, 0.2, 12.4, 2_000.0)] == [
        "0/s",
        "0.2/s",
        "12/s",
        "2.0 k/s",
    ]
    assert bytes_per_second(1_500_000) == "1.5 MB/s"
    assert [duration(value) for value in (None, 3.2, 130, 86_400 * 3)] == [
        "–",
        "3 s",
        "2 min",
        "3 d",
    ]
