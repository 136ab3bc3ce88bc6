"""Known offsets are used for the topics with their ids, and not for others with the same names."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.known_offsets import KnownOffsets
from heliograph.mm2.offset_map import OffsetRange
from heliograph.mm2.offset_map_segments import merge_segments
from heliograph.mm2.offset_sync import OffsetSync, origin_headers, read_origin
from heliograph.mm2.state_records import OffsetMapSegment, segments_of
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.model import TopicIdPair, TopicPartition

P = TopicPartition("t", 0)
OLD, NEW = TopicIdPair("s", "t1"), TopicIdPair("s", "t2")


def known(*, logs: TopicIdPair | None = None) -> KnownOffsets:
    made = KnownOffsets()
    made.begin_syncs(must_read_to_end=False)
    made.syncs_reached_end()
    if logs is not None:
        made.set_logs("t", logs)
    return made


def sync(upstream: int, downstream: int) -> OffsetSync:
    return OffsetSync(*P, upstream, downstream)


def test_another_remote_topic_makes_all_that_was_known_of_the_old_one_void() -> None:
    offsets = known(logs=OLD)
    offsets.learn(P, OLD, OffsetRange(0, 0, 1000))
    offsets.learn(P, OLD, sync(999, 999))
    before = offsets.versions[P]

    offsets.set_logs("t", NEW)

    assert offsets.translate(P, 500) is None
    assert offsets.versions[P] > before


def test_what_names_no_topics_is_void_with_the_topics_it_was_learnt_under() -> None:
    offsets = known(logs=OLD)
    offsets.learn(P, TopicIdPair(), sync(500, 500))
    offsets.set_logs("t", NEW)
    assert offsets.translate(P, 500) is None

    offsets.learn(P, TopicIdPair(), sync(1000, 0))
    assert offsets.translate(P, 1000) == 0


def test_a_late_word_about_the_old_topic_is_not_believed() -> None:
    offsets = known(logs=NEW)
    offsets.learn(P, NEW, OffsetRange(1000, 0, 100))
    offsets.learn(P, OLD, sync(999, 999))
    offsets.learn(P, OLD, OffsetRange(0, 0, 1000))

    assert offsets.translate(P, 1050) == 50
    assert offsets.translate(P, 500) is None


def test_an_early_word_about_a_topic_that_brokers_have_not_told_of_waits_for_them() -> None:
    offsets = known(logs=OLD)
    offsets.learn(P, NEW, OffsetRange(1000, 0, 50))
    offsets.learn(P, NEW, OffsetRange(1050, 50, 50))
    assert offsets.translate(P, 1050) is None

    offsets.set_logs("t", NEW)

    assert offsets.translate(P, 1050) == 50


def test_two_words_about_different_topics_are_put_to_the_brokers() -> None:
    for found, at_500, at_1050 in ((NEW, None, 50), (OLD, 500, 1000)):
        offsets = known()
        offsets.learn(P, OLD, OffsetRange(0, 0, 1000))
        offsets.learn(P, NEW, OffsetRange(1000, 0, 100))
        assert offsets.unknown_topics == {"t"}

        offsets.set_logs("t", found)

        assert offsets.translate(P, 500) == at_500
        assert offsets.translate(P, 1050) == at_1050


def test_where_brokers_do_not_tell_the_newest_word_counts() -> None:
    offsets = known()
    offsets.learn(P, OLD, OffsetRange(0, 0, 1000))
    offsets.learn(P, NEW, OffsetRange(1000, 0, 100))

    offsets.set_logs("t", TopicIdPair())

    assert offsets.translate(P, 500) is None
    assert offsets.translate(P, 1050) == 50


def test_an_id_that_is_not_told_just_now_changes_nothing() -> None:
    offsets = known(logs=OLD)
    offsets.learn(P, OLD, OffsetRange(0, 0, 1000))
    offsets.set_logs("t", TopicIdPair("s", None))
    offsets.set_logs("t", OLD)

    assert offsets.translate(P, 500) == 500


def test_another_source_topic_makes_what_was_known_void_as_well() -> None:
    offsets = known(logs=OLD)
    offsets.learn(P, OLD, OffsetRange(0, 0, 1000))

    offsets.set_logs("t", TopicIdPair("s2", "t1"))

    assert offsets.translate(P, 10) is None


def test_a_sync_that_stands_before_older_ones_on_the_target_makes_them_void() -> None:
    """As MirrorMaker 2 continues after the remote topic was created again; its syncs have no topic ids."""
    offsets = known()
    for upstream, downstream in ((0, 0), (500, 500), (999, 999), (1000, 0)):
        offsets.learn(P, TopicIdPair(), sync(upstream, downstream))

    assert offsets.translate(P, 500) == -1
    assert offsets.translate(P, 1000) == 0


def test_syncs_before_the_place_where_a_target_was_truncated_stay() -> None:
    store = OffsetSyncStore(must_read_to_end=False)
    for upstream, downstream in ((0, 0), (500, 500), (999, 999)):
        store.apply(sync(upstream, downstream))

    assert store.retreat(sync(1000, 700))
    store.apply(sync(1000, 700))
    store.reached_end()

    assert store.translate(P, 999) == 501
    assert not store.retreat(sync(1001, 701))


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("copy"), st.integers(1, 50)),
            st.tuples(st.just("late"), st.integers(1, 50)),
            st.tuples(st.just("look"), st.just(0)),
            st.tuples(st.just("recreate"), st.just(0)),
        ),
        max_size=30,
    ),
    st.booleans(),
)
def test_no_translation_is_ahead_in_the_log_of_today_however_often_it_was_created_again(
    steps: list[tuple[str, int]], exact: bool
) -> None:
    offsets = known(logs=TopicIdPair("s", "0"))
    log, upstream, first, downstream = 0, 0, 0, 0
    history: list[tuple[TopicIdPair, OffsetRange]] = []
    make: Callable[[OffsetRange], OffsetRange | OffsetSync] = (
        (lambda s: s) if exact else (lambda s: sync(s.upstream, s.downstream))
    )
    for step, count in steps:
        if step == "copy":
            each = OffsetRange(upstream, downstream, count)
            history.append((TopicIdPair("s", str(log)), each))
            offsets.learn(P, TopicIdPair("s", str(log)), make(each))
            upstream, downstream = upstream + count, downstream + count
        elif step == "late" and history:
            origin, each = history[count % len(history)]
            if origin.target != str(log):
                offsets.learn(P, origin, make(each))
        elif step == "look":
            offsets.set_logs("t", TopicIdPair("s", str(log)))
        elif step == "recreate":
            log, first, downstream = log + 1, upstream, 0
    offsets.set_logs("t", TopicIdPair("s", str(log)))
    for at in range(upstream + 1):
        found = offsets.translate(P, at)
        truth = max(at - first, 0)
        assert found is None or found <= truth, (at, found, truth)


def test_segments_of_other_topics_are_dropped_and_taken_out_of_the_state_topic() -> None:
    segments = [
        *segments_of(P, [OffsetRange(0, 0, 1000)], OLD),
        *segments_of(P, [OffsetRange(1000, 0, 9)], NEW),
    ]

    for logs in ({"t": NEW}, {}):
        loaded = merge_segments(segments, logs)
        assert list(loaded.offset_maps[P]) == [OffsetRange(1000, 0, 9)]
        assert loaded.origins[P] == NEW
        assert OffsetMapSegment(topic_partition=P, first=0, ranges=()) in loaded.rewrites

    assert list(merge_segments(segments, {"t": OLD}).offset_maps[P]) == [OffsetRange(0, 0, 1000)]


def test_a_sync_names_its_topics_in_a_header() -> None:
    for origin in (
        TopicIdPair("s", "t"),
        TopicIdPair(None, "t"),
        TopicIdPair("s", None),
        TopicIdPair(),
    ):
        assert read_origin(origin_headers(origin)) == origin
    for strange in (None, b"", b"no", b"\xff\xfe"):
        assert read_origin(((b"heliograph.origin", strange),)) == TopicIdPair()
