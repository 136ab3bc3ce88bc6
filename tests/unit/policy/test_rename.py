from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import ConfigError
from heliograph.policy.rename import RenameReplicationPolicy, read_rename_rules, read_topic_map

TOPICS = st.text(alphabet="ab-.x", min_size=1, max_size=10)


def policy(topic_map: str = "", rename: str = "") -> RenameReplicationPolicy:
    return RenameReplicationPolicy(
        source_alias="us", topic_map=read_topic_map(topic_map), rules=read_rename_rules(rename)
    )


def renamed(topic: str, rename: str) -> str:
    return policy(rename=rename).format_remote_topic("us", topic)


def test_the_map_names_remote_topics_and_others_keep_their_name() -> None:
    mapped = policy("orders:sales.orders, refunds : sales.refunds")

    names = [mapped.format_remote_topic("us", t) for t in ("orders", "refunds", "products")]

    assert names == ["sales.orders", "sales.refunds", "products"]


@pytest.mark.parametrize(
    ("topic", "rename", "expected"),
    [
        ("orders-prod", "(.*)-prod => $1-dr", "orders-dr"),
        ("orders-test", "(.*)-prod => $1-dr", "orders-test"),
        ("eu.orders", r"eu\.(.*) => $1", "orders"),
        ("euXorders", r"eu\.(.*) => $1", "euXorders"),
        ("a.b", r"([^.]+)\.(.+) => $2_$1", "b_a"),
        ("x", "x=>y;x=>z", "y"),
        ("b", "a => 1 ; (.) => $1$1".replace("$1$1", "$1-2"), "b-2"),
        ("ab(c", r"ab\((.) => $1", "c"),
    ],
)
def test_the_first_rule_that_matches_all_of_the_name_counts(
    topic: str, rename: str, expected: str
) -> None:
    assert renamed(topic, rename) == expected


def test_the_map_goes_before_the_rules() -> None:
    both = policy("orders:first", "(.*) => second-$1")

    assert both.format_remote_topic("us", "orders") == "first"
    assert both.format_remote_topic("us", "refunds") == "second-refunds"


def test_remote_topics_are_traced_back() -> None:
    both = policy("orders:sales.orders", "(.*)-prod => $1-dr")

    assert both.upstream_topic("sales.orders") == "orders"
    assert both.upstream_topic("products-dr") == "products-prod"
    assert both.topic_source("products-dr") == "us"
    assert both.original_topic("products-dr") == "products-prod"
    assert both.upstream_topic("products") == "products"


def test_a_name_that_nothing_is_renamed_to_has_no_source() -> None:
    both = policy("orders:sales.orders", "(.*)-prod => $1-dr")

    assert both.upstream_topic("orders") is None
    assert both.topic_source("products-prod") is None
    assert both.original_topic("products-prod") == "products-prod"


@pytest.mark.parametrize(
    "rename", ["(.*)-(.*) => $2-$1", r"(a*)\.(.*) => $2$1", "(.*)x => $1", "(.*) => x.$1"]
)
@given(topic=TOPICS)
def test_what_is_renamed_is_traced_back_to_a_name_that_is_renamed_so(
    rename: str, topic: str
) -> None:
    renaming = policy(rename=rename)
    remote = renaming.format_remote_topic("us", topic)

    upstream = renaming.upstream_topic(remote)

    assert upstream is None or renaming.format_remote_topic("us", upstream) == remote
    renaming.original_topic(topic)  # ends


def test_heartbeats_are_named_as_by_the_default_policy() -> None:
    everything = policy(rename="(.*) => new-$1")

    assert everything.format_remote_topic("us", "heartbeats") == "us.heartbeats"
    assert everything.original_topic("eu.us.heartbeats") == "heartbeats"
    assert everything.is_heartbeats_topic("eu.us.heartbeats")
    assert everything.topic_source("us.heartbeats") == "us"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("orders", "expected pairs such as orders:sales.orders, separated by commas, found 'ord"),
        ("orders:a b", "found 'orders:a b'"),
        ("a:x, a:y", "source topic named more than once: a"),
        ("a:x, b:x", "remote topic named more than once: x"),
    ],
)
def test_a_map_that_is_no_map_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"replication.policy.topic.map: .*{message}"):
        read_topic_map(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(.*)-prod", "expected rules such as"),
        ("(.*)-prod =>", "expected rules such as"),
        ("prod.(.*) => $1", r"a dot written as \\\., at character 5"),
        ("(.*)+ => $1", "outside .* plain text only"),
        ("foo( => x", "missing"),
        ("(?:a) => b", "a rule's groups are plain ones"),
        ("((a)b) => $1", "a group in a group cannot be reversed"),
        (r"(a)(\1) => $1$2", "a reference to another group cannot be reversed"),
        (r"([]a]) => $1", "cannot be parsed"),
        ("(.*)-(.*) => $1", r"every group .* exactly once \(\$1, \$2\).* found \$1"),
        ("(.*) => $1$1", "exactly once"),
        ("a => $1", "it has none"),
        ("(.*) => $1:x", "found ':'"),
    ],
)
def test_a_rule_that_cannot_be_reversed_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"replication.policy.topic.rename: .*{message}"):
        read_rename_rules(text)


def test_it_travels_to_other_processes() -> None:
    renaming = policy("a:b", "(.*)-prod => $1-dr")

    assert pickle.loads(pickle.dumps(renaming)) == renaming
