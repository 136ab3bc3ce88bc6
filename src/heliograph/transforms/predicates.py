"""TopicNameMatches, HasHeaderKey and RecordIsTombstone; and Filter, which drops what a predicate chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.policy.java_regex import JavaPattern
from heliograph.transforms.rows import Rows
from heliograph.transforms.transform import Failed


@dataclass(frozen=True, slots=True)
class TopicNameMatches:
    pattern: JavaPattern

    def test(self, rows: Rows, row: int) -> bool:
        return self.pattern.matches(rows.topic[row])


@dataclass(frozen=True, slots=True)
class HasHeaderKey:
    name: bytes

    def test(self, rows: Rows, row: int) -> bool:
        return any(name == self.name for name, _ in rows.headers[row])


@dataclass(frozen=True, slots=True)
class RecordIsTombstone:
    def test(self, rows: Rows, row: int) -> bool:
        return rows.is_null("Value", row)


@dataclass(frozen=True, slots=True)
class Filter:
    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        rows.drop(chosen)
        return []
