from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.plan.topics import (
    AddPartitions,
    CreateTopic,
    TopicPlan,
    plan_routed,
    plan_topics,
)


def remote(topic: str) -> str:
    return f"us.{topic}"


def plan(source: dict[str, int], target: dict[str, int]) -> TopicPlan:
    return plan_topics(source, target, lambda topic: topic != "secret", remote, 3)


def test_a_missing_topic_is_created_with_the_sources_partitions() -> None:
    made = plan({"orders": 5, "secret": 1}, {})

    assert made.mirrored == {"orders": "us.orders"}
    assert made.actions == [
        CreateTopic(source_topic="orders", topic="us.orders", partitions=5, replication_factor=3)
    ]


def test_missing_partitions_are_added() -> None:
    made = plan({"orders": 5}, {"us.orders": 2})

    assert made.actions == [
        AddPartitions(source_topic="orders", topic="us.orders", partitions_now=2, partitions=5)
    ]


def test_a_target_with_more_partitions_is_left_as_it_is() -> None:
    assert plan({"orders": 2}, {"us.orders": 5}).actions == []


def test_a_topic_that_is_gone_from_the_source_stays_on_the_target() -> None:
    made = plan({}, {"us.orders": 5, "orders": 1})

    assert (made.actions, made.mirrored) == ([], {})


def test_creation_is_planned_until_the_topic_is_there() -> None:
    """MirrorSourceConnectorTest.testRefreshTopicPartitions"""
    source = {"topic": 1}

    assert plan(source, {}).actions == plan(source, {}).actions != []
    assert plan(source, {"us.topic": 1}).actions == []


def test_what_appears_on_the_target_only_is_nothing_to_plan_for() -> None:
    """MirrorSourceConnectorTest.testRefreshTopicPartitionsTopicOnTargetFirst"""
    assert plan({}, {"us.topic": 1}).actions == []
    assert plan({"topic": 1}, {"us.topic": 1}).mirrored == {"topic": "us.topic"}


def test_topics_that_would_land_in_one_remote_topic_are_not_mirrored() -> None:
    names = {"orders-prod": "orders", "orders": "orders", "refunds": "refunds"}

    made = plan_topics(dict.fromkeys(names, 1), {}, lambda topic: True, names.__getitem__, 1)

    assert list(made.mirrored) == ["refunds"]
    assert [action.topic for action in made.actions] == ["refunds"]
    assert made.problems.keys() == {"orders", "orders-prod"}
    assert "orders and orders-prod would all become orders" in made.problems["orders"]


TOPICS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9))


@given(TOPICS, TOPICS)
def test_after_all_actions_nothing_is_left_to_do(
    source: dict[str, int], existing: dict[str, int]
) -> None:
    target = {remote(topic): partitions for topic, partitions in existing.items()}

    actions = plan(source, target).actions

    assert all(action.partitions > target.get(action.topic, 0) for action in actions)
    target |= {action.topic: action.partitions for action in actions}
    assert plan(source, target).actions == []


def test_a_topic_that_records_are_routed_to_gets_the_partitions_of_its_source() -> None:
    wanted = {"away": "orders", "small": "orders", "enough": "orders", "gone": "deleted"}

    actions = plan_routed(wanted, {"orders": 3}, {"small": 1, "enough": 5}, 2)

    assert actions == [
        CreateTopic(source_topic="orders", topic="away", partitions=3, replication_factor=2),
        AddPartitions(source_topic="orders", topic="small", partitions_now=1, partitions=3),
    ]
