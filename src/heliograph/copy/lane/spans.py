"""What the records of a source partition became, in order: how far the copy may count as done.

    source   0 ······ 99 │ 100 ···· 199 │ 200 ···· 299 │ 300 ····
    span       2 batches │ none: a mark │   1 batch    │
    open       1         │  0           │   0          │        done: 0, for the first span has an open batch

A chain may drop whole spans, and may write one span to several target partitions, which acknowledge in any
order. Law: `advance` never passes a span with an open batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Span:
    """`end`: the source offset after it. `open` batches are not mirrored yet; of those, `sent` are not
    acknowledged either (in a transaction, a batch is mirrored when that is committed). Without batches it is
    a mark. Not `live`: the copy has gone back since."""

    end: int
    open: int = 0
    sent: int = field(init=False)
    live: bool = True

    def __post_init__(self) -> None:
        self.sent = self.open


class Spans:
    """Part of a `LanePartition`; only the partition changes it."""

    def __init__(self) -> None:
        self._spans: deque[Span] = deque()

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[Span]:
        return iter(self._spans)

    def begin(self, span: Span) -> None:
        self._spans.append(span)

    def advance(self, done: int) -> int:
        """The source offset up to which everything is mirrored; `done` is the last answer."""
        while self._spans and not self._spans[0].open:
            done = self._spans.popleft().end
        return done

    def acknowledged(self, done: int) -> int:
        """As `advance`, once what was acknowledged is committed."""
        for span in self._spans:
            if span.sent:
                break
            done = span.end
        return done

    def drop(self) -> None:
        """The copy goes back: batches that are still acknowledged count no more."""
        for span in self._spans:
            span.live = False
        self._spans.clear()
