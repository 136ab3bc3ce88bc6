from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from heliograph.config.formats.mm2_properties import load
from heliograph.plan.cycles import FilteredFlow, find_loops, may_loop
from heliograph.plan.external_cycles import (
    FRESH_MS,
    ForeignFlow,
    JavaMirror,
    find_external_loops,
    find_java_loops,
)

IDS: dict[str, str | None] = {"a": "id-a", "b": "id-b", "c": "id-c", "d": "id-d"}
CLASS = "replication.policy.class"
IDENTITY = {CLASS: "IdentityReplicationPolicy"}
DEFAULT = {CLASS: "DefaultReplicationPolicy"}
MakeFlow = Callable[..., FilteredFlow]


@pytest.fixture
def flow(tmp_path: Path) -> MakeFlow:
    """Flows of `a->b` and the like; they keep names, if they are not told otherwise."""

    def make(name: str, topics: str = ".*", policy: Mapping[str, str] = IDENTITY) -> FilteredFlow:
        source, _, target = name.partition("->")
        settings = {
            "clusters": f"{source}, {target}",
            f"{source}.bootstrap.servers": "x:1",
            f"{target}.bootstrap.servers": "y:1",
            f"{name}.enabled": "true",
            f"{name}.topics": topics.replace("\\", "\\\\"),
            **{f"{name}.{key}": value for key, value in policy.items()},
        }
        path = tmp_path / "mm2.properties"
        path.write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
        config = load(path).flow(name)
        return FilteredFlow(config, config.topic_filter())

    return make


def renaming(**settings: str) -> dict[str, str]:
    named = {f"replication.policy.topic.{key}": value for key, value in settings.items()}
    return {CLASS: "RenameReplicationPolicy", **named}


def test_a_topic_that_both_directions_would_mirror_under_its_name_is_refused_in_both(
    flow: MakeFlow,
) -> None:
    flows = [flow("a->b"), flow("b->a", topics="orders")]

    refused = find_loops(flows, IDS, {"a": ["orders", "refunds"], "b": ["products"]})

    assert {name: set(topics) for name, topics in refused.items()} == {
        "a->b": {"orders"},
        "b->a": {"orders"},
    }
    assert refused["a->b"]["orders"] == (
        "orders: not mirrored: it would go round in a cycle (a -> b -> a) and come back as orders; "
        "exclude it from one of these flows (topics, topics.exclude), or name remote topics with "
        "DefaultReplicationPolicy in all of them"
    )


def test_heartbeats_never_go_in_circles(flow: MakeFlow) -> None:
    flows = [flow("a->b"), flow("b->a")]

    assert find_loops(flows, IDS, {"a": ["heartbeats", "b.heartbeats"], "b": ["heartbeats"]}) == {}


def test_directions_with_topics_of_their_own_are_fine(flow: MakeFlow) -> None:
    """Producers prefix their topics, and each cluster mirrors what the other has made."""
    flows = [flow("a->b", topics=r"a\..*"), flow("b->a", topics=r"b\..*")]

    assert find_loops(flows, IDS, {"a": ["a.x", "b.x"], "b": ["a.x", "b.x"]}) == {}


def test_a_circle_of_three_is_found_and_what_leads_into_it_is_mirrored(flow: MakeFlow) -> None:
    flows = [flow("a->b"), flow("b->c"), flow("c->a"), flow("d->a")]

    refused = find_loops(flows, IDS, {"d": ["orders"]})

    assert refused.keys() == {"a->b", "b->c", "c->a"}
    assert "(a -> b -> c -> a)" in refused["a->b"]["orders"]
    assert "(b -> c -> a -> b)" in refused["b->c"]["orders"]


def test_every_flow_of_crossing_circles_is_refused(flow: MakeFlow) -> None:
    flows = [flow("a->b"), flow("b->a"), flow("a->c"), flow("c->b")]

    assert find_loops(flows, IDS, {"a": ["orders"]}).keys() == {"a->b", "b->a", "a->c", "c->b"}


def test_names_that_carry_the_alias_make_no_circle(flow: MakeFlow) -> None:
    flows = [flow("a->b", policy=DEFAULT), flow("b->a", policy=DEFAULT)]
    topics = {"a": ["orders", "b.orders"], "b": ["orders", "a.orders"]}

    assert find_loops(flows, IDS, topics) == {}


def test_fanning_in_and_out_is_no_circle(flow: MakeFlow) -> None:
    flows = [flow("a->c"), flow("b->c"), flow("c->d")]

    assert find_loops(flows, IDS, {"a": ["orders"], "b": ["orders"], "c": ["orders"]}) == {}


@pytest.mark.parametrize("policy", [IDENTITY, DEFAULT])
def test_a_cluster_under_two_aliases_is_not_mirrored_onto_itself(
    flow: MakeFlow, policy: Mapping[str, str]
) -> None:
    refused = find_loops([flow("a->b", policy=policy)], {"a": "one", "b": "one"}, {"a": ["orders"]})

    assert refused["a->b"]["orders"] == (
        "orders: not mirrored: a and b are one cluster (id one), so the flow a->b would mirror its own "
        "copies without end; correct bootstrap.servers, or exclude the copies with topics.exclude"
    )


def test_a_copy_within_one_cluster_is_fine_if_the_copy_is_not_mirrored(flow: MakeFlow) -> None:
    policy = renaming(map="orders:orders-copy")
    one = {"a": "one", "b": "one"}
    topics = {"a": ["orders", "orders-copy"]}

    assert find_loops([flow("a->b", topics="orders", policy=policy)], one, topics) == {}
    assert find_loops([flow("a->b", policy=policy)], one, topics)["a->b"].keys() >= {"orders-copy"}


def test_names_that_grow_without_an_alias_are_found(flow: MakeFlow) -> None:
    flows = [
        flow("a->b", policy=renaming(rename="(.*) => from-a-$1")),
        flow("b->a", policy=renaming(rename="(.*) => from-b-$1")),
    ]

    refused = find_loops(flows, IDS, {"a": ["orders"]})

    assert "come back as" in refused["a->b"]["orders"]
    assert "from-a-orders" in refused["b->a"]


def test_names_with_different_separators_do_not_hide_a_circle(flow: MakeFlow) -> None:
    flows = [
        flow("a->b", policy=DEFAULT),
        flow("b->a", policy={**DEFAULT, "replication.policy.separator": "_"}),
    ]

    assert find_loops(flows, IDS, {"a": ["orders"]}).keys() == {"a->b", "b->a"}


def test_a_cluster_that_was_not_reached_is_known_by_its_alias(flow: MakeFlow) -> None:
    flows = [flow("a->b"), flow("b->a")]

    assert find_loops(flows, {"a": "id-a"}, {"a": ["orders"]}).keys() == {"a->b", "b->a"}


NOW = 10_000_000
OPPOSITE = ForeignFlow(
    name="eu->us",
    source_id="id-b",
    target_id="id-a",
    keeps_names=True,
    topics=frozenset({"orders", "refunds"}),
    at_ms=NOW - 1000,
    since_ms=NOW - 10_000,
)


def foreign(
    flow: FilteredFlow, other: ForeignFlow, *, waiting: tuple[str, ...] = ()
) -> dict[str, str]:
    return find_external_loops(
        flow, "id-a", "id-b", [other], now_ms=NOW, since_ms=NOW - 5000, waiting=waiting
    )


def test_what_another_process_brings_back_under_its_name_is_refused(flow: MakeFlow) -> None:
    refused = foreign(flow("a->b", topics="orders,products"), OPPOSITE)

    assert list(refused) == ["orders"]
    assert refused["orders"].startswith(
        "orders: not mirrored: the flow eu->us of another Heliograph mirrors it from b to a"
    )


@pytest.mark.parametrize(
    "harmless",
    [
        replace(OPPOSITE, source_id="id-c"),
        replace(OPPOSITE, target_id="id-c"),
        replace(OPPOSITE, keeps_names=False),
        replace(OPPOSITE, at_ms=NOW - FRESH_MS - 1),
        replace(OPPOSITE, topics=frozenset({"products"})),
        replace(OPPOSITE, since_ms=NOW - 4000),  # a newcomer: it is the one to wait
    ],
)
def test_other_flows_of_other_processes_are_harmless(flow: MakeFlow, harmless: ForeignFlow) -> None:
    assert foreign(flow("a->b", topics="orders"), harmless) == {}


def test_who_waits_goes_on_waiting_when_the_first_is_started_anew(flow: MakeFlow) -> None:
    anew = replace(OPPOSITE, since_ms=NOW - 1000)

    assert list(foreign(flow("a->b"), anew, waiting=("orders",))) == ["orders"]


def test_of_two_that_begin_at_once_exactly_one_waits(flow: MakeFlow) -> None:
    there = replace(OPPOSITE, since_ms=NOW)
    back = replace(there, source_id="id-a", target_id="id-b")

    one = find_external_loops(flow("a->b"), "id-a", "id-b", [there], now_ms=NOW, since_ms=NOW)
    other = find_external_loops(flow("b->a"), "id-b", "id-a", [back], now_ms=NOW, since_ms=NOW)

    assert bool(one) != bool(other)


def test_names_that_carry_the_alias_break_a_circle_with_another_process(flow: MakeFlow) -> None:
    assert foreign(flow("a->b", policy=DEFAULT), OPPOSITE) == {}


def java(flow: FilteredFlow, mirror: JavaMirror, on_source: set[str]) -> set[str]:
    return set(find_java_loops(flow, [mirror], on_source, NOW))


def test_what_a_java_mirror_brings_back_under_its_name_is_refused(flow: MakeFlow) -> None:
    mirror = JavaMirror(source_alias="b", topics={"orders": NOW, "old": NOW - FRESH_MS - 1})

    assert java(flow("a->b"), mirror, {"orders", "old"}) == {"orders"}


@pytest.mark.parametrize("remote", ["b.orders", "b_orders", "b__orders"])
def test_a_java_mirror_that_prefixes_is_harmless(flow: MakeFlow, remote: str) -> None:
    mirror = JavaMirror(source_alias="b", topics={"orders": NOW})

    assert java(flow("a->b"), mirror, {"orders", remote}) == set()


def test_a_java_mirror_from_elsewhere_is_harmless(flow: MakeFlow) -> None:
    mirror = JavaMirror(source_alias="c", topics={"orders": NOW})

    assert java(flow("a->b"), mirror, {"orders"}) == set()


def named(made: FilteredFlow, name: str) -> FilteredFlow:
    """As a connector of that name has it."""
    return FilteredFlow(replace(made.flow, name=name), made.topic_filter)


def test_connectors_with_the_same_aliases_for_other_clusters_are_told_apart(flow: MakeFlow) -> None:
    forth, back = named(flow("a->b"), "forth"), named(flow("b->a"), "back")
    ends = {"forth": {"a": "id-a", "b": "id-b"}, "back": {"b": "id-c", "a": "id-a"}}
    by_alias: dict[str, str | None] = {"a": "id-a", "b": "id-c"}
    topics = {"id-a": ["orders"]}

    assert find_loops([forth, back], by_alias, topics, ends) == {}

    again = named(flow("a->b"), "again")  # under the same aliases, and the other way round
    crossed = {"forth": ends["forth"], "again": {"a": "id-b", "b": "id-a"}}
    refused = find_loops([forth, again], {"a": "id-b", "b": "id-a"}, topics, crossed)
    assert refused.keys() == {"forth", "again"}


def test_aliases_that_stand_for_several_clusters_are_looked_into(flow: MakeFlow) -> None:
    flows = [named(flow("a->b", policy=DEFAULT), name) for name in ("one", "two")]
    apart = {"one": {"a": "id-a", "b": "id-b"}, "two": {"a": "id-a", "b": "id-c"}}

    assert may_loop(flows, {"a": "id-a", "b": "id-b"}, apart)
    assert not may_loop(flows, {"a": "id-a", "b": "id-b"})
