"""When a sync is due: the cases of MM2's tests, and runs against records one by one."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_policy import BURST, OffsetSyncPolicy, PartitionSyncs
from heliograph.model import TopicPartition

TP = TopicPartition("topic", 0)
SEQUENCE = [
    (0, 100), (2, 102), (3, 152), (4, 153), (5, 154), (6, 203), (7, 204), (2, 206), (3, 207), (4, 3),
    (5, 4), (7, 6), (7, 6), (8, 7), (10, 57), (11, 58),
]  # fmt: skip


def test_a_sync_is_due_with_lag_50() -> None:
    """MirrorSourceTaskTest.testOffsetSync; there, the flag of (7, 6) is still up at (8, 7)."""
    state = PartitionSyncs()

    due = [state.update(*offsets, 50) for offsets in SEQUENCE]

    assert due == [
        True,  # always on the first update
        True,  # upstream offset skipped
        False,
        True,  # one past the target offset
        False, False,
        True,  # one past the target offset
        True,  # upstream reset
        False,
        True,  # downstream reset
        False,
        True, True,
        False,
        True,
        False,
    ]  # fmt: skip


def test_every_record_is_due_with_lag_0() -> None:
    """MirrorSourceTaskTest.testZeroOffsetSync"""
    state = PartitionSyncs()

    assert all(state.update(*offsets, 0) for offsets in SEQUENCE)


def test_a_due_sync_is_pending_and_others_are_delayed() -> None:
    """OffsetSyncWriterTest.testMaybeQueueOffsetSyncs"""
    policy = OffsetSyncPolicy(lag_max=2)

    policy.acknowledged(TP, 0, 1)
    assert TP not in policy.delayed
    assert TP in policy.pending

    policy.acknowledged(TP, 1, 2)
    assert TP in policy.delayed


def test_no_more_syncs_are_sent_than_there_are_permits() -> None:
    """OffsetSyncWriterTest.testFirePendingOffsetSyncs"""
    policy = OffsetSyncPolicy(lag_max=1)
    policy.acknowledged(TP, 0, 100)
    assert list(policy.take(1)) == [OffsetSync("topic", 0, 0, 100)]

    policy.acknowledged(TP, 2, 102)
    assert list(policy.take(0)) == []

    policy.acknowledged(TopicPartition("other", 0), 7, 7)
    policy.acknowledged(TP, 4, 104)  # the newer one takes the older one's place in the queue
    assert policy.pending[TP] == OffsetSync("topic", 0, 4, 104)
    assert list(policy.take(1)) == [OffsetSync("topic", 0, 2, 102), OffsetSync("topic", 0, 4, 104)]
    assert list(policy.take(10)) == [OffsetSync("other", 0, 7, 7)]


def test_a_commit_makes_delayed_syncs_pending() -> None:
    """OffsetSyncWriterTest.testPromoteDelayedOffsetSyncs"""
    policy = OffsetSyncPolicy(lag_max=50)
    policy.acknowledged(TP, 0, 100)
    policy.acknowledged(TP, 1, 101)

    policy.promote()

    assert policy.delayed == {}
    assert policy.pending == {TP: OffsetSync("topic", 0, 1, 101)}


def test_what_is_sent_at_once_is_not_sent_again_with_the_commit() -> None:
    policy = OffsetSyncPolicy(lag_max=100)
    policy.acknowledged(TP, 0, 0, 102)  # 0 and 101 are due

    assert list(policy.take(10)) == [OffsetSync("topic", 0, n, n) for n in (0, 101)]
    policy.promote()
    assert policy.pending == {}


RUNS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.integers(-3, 3) | st.integers(-500, 500),  # from where the last run ended, upstream
        st.integers(-3, 3) | st.integers(-500, 500),  # and downstream
        st.integers(1, 300),
    ),
    max_size=12,
)


@given(RUNS, st.integers(-1, 5) | st.integers(0, 400), st.sets(st.integers(0, 11)))
def test_a_run_is_the_same_as_its_records_one_by_one(
    runs: list[tuple[str, int, int, int]], lag_max: int, commits: set[int]
) -> None:
    whole, single = OffsetSyncPolicy(lag_max), OffsetSyncPolicy(lag_max)
    ends = {"a": (0, 0), "b": (0, 0)}
    for number, (topic, skip_up, skip_down, count) in enumerate(runs):
        upstream = max(ends[topic][0] + skip_up, 0)
        downstream = max(ends[topic][1] + skip_down, 0)
        ends[topic] = (upstream + count, downstream + count)
        partition = TopicPartition(topic, 0)

        whole.acknowledged(partition, upstream, downstream, count)
        for index in range(count):
            single.acknowledged(partition, upstream + index, downstream + index)
        if number in commits:
            whole.promote()
            single.promote()

        assert list(whole.pending.items()) == list(single.pending.items())
        assert list(whole.delayed.items()) == list(single.delayed.items())


@given(RUNS, st.integers(-1, 5) | st.integers(0, 400))
def test_those_due_within_a_run_are_those_due_one_by_one(
    runs: list[tuple[str, int, int, int]], lag_max: int
) -> None:
    whole, single = PartitionSyncs(), PartitionSyncs()
    upstream = downstream = 0
    for _, skip_up, skip_down, count in runs:
        upstream, downstream = max(upstream + skip_up, 0), max(downstream + skip_down, 0)

        due = list(whole.update_run(upstream, downstream, count, lag_max))

        indexes = range(count)
        assert due == [i for i in indexes if single.update(upstream + i, downstream + i, lag_max)]
        upstream, downstream = upstream + count, downstream + count


def test_some_of_those_that_were_due_in_between_go_along() -> None:
    policy = OffsetSyncPolicy(lag_max=10)

    policy.acknowledged(TP, 0, 0, 1000)
    policy.acknowledged(TP, 1000, 1000, 1000)

    sent = [sync.upstream for sync in policy.take(1)]
    assert len(sent) <= BURST + 1
    assert sent[0] == 0
    assert sent[-1] == 1991
    assert all(b - a <= 300 for a, b in pairwise(sent))
