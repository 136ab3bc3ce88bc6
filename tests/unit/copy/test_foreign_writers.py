"""When a gap between our transactions is reported as another writer's."""

from __future__ import annotations

from typing import Any

import pytest

from heliograph.copy import foreign_writers as strangers
from heliograph.copy.foreign_writers import ForeignWriterDetector
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import ClientError
from heliograph.model import Lease

LEASE = Lease(flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=0)


class Rig:
    """Looks that find what `answer` says, and what was told of strangers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: int | ClientError) -> None:
        self.copy = Partition(LEASE)
        self.told: list[tuple[int, int]] = []
        self.looks = 0
        self._answer = answer
        monkeypatch.setattr(strangers, "records_in", self._records_in)
        found = lambda _, records, end: self.told.append((records, end))  # noqa: E731
        self.strangers = ForeignWriterDetector(None, found)  # type: ignore[arg-type]

    def _records_in(self, _: Any, ranges: Any) -> Any:
        self.looks += 1
        if isinstance(self._answer, ClientError):
            raise self._answer
        return dict.fromkeys(ranges, self._answer)

    def look(self) -> None:
        now = 0.0
        while self.strangers.due(now):
            self.strangers.look(now)
            now += 60


@pytest.mark.parametrize(("records", "told"), [(0, []), (3, [(3, 14)])])
def test_a_small_gap_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, records: int, told: list[tuple[int, int]]
) -> None:
    rig = Rig(monkeypatch, records)
    rig.strangers.suspect(rig.copy, Foreign(range(10, 14), markers=1))

    rig.look()

    assert (rig.looks, rig.told) == (1, told)


def test_a_large_gap_needs_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch, 0)
    rig.strangers.suspect(rig.copy, Foreign(range(10, 111), markers=1))

    assert (rig.looks, rig.told) == (0, [(100, 111)])


def test_a_gap_that_can_never_be_looked_at_counts_but_for_our_own_marker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(monkeypatch, ClientError("the target is away"))
    rig.strangers.suspect(rig.copy, Foreign(range(10, 14), markers=1))

    rig.look()

    assert (rig.looks, rig.told) == (10, [(3, 14)])
