from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.plan.assignment import Assignable, assign, imbalance, relief

LOADS = st.lists(st.integers(0, 1000).map(float), max_size=60)
BINS = st.integers(1, 12)


def items(*loads: float, flow: str = "") -> list[Assignable[str]]:
    return [Assignable(key=f"{flow}{i}", load=load, flow=flow) for i, load in enumerate(loads)]


def sums(assigned: list[list[str]], loads: list[float]) -> list[float]:
    return [sum(loads[int(key)] for key in keys) for keys in assigned]


@given(LOADS, BINS)
def test_nothing_is_lost_and_nothing_doubled(loads: list[float], bins: int) -> None:
    assigned = assign(items(*loads), bins)

    assert len(assigned) == bins
    assert sorted(chain.from_iterable(assigned)) == sorted(str(i) for i in range(len(loads)))


@given(LOADS.filter(bool), BINS)
def test_no_bin_exceeds_the_average_by_more_than_one_item(loads: list[float], bins: int) -> None:
    assigned = assign(items(*loads), bins)

    assert max(sums(assigned, loads)) <= sum(loads) / bins + max(loads)


@given(st.integers(0, 100), st.sampled_from([0.0, 0.1, 7.0]), BINS)
def test_equal_loads_give_counts_that_differ_by_at_most_one(
    count: int, load: float, bins: int
) -> None:
    """MirrorSourceConnectorTest.testMirrorSourceConnectorTaskConfig; there, partitions in turn"""
    counts = [len(keys) for keys in assign(items(*[load] * count), bins)]

    assert max(counts) - min(counts) <= 1


@given(LOADS, BINS)
def test_the_same_input_gives_the_same_lists(loads: list[float], bins: int) -> None:
    assert assign(items(*loads), bins) == assign(items(*loads), bins)


def test_a_hot_partition_gets_a_bin_of_its_own() -> None:
    assert assign(items(100, 10, 10, 10), 2) == [["0"], ["1", "2", "3"]]


def test_partitions_of_unknown_load_level_out_the_counts() -> None:
    assigned = assign(items(100, 0, 0, 0, 0), 2)

    assert [len(keys) for keys in assigned] == [2, 3]


@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 99)), max_size=40), BINS)
def test_a_flow_is_in_no_more_bins_than_its_tasks_max(
    pairs: list[tuple[str, int]], bins: int
) -> None:
    mixed = [
        Assignable(key=f"{flow}{i}", load=float(load), flow=flow)
        for i, (flow, load) in enumerate(pairs)
    ]

    assigned = assign(mixed, bins, {"A": 2})

    assert sum(any(key.startswith("A") for key in keys) for keys in assigned) <= 2
    assert sum(map(len, assigned)) == len(pairs)


def test_no_bins_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="expected at least 1, found 0"):
        assign(items(1), 0)


def test_imbalance_is_the_busiest_over_the_average() -> None:
    loads = {"a": 3.0, "b": 1.0}

    assert imbalance(loads, [["a"], ["b"]]) == 1.5
    assert imbalance(loads, [["a", "b"], []]) == 2.0
    assert imbalance({}, [["a"], ["b"]]) == 1.0


def test_relief_says_what_packing_anew_would_bring() -> None:
    hot = items(10, 10, 1, 1)

    assert relief(hot, [["0", "1"], ["2", "3"]]) == pytest.approx(1 - 11 / 20)
    assert relief(hot, assign(hot, 2)) == 0.0
    assert relief(items(100, 1), [["0"], ["1"]]) == 0.0
