from __future__ import annotations

import pytest

from heliograph.errors import BrokerError
from heliograph.plan.topic_outcome import MirroredTopics, outcome
from heliograph.plan.topics import plan_topics

SOURCE = {"new": 3, "grown": 5, "same": 1}
PLAN = plan_topics(
    SOURCE, {"us.grown": 2, "us.same": 1}, lambda topic: True, lambda topic: f"us.{topic}", 2
)


def refused(topic: str, code: int) -> MirroredTopics:
    error = BrokerError(f"topic {topic!r} on eu", code, "REFUSED", "", retriable=False)
    return outcome(PLAN, SOURCE, {topic: error})


def test_what_succeeds_is_mirrored_with_all_partitions() -> None:
    assert outcome(PLAN, SOURCE, {}) == MirroredTopics(partitions=SOURCE, problems={})


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (
            29,
            "grant DESCRIBE_CONFIGS on new and CREATE on us.new, or create us.new with 3 partitions",
        ),
        (31, "grant DESCRIBE_CONFIGS on new and CREATE on us.new"),
        (38, "set replication.factor (now 2) to what the target's brokers allow, or to -1"),
        (40, "keep the setting out with config.properties.exclude"),
        (44, "change what the target's policy objects to"),
        (17, "exclude it, or rename it"),
        (42, "create us.new with 3 partitions yourself"),
    ],
)
def test_a_topic_that_may_not_be_created_is_not_mirrored_and_the_others_are(
    code: int, remedy: str
) -> None:
    result = refused("us.new", code)

    assert result.partitions == {"grown": 5, "same": 1}
    assert result.problems.keys() == {"new"}
    assert result.problems["new"].startswith(
        f"new: not mirrored: topic 'us.new' on eu: REFUSED ({code}); "
    )
    assert remedy in result.problems["new"]


def test_a_topic_that_cannot_grow_is_mirrored_as_far_as_it_goes() -> None:
    result = refused("us.grown", 29)

    assert result.partitions == {"new": 3, "grown": 2, "same": 1}
    assert result.problems["grown"] == (
        "grown: us.grown has 2 partitions and cannot get the source's 5, so partitions from 2 on are not "
        "mirrored (topic 'us.grown' on eu: REFUSED (29)); grant ALTER on us.grown, or add the partitions "
        "yourself"
    )
    assert refused("us.grown", 44).problems["grown"].endswith("; add the partitions yourself")


def test_a_topic_that_is_gone_is_dropped_without_a_word() -> None:
    assert refused("us.new", 3) == MirroredTopics(partitions={"grown": 5, "same": 1}, problems={})
