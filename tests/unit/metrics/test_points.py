"""Samples as points of OpenTelemetry's data model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.measured import BOUNDS, Stopwatch
from heliograph.metrics.families import Families
from heliograph.metrics.points import Point, Points, read_labels
from heliograph.metrics.table import Kind, Metric

LATENCY = Metric("heliograph_latency_seconds", Kind.HISTOGRAM, "seconds", "Latency", ("flow",))
RECORDS = Metric("heliograph_records_total", Kind.COUNTER, "records", "Records", ("flow", "topic"))


@given(flow=st.text(), topic=st.text(), constant=st.text())
def test_labels_are_read_as_they_were_written(flow: str, topic: str, constant: str) -> None:
    families = Families((("team", constant),))
    families.of(RECORDS).add((flow, topic), 1)

    ((_, text, _),) = families.all()[0].samples

    assert read_labels(text) == {"flow": flow, "topic": topic, "team": constant}


def test_a_counter_has_its_name_without_total_and_a_label_that_is_left_out() -> None:
    families = Families()
    families.of(RECORDS).add(("a->b", None), 42)

    (series,) = Points().series(families.all())

    assert (series.name, series.unit, series.counts) == ("heliograph_records", "{records}", True)
    assert series.points == (Point({"flow": "a->b"}, 42),)


def test_a_histogram_has_the_counts_of_each_bucket() -> None:
    watch = Stopwatch()
    for seconds in (BOUNDS[0], BOUNDS[1], BOUNDS[1], 10 * BOUNDS[-1]):
        watch.note(seconds)
    families = Families()
    families.of(LATENCY).add_times(("a->b",), watch.take())

    (series,) = Points().series(families.all())

    (buckets,) = series.buckets
    assert (series.unit, buckets.attributes, buckets.bounds) == ("s", {"flow": "a->b"}, BOUNDS)
    assert buckets.counts[:2] == (1, 2)
    assert buckets.counts[-1] == 1
    assert sum(buckets.counts) == 4
