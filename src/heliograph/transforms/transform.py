"""What a transformation is: it changes the records of `rows` that were chosen, all of them in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from heliograph.transforms.failures import RecordFailed, only_maps
from heliograph.transforms.json_document import Document
from heliograph.transforms.rows import Rows, Side

#: Rows that failed, and why.
Failed = list[tuple[int, RecordFailed]]


class Transform(Protocol):
    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        """Changes `rows`; records that fail are returned and may be half changed."""


class Predicate(Protocol):
    def test(self, rows: Rows, row: int) -> bool: ...


def each(chosen: Sequence[int], change: Callable[[int], None]) -> Failed:
    failed: Failed = []
    for row in chosen:
        try:
            change(row)
        except RecordFailed as problem:
            failed.append((row, problem))
    return failed


def each_map(
    rows: Rows,
    side: Side,
    chosen: Sequence[int],
    purpose: str,
    change: Callable[[Document, int], None],
    *,
    null_passes: bool = True,
    whole: bool = False,
) -> Failed:
    """Calls `change` for keys or values that are objects; others fail, null only if it may not pass. `whole`
    as in `Rows.document`."""

    def one(row: int) -> None:
        document = rows.document(side, row, whole=whole)
        if document is None or document.is_null:
            if not null_passes:
                raise only_maps(None, purpose)
        elif not document.is_object:
            raise only_maps(document.value, purpose)
        else:
            change(document, row)

    return each(chosen, one)
