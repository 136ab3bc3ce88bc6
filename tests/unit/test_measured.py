from __future__ import annotations

import json
import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from heliograph.measured import BOUNDS, BatchCounts, ClientReport, Stopwatch, Times
from support.snapshots import times

SECONDS = st.lists(st.floats(0, 10_000), max_size=20)


@given(SECONDS, SECONDS)
def test_the_sum_of_two_measurements_is_the_measurement_of_all(
    one: list[float], other: list[float]
) -> None:
    both, whole = times(*one).plus(times(*other)), times(*one, *other)

    assert both._replace(total=0.0, last=0.0) == whole._replace(total=0.0, last=0.0)
    assert math.isclose(both.total, whole.total, abs_tol=1e-6)


def test_a_bound_belongs_to_its_bucket_and_what_is_longer_to_the_last() -> None:
    found = times(*BOUNDS, BOUNDS[-1] + 1)

    assert found.buckets == (1,) * (len(BOUNDS) + 1)


def test_extremes_start_anew_when_they_were_taken() -> None:
    watch = Stopwatch()
    watch.note(1.0)
    assert watch.take().is_news
    assert not watch.take().is_news

    watch.note(3.0, 2)
    assert (watch.read().least, watch.read().most, watch.read().count) == (3.0, 3.0, 3)


@given(SECONDS)
def test_times_are_the_same_behind_json(seconds: list[float]) -> None:
    found = times(*seconds)

    assert Times.of(json.loads(json.dumps(found.row()))) == found


def test_without_buckets_the_rest_is_measured() -> None:
    watch = Stopwatch(distributed=False)
    watch.note(2.0, 3)
    found = watch.read()

    assert (found.count, found.total, sum(found.buckets)) == (3, 6.0, 0)
    assert Times.of(json.loads(json.dumps(found.row()))) == found


def test_batches_are_added_kind_by_kind() -> None:
    assert BatchCounts(1, 2, 3, 4, 5).plus(BatchCounts(10, 20, 30, 40, 50)) == (11, 22, 33, 44, 55)


def test_of_several_clients_the_first_certificate_to_expire_counts() -> None:
    bare = ClientReport(cluster="a")
    one = replace(bare, broker_certificate_ends=200.0, client_certificate_ends=300.0)
    other = replace(bare, broker_certificate_ends=100.0)
    for both in (one.plus(other), other.plus(one), one.plus(other).plus(bare)):
        assert (both.broker_certificate_ends, both.client_certificate_ends) == (100.0, 300.0)
    assert bare.plus(bare) == bare
    assert one.ended() == bare
