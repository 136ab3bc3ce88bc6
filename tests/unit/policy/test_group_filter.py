from __future__ import annotations

from heliograph.policy.group_filter import DefaultGroupFilter


def test_by_default_all_groups_are_followed_but_tools_and_connectors() -> None:
    groups = DefaultGroupFilter.of()

    assert groups.accepts("billing")
    assert not groups.accepts("console-consumer-4711")
    assert not groups.accepts("connect-sink")
    assert not groups.accepts("__admin")


def test_a_group_that_is_not_followed_has_a_reason() -> None:
    groups = DefaultGroupFilter.of(["bill.*"], ["billing-test"])

    assert groups.why_not("billing") is None
    assert groups.why_not("billing-test") == "groups.exclude matches: billing-test"
    assert groups.why_not("orders") == "groups does not match: bill.*"
    assert DefaultGroupFilter.of([], []).why_not("x") == "groups is empty, which matches nothing"
