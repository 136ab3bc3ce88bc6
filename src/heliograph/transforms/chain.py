"""A chain of transformations over the records of one partition.

columns ──► rows ──► stage ──► stage ──► … ──► columns of each topic, failures
                     │ predicate: which records it applies to
                     └ a record that fails or is dropped leaves the chain
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heliograph.records.columns import ByteColumn, Columns
from heliograph.transforms.rows import Failure, Headers, Rows
from heliograph.transforms.transform import Predicate, Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`alias`: the name in `transforms`. With `negate` it applies where the predicate is false."""

    alias: str
    transform: Transform
    predicate: Predicate | None = None
    negate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformed:
    """Records by the topic that they go to, each with the offset it has on the source. `dropped` counts
    records that a filter dropped. Rows of `failures` count the columns that entered."""

    topics: dict[str, Columns]
    dropped: int
    failures: tuple[Failure, ...]


def run(stages: tuple[Stage, ...], rows: Rows) -> int:
    """Takes the rows through all stages; returns how many were dropped."""
    before = len(rows.live)
    for stage in stages:
        chosen = rows.live
        if stage.predicate is not None:
            test = stage.predicate.test
            chosen = [row for row in chosen if test(rows, row) != stage.negate]
        failed = stage.transform.apply(rows, chosen)
        for row, problem in failed:
            rows.fail(row, stage.alias, problem)
        if failed:
            rows.drop([row for row, _ in failed])
    return before - len(rows.live) - len(rows.failures)


def transform(
    stages: tuple[Stage, ...], columns: Columns, *, topic: str, partition: int
) -> Transformed:
    """`topic`: the remote topic, which MirrorMaker's transformations see, too."""
    rows = Rows.of(columns, topic, partition)
    headers = list(rows.headers)
    dropped = run(stages, rows)
    by_topic: dict[str, list[int]] = {}
    for row in rows.live:
        by_topic.setdefault(rows.topic[row], []).append(row)
    return Transformed(
        topics={
            name: _columns(rows, chosen, columns, headers) for name, chosen in by_topic.items()
        },
        dropped=dropped,
        failures=tuple(rows.failures),
    )


def _columns(rows: Rows, chosen: list[int], columns: Columns, headers: list[Headers]) -> Columns:
    """Those of the records that did not change stay as they were fetched."""
    mask = np.zeros(len(columns), np.bool_)
    mask[chosen] = True
    kept = columns.keep(mask)
    changed = np.fromiter(
        (
            rows.is_changed("Key", row)
            or rows.is_changed("Value", row)
            or rows.headers[row] is not headers[row]
            for row in chosen
        ),
        np.bool_,
        len(chosen),
    )
    if not changed.any():
        return kept
    pairs = [header for row in chosen for header in rows.headers[row]]
    return kept.changed(
        changed,
        key=rows.column("Key", chosen),
        value=rows.column("Value", chosen),
        header_count=np.fromiter((len(rows.headers[r]) for r in chosen), np.int64, len(chosen)),
        name=ByteColumn.of([name for name, _ in pairs]),
        content=ByteColumn.of([content for _, content in pairs]),
    )
