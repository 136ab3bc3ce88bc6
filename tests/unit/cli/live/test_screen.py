"""The reader's choices in the live view: keys in, another view out."""

from __future__ import annotations

import pytest

from heliograph.cli.live.screen import ClusterHealth, Sort, TopicRow, View


def topic(name: str, **values: object) -> TopicRow:
    given = {"records_per_second": 0.0, "bytes_per_second": 0.0, "lag": 0, **values}
    return TopicRow(flow="us->eu", topic=name, partitions=1, records=0, **given)  # type: ignore[arg-type]


def pressed(keys: str, view: View | None = None) -> View:
    view = view or View()
    for key in keys:
        view = view.press(key)
    return view


def names(view: View, *topics: TopicRow) -> list[str]:
    return [each.topic for each in view.chosen(topics)]


def test_q_quits_and_p_holds_the_screen_until_it_is_pressed_again() -> None:
    assert pressed("q").quit
    assert pressed("p").held
    assert not pressed("pp").held


def test_s_goes_through_all_orders_and_back() -> None:
    assert [pressed("s" * n).sort for n in range(4)] == [*Sort, Sort.RATE]


def test_a_filter_is_typed_kept_and_ended() -> None:
    typing = pressed("/ordq")  # q is a letter of the filter

    assert (typing.typing, typing.filter, typing.quit) == (True, "ordq", False)
    assert pressed("\x7f", typing).filter == "ord"
    kept = pressed("\r", typing)
    assert (kept.typing, kept.filter) == (False, "ordq")
    assert pressed("\x1b", kept).filter == ""
    assert pressed("\x1b", typing) == View()


def test_help_is_shown_until_the_next_question_mark() -> None:
    assert pressed("?").help
    assert not pressed("??").help


@pytest.mark.parametrize("key", ["x", "\x1b[A", "Q", " "])
def test_other_keys_change_nothing(key: str) -> None:
    assert View().press(key) == View()


def test_troubled_topics_come_first_in_every_order() -> None:
    topics = (
        topic("busy", records_per_second=9.0),
        topic("late", lag=7),
        topic("torn", trouble="RETRYING 0: no answer"),
    )

    assert names(View(), *topics) == ["torn", "busy", "late"]
    assert names(View(sort=Sort.LAG), *topics) == ["torn", "late", "busy"]
    assert names(View(sort=Sort.NAME), *topics) == ["torn", "busy", "late"]


def test_a_filter_leaves_topics_that_contain_it_in_any_case() -> None:
    assert names(View(filter="ORD"), topic("orders"), topic("payments")) == ["orders"]


@pytest.mark.parametrize(
    ("health", "words"),
    [
        (ClusterHealth(alias="us"), "connecting"),
        (ClusterHealth(alias="us", error="refused"), "connecting (refused)"),
        (ClusterHealth(alias="us", reached=True), "ok"),
        (ClusterHealth(alias="us", reached=True, silent_seconds=1.0), "ok"),
        (ClusterHealth(alias="us", reached=True, silent_seconds=4.2), "no answer for 4 s"),
    ],
)
def test_a_clusters_health_in_words(health: ClusterHealth, words: str) -> None:
    assert health.words == words
