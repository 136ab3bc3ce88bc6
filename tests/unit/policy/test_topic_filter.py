from __future__ import annotations

import pytest

from heliograph.errors import InvalidPattern
from heliograph.policy.topic_filter import DefaultTopicFilter


def test_by_default_all_but_internal_and_replica_topics_are_accepted() -> None:
    topics = DefaultTopicFilter.of()

    assert topics.accepts("orders")
    assert topics.accepts("billing.internal")
    assert not topics.accepts("mm2-offsets.us.internal")
    assert not topics.accepts("orders.replica")
    assert not topics.accepts("__consumer_offsets")


def test_exclusion_wins_over_inclusion() -> None:
    topics = DefaultTopicFilter.of(["orders.*"], ["orders-test"])

    assert topics.accepts("orders-eu")
    assert topics.why_not("orders-test") == "topics.exclude matches: orders-test"
    assert topics.why_not("products") == "topics does not match: orders.*"


def test_no_topics_match_nothing_and_no_exclude_excludes_nothing() -> None:
    assert (
        DefaultTopicFilter.of([], []).why_not("orders") == "topics is empty, which matches nothing"
    )
    assert DefaultTopicFilter.of([".*"], []).accepts("__consumer_offsets")


def test_the_items_of_a_list_form_one_pattern_as_in_mm2() -> None:
    torn_apart_by_the_comma = DefaultTopicFilter.of(["(orders", "products)-eu"], [])

    assert torn_apart_by_the_comma.accepts("products-eu")
    assert DefaultTopicFilter.of(["(?i)a", "b"], []).accepts("B")


def test_a_bad_pattern_is_refused_when_the_filter_is_made() -> None:
    with pytest.raises(InvalidPattern, match=r"'ok\|foo\(': missing \), at character 8"):
        DefaultTopicFilter.of(["ok", "foo("])
