from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig
from heliograph.plan.unmatched import unmatched_groups, unmatched_topics

_TOPICS = ("topic1", "orders", "orders.replica", "__consumer_offsets")


def flow(folder: Path, *lines: str) -> FlowConfig:
    path = folder / "mm2.properties"
    path.write_text(
        "clusters = source, target\nsource.bootstrap.servers = x:1\ntarget.bootstrap.servers = y:1\n"
        "source->target.enabled = true\n" + "".join(f"source->target.{line}\n" for line in lines)
    )
    return load(path).flows[0]


def of_topics(folder: Path, topics: str, *lines: str) -> list[str]:
    made = flow(folder, f"topics = {topics}", *lines)
    return list(unmatched_topics(made, made.topic_filter(), _TOPICS).values())


def test_a_misspelt_topic_is_named_with_the_ones_like_it(tmp_path: Path) -> None:
    assert of_topics(tmp_path, "topik1") == [
        "topics=topik1 matches no topic of cluster source; near: topic1"
    ]


@pytest.mark.parametrize(
    ("topics", "unmatched"),
    [
        ("topic1", []),
        ("ord.*, topic1", []),
        ("orders, payments", ["payments"]),  # each item by itself
        ("payments, refunds.*", ["payments", "refunds.*"]),
        (".*", []),  # the default expects nothing
        (".*, payments", []),
        ("(orders,payments)", []),  # MM2 joins items with |: one pattern
        ("(?i)ORDERS, TOPIC1", []),  # the flag applies to the second item, too
        ("(?i)REFUNDS, PAYMENTS", ["(?i)REFUNDS,PAYMENTS"]),
        ("(refunds,payments)", ["(refunds,payments)"]),
        ("", []),
    ],
)
def test_each_item_of_a_list_must_match_something(
    tmp_path: Path, topics: str, unmatched: list[str]
) -> None:
    found = of_topics(tmp_path, topics)

    assert found == [f"topics={item} matches no topic of cluster source" for item in unmatched]


def test_a_topic_that_is_excluded_again_is_said_with_the_reason(tmp_path: Path) -> None:
    (found,) = of_topics(tmp_path, r"orders\\.replica")

    assert found.startswith(
        r"topics=orders\.replica matches only topics of cluster source that are not mirrored: "
        "orders.replica (topics.exclude matches: "
    )


def test_it_is_no_problem_any_more_once_a_topic_appears(tmp_path: Path) -> None:
    made = flow(tmp_path, "topics = payments")

    assert unmatched_topics(made, made.topic_filter(), _TOPICS)
    assert unmatched_topics(made, made.topic_filter(), [*_TOPICS, "payments"]) == {}


def test_groups_that_are_named_must_exist_too(tmp_path: Path) -> None:
    named = flow(tmp_path, "groups = biling, audit")

    assert unmatched_groups(named, ["billing", "audit"]) == {
        "groups=biling": "groups=biling matches no group of cluster source; near: billing"
    }
    assert unmatched_groups(flow(tmp_path), []) == {}
    assert (
        unmatched_groups(flow(tmp_path, "groups = x", "emit.checkpoints.enabled = false"), []) == {}
    )
