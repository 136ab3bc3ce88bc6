"""A partition of a lane on random walks: what counts as mirrored never passes a batch that is on its way."""

from __future__ import annotations

from collections import deque

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from heliograph.copy.lane.partition import LaneBatch, LanePartition
from heliograph.copy.lane.spans import Span
from heliograph.model import Lease, TopicPartition

TARGETS = [TopicPartition("a.t", 0), TopicPartition("away", 0), TopicPartition("quarantine", 0)]


class Walk(RuleBasedStateMachine):
    """Each record of the source is somewhere: dropped, in a batch on its way to one of three queues, or
    mirrored. Queues are acknowledged in any order between them."""

    def __init__(self) -> None:
        super().__init__()
        lease = Lease(flow="a->b", topic="t", partition=0, target_topic="a.t", start=0)
        self.copy = LanePartition(lease)
        self.copy.recovered()
        self.queues: dict[TopicPartition, deque[LaneBatch]] = {each: deque() for each in TARGETS}
        self.dropped: set[int] = set()
        self.mirrored: set[int] = set()
        self.acked = 0

    @rule(length=st.integers(1, 5), data=st.data())
    def fetch(self, length: int, data: st.DataObject) -> None:
        first = self.copy.position
        span = Span(first + length)
        batches: dict[TopicPartition, list[int]] = {}
        for offset in range(first, first + length):
            target = data.draw(st.sampled_from([None, *TARGETS]))
            if target is None:
                self.dropped.add(offset)
            else:
                batches.setdefault(target, []).append(offset)
        span.open = span.sent = len(batches)
        self.copy.carry([span])
        for target, offsets in batches.items():
            runs = tuple((offset, 1) for offset in offsets)
            batch = LaneBatch(
                memoryview(b""), len(runs), offsets[0], span.end, runs, owner=self.copy, span=span
            )
            self.queues[target].append(batch)

    @precondition(lambda self: any(self.queues.values()))
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        ready = [target for target, queue in self.queues.items() if queue]
        target = data.draw(st.sampled_from(ready))
        batch = self.queues[target].popleft()
        self.copy.sent(batch)
        self.copy.landed(batch, -1, 1.0)
        self.mirrored |= {offset for offset, _ in batch.runs or ()}

    @rule(queue=st.sampled_from(TARGETS))
    def refuse(self, queue: TopicPartition) -> None:
        """Its queue is dropped; the others go on, and their answers still come."""
        self.queues[queue].clear()
        self.copy.refused(in_doubt=True)
        self.copy.recovered()

    @rule()
    def abort(self) -> None:
        for queue in self.queues.values():
            queue.clear()
        self.copy.aborted()

    @invariant()
    def nothing_is_lost(self) -> None:
        done = set(range(self.copy.acked))
        assert done <= self.mirrored | self.dropped

    @invariant()
    def it_never_goes_back_behind_what_counts(self) -> None:
        assert self.acked <= self.copy.acked <= self.copy.position
        self.acked = self.copy.acked

    @invariant()
    def what_a_transaction_would_store_is_acknowledged(self) -> None:
        assert set(range(self.copy.committing)) <= self.mirrored | self.dropped

    @invariant()
    def at_rest_everything_counts(self) -> None:
        if not self.copy.outstanding:
            assert self.copy.acked == self.copy.position
            assert not len(self.copy.spans)


TestWalk = Walk.TestCase
TestWalk.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


def lane_partition() -> LanePartition:
    copy = LanePartition(Lease(flow="a->b", topic="t", partition=0, target_topic="a.t", start=0))
    copy.recovered()
    return copy


def test_a_mark_passes_a_filtered_span_once_what_came_before_it_is_acknowledged() -> None:
    copy, first = lane_partition(), Span(10, 1)
    batch = LaneBatch(memoryview(b""), 10, 0, 10, owner=copy, span=first)

    copy.carry([first, Span(20), Span(30)])
    assert (copy.position, copy.acked) == (30, 0)

    copy.sent(batch)
    assert (copy.committing, copy.acked) == (30, 0), "acknowledged, and not committed yet"
    copy.landed(batch, 0, 1.0)
    assert copy.acked == 30


def test_an_answer_to_what_was_sent_before_going_back_counts_for_nothing() -> None:
    copy, span = lane_partition(), Span(10, 1)
    late = LaneBatch(memoryview(b""), 10, 0, 10, owner=copy, span=span)
    copy.carry([span])
    copy.refused()
    copy.recovered()
    copy.carry([Span(10, 1)])

    copy.landed(late, 0, 1.0)

    assert (copy.acked, copy.outstanding, copy.tally.records) == (0, 1, 0)
