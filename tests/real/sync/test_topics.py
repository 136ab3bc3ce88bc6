from __future__ import annotations

from heliograph.config.mirror_config import FlowConfig
from heliograph.embedded import Cluster
from heliograph.plan.topic_outcome import MirroredTopics
from heliograph.sync.topics import sync_topics
from support.clusters.grouping import client
from support.clusters.reading import topics_of
from support.clusters.writing import add_partitions, create_topics, delete_topic, topic_config
from support.flows.sides import Sides
from support.waiting import eventually


def sync(sides: Sides, flow: FlowConfig) -> MirroredTopics:
    return sync_topics(flow, flow.topic_filter(), sides.source, sides.target)


def test_a_new_topic_has_its_sources_settings_from_the_start(sides: Sides) -> None:
    topic = sides.topic(
        "orders",
        3,
        {
            "cleanup.policy": "compact",
            "retention.bytes": "1000",
            "message.timestamp.type": "LogAppendTime",  # not for the target to follow
        },
    )

    result = sync(sides, sides.flow(replication_factor="-1"))

    assert (result.partitions, result.problems) == ({topic: 3}, {})
    assert all(result.ids.origin(topic, sides.remote(topic)))
    assert sides.partitions(sides.remote(topic)) == 3
    assert topic_config(sides.target_cluster, sides.remote(topic)) == {
        "cleanup.policy": "compact",
        "retention.bytes": "1000",
    }


def test_topics_grow_and_what_is_gone_is_dropped(sides: Sides) -> None:
    flow, topic, gone = sides.flow(), sides.topic("orders"), sides.topic("gone")
    sync(sides, flow)

    add_partitions(sides.source_cluster, topic, 4)
    delete_topic(sides.source_cluster, gone)
    eventually(lambda: topics_of(sides.source_cluster), lambda found: gone not in found)

    result = sync(sides, flow)
    assert (result.partitions, result.problems) == ({topic: 4}, {})
    # The controller has answered; the broker that is asked learns of it later.
    eventually(lambda: sides.partitions(sides.remote(topic)), lambda found: found == 4)
    assert sides.partitions(sides.remote(gone)) == 1


def test_what_cannot_be_created_is_a_problem_and_what_is_there_already_is_used(
    sides: Sides,
) -> None:
    """One broker cannot hold three replicas; an administrator has created one of the topics."""
    topic, ready = sides.topic("orders", 2), sides.topic("ready", 2)
    create_topics(sides.target_cluster, {sides.remote(ready): 3})

    result = sync(sides, sides.flow(replication_factor="3"))

    assert result.partitions == {ready: 2}
    assert result.problems.keys() == {topic}
    assert result.problems[topic].startswith(
        f"{topic}: not mirrored: topic {sides.remote(topic)!r} on b: "
    )
    assert result.problems[topic].endswith(
        "set replication.factor (now 3) to what the target's brokers allow, or to -1 for their default"
    )


def test_a_name_that_gets_too_long_is_a_problem_of_its_topic(sides: Sides) -> None:
    topic, other = sides.topic("x" * (249 - len(sides.alias) - 1)), sides.topic("orders")

    result = sync(sides, sides.flow())

    assert result.partitions == {other: 1}
    assert result.problems[topic].endswith("exclude it, or rename it with RenameReplicationPolicy")


def test_topics_that_would_become_one_are_left_alone_by_a_renaming_policy(sides: Sides) -> None:
    first, second, third = sides.topic("a-1"), sides.topic("a-2"), sides.topic("b-1")
    renaming = sides.flow(
        replication_policy_class="RenameReplicationPolicy",
        replication_policy_topic_map=f"{first}:{sides.alias}.new",
        replication_policy_topic_rename=f"{second} => {sides.alias}.new ; (.*) => new-$1",
    )

    result = sync(sides, renaming)

    assert result.partitions == {third: 1}
    assert result.problems.keys() == {first, second}
    assert sides.partitions(f"new-{third}") == 1


def test_what_a_target_is_too_small_for_is_left_to_its_brokers(sides: Sides) -> None:
    """As with MM2, whose first record makes a broker with auto.create.topics.enable create the topic."""
    topic = sides.topic("orders", 2)
    settings = {"auto.create.topics.enable": "true"}
    with Cluster("willing", settings=settings) as willing, client(willing, "b") as target:
        flow = sides.flow(replication_factor="2")

        result = sync_topics(flow, flow.topic_filter(), sides.source, target)

        assert (result.partitions, result.problems) == ({topic: 2}, {})
        # A broker knows of added partitions a moment after its controller.
        eventually(
            lambda: target.refresh([sides.remote(topic)]).partitions,
            lambda found: found == {sides.remote(topic): 2},
        )
