from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.plan.topics import AddPartitions, CreateTopic, TopicAction, plan_topics


def remote(topic: str) -> str:
    return f"us.{topic}"


def plan(source: dict[str, int], target: dict[str, int]) -> list[TopicAction]:
    return plan_topics(source, target, lambda topic: topic != "secret", remote, 3)


def test_a_missing_topic_is_created_with_the_sources_partitions() -> None:
    actions = plan({"orders": 5, "secret": 1}, {})

    assert actions == [
        CreateTopic(source_topic="orders", topic="us.orders", partitions=5, replication_factor=3)
    ]


def test_missing_partitions_are_added() -> None:
    actions = plan({"orders": 5}, {"us.orders": 2})

    assert actions == [
        AddPartitions(source_topic="orders", topic="us.orders", partitions_now=2, partitions=5)
    ]


def test_a_target_with_more_partitions_is_left_as_it_is() -> None:
    assert plan({"orders": 2}, {"us.orders": 5}) == []


def test_a_topic_that_is_gone_from_the_source_stays_on_the_target() -> None:
    assert plan({}, {"us.orders": 5, "orders": 1}) == []


TOPICS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9))


@given(TOPICS, TOPICS)
def test_after_all_actions_nothing_is_left_to_do(
    source: dict[str, int], existing: dict[str, int]
) -> None:
    target = {remote(topic): partitions for topic, partitions in existing.items()}

    actions = plan(source, target)

    assert all(action.partitions > target.get(action.topic, 0) for action in actions)
    target |= {action.topic: action.partitions for action in actions}
    assert plan(source, target) == []
