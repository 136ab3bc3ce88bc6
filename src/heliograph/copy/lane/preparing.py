"""Turns a fetch into the batches of a lane: selected ► decoded ► chain ► encoded, in spans. Pure."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from heliograph.copy.lane.chain import Applied, Chain, ChainBroken
from heliograph.copy.lane.decoding import Decoded, Decoder
from heliograph.copy.lane.encoding import Encoded, encode_batches
from heliograph.copy.lane.partition import LaneBatch, LanePartition
from heliograph.copy.lane.spans import Span
from heliograph.copy.prepare_batches import selection_of
from heliograph.errors import CorruptRecords, HeliographError, RecordRejected
from heliograph.measured import NO_BATCHES, BatchCounts
from heliograph.mm2.quarantine import Oversize, Quarantined, Untransformed
from heliograph.model import OnError, TopicPartition
from heliograph.records.columns import Columns
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from heliograph.records.select import Selection
from heliograph.wire.fetch import FetchedPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Of one flow. `quarantine`: where coordinates go, None if neither policy asks for it. `most(topic)`: the
    largest batch that a remote topic takes, as far as that is known."""

    flow: str
    chain: Chain
    on_error: OnError
    quarantine: TopicPartition | None
    quarantines_oversize: bool
    append_time: bool
    most: Callable[[str], int | None]


@dataclass(slots=True)
class Carried:
    """`batches` are to be sent, in order, if `spans` are carried. `failure`: why the rest was not processed;
    `skipped` records failed under on.error = skip, for the reason `why`."""

    spans: list[Span] = field(default_factory=list)
    batches: list[tuple[TopicPartition, LaneBatch]] = field(default_factory=list)
    failure: HeliographError | None = None
    skipped: int = 0
    why: str = ""
    counts: BatchCounts = NO_BATCHES
    epochs: tuple[tuple[int, int], ...] = ()


def carry(copy: LanePartition, answer: FetchedPartition, rules: Rules, now_ms: int) -> Carried:
    subject = f"{rules.flow}: {copy.source}"
    try:
        selection = selection_of(copy, answer, append_time=rules.append_time, subject=subject)
    except CorruptRecords as e:
        return Carried(failure=e)
    decoder = Decoder(copy.position, copy.end, append_time=rules.append_time, subject=subject)
    found = Carried(epochs=selection.epochs, counts=_counts(selection))
    try:
        for decoded in decoder.decode(selection.batches):
            _Piece(copy, rules, found, now_ms).take(decoded)
            if found.failure is not None:
                return found
    except ChainBroken as e:
        found.failure = ChainBroken(f"{subject}: {e}")
        return found
    except Exception as e:  # noqa: BLE001 - a mistake in a transformation stops its partition, not the task
        found.failure = ChainBroken(f"{subject}: {_unexpected(e)}")
        return found
    found.failure = decoder.failure
    if found.failure is None:
        found.spans.append(Span(selection.position))
    return found


def _unexpected(problem: Exception) -> str:
    """Where it was raised; its text may contain contents of a record."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{frame.name}, line {frame.lineno}"
    return f"unexpected {type(problem).__name__} in {where}; this is a mistake in Heliograph"


def _counts(selection: Selection) -> BatchCounts:
    return BatchCounts(
        repacked=len(selection.batches), aborted=selection.aborted, control=selection.control
    )


class _Piece:
    """Some of a fetch's batches on their way through the chain."""

    def __init__(self, copy: LanePartition, rules: Rules, found: Carried, now_ms: int) -> None:
        self._copy = copy
        self._rules = rules
        self._found = found
        self._now_ms = now_ms
        self._rejected: list[Oversize | Untransformed] = []

    def take(self, decoded: Decoded) -> None:
        applied = self._rules.chain.apply(decoded.columns, self._copy.target)
        end = self._judge(decoded, applied)
        encoded = self._encoded(applied, decoded.codec, end)
        while (stopped := self._too_large(encoded)) is not None:
            end = stopped
            encoded = self._encoded(applied, decoded.codec, end)
        self._put(encoded, end)

    def _judge(self, decoded: Decoded, applied: Applied) -> int:
        """What becomes of records that failed; returns where this piece ends."""
        failures = sorted(applied.failures)
        if not failures:
            return decoded.end
        first = failures[0]
        match self._rules.on_error:
            case OnError.FAIL:
                self._fail(
                    first.offset, f"{first.reason}; on.error = fail stops the partition there"
                )
                return first.offset
            case OnError.SKIP:
                self._found.skipped += len(failures)
                self._found.why = first.reason
            case OnError.QUARANTINE:
                columns = decoded.columns
                for offset, reason in failures:
                    row = int(np.searchsorted(columns.offset, offset))
                    self._reject(columns, row, reason)
        return decoded.end

    def _reject(self, columns: Columns, row: int, reason: str) -> None:
        self._rejected.append(
            Untransformed(
                offset=int(columns.offset[row]),
                timestamp=int(columns.timestamp[row]),
                key=columns.key[row],
                reason=reason,
            )
        )

    def _fail(self, offset: int, reason: str) -> None:
        self._found.failure = RecordRejected(
            f"{self._rules.flow}: {self._copy.source}: the record at source offset {offset}: {reason}"
        )

    def _encoded(
        self, applied: Applied, codec: int, end: int
    ) -> dict[TopicPartition, tuple[Columns, list[Encoded]]]:
        found = {}
        for target, columns in applied.columns.items():
            before = columns.offset < end
            kept = columns if before.all() else columns.keep(before)
            if len(kept):
                most = self._rules.most(target.topic)
                found[target] = kept, list(encode_batches(kept, codec=codec, most=most))
        return found

    def _too_large(
        self, encoded: dict[TopicPartition, tuple[Columns, list[Encoded]]]
    ) -> int | None:
        """Takes out records that their topic does not take; returns the offset of the first one if it stops
        the partition."""
        for target, (columns, batches) in encoded.items():
            most = self._rules.most(target.topic)
            if most is None:
                continue
            for batch in [each for each in batches if len(each.data) > most]:
                if not self._rules.quarantines_oversize:
                    offset = int(columns.offset[batch.low])
                    self._fail(offset, _oversize(columns, batch, most).reason)
                    return offset
                batches.remove(batch)
                self._rejected.append(_oversize(columns, batch, most))
        return None

    def _put(self, encoded: dict[TopicPartition, tuple[Columns, list[Encoded]]], end: int) -> None:
        rejected = [each for each in self._rejected if each.offset < end]
        if len(encoded) == 1 and not rejected:
            ((target, (columns, batches)),) = encoded.items()
            for number, batch in enumerate(batches):
                last = number + 1 == len(batches)
                upto = end if last else int(columns.offset[batch.high])
                self._append(Span(upto, 1), [(target, columns, batch)])
            return
        every = [
            (target, columns, batch)
            for target, (columns, batches) in encoded.items()
            for batch in batches
        ]
        span = Span(end, len(every) + bool(rejected))
        self._append(span, every)
        if rejected and self._rules.quarantine is not None:
            self._found.batches.append((self._rules.quarantine, self._coordinates(rejected, span)))

    def _append(
        self, span: Span, batches: Sequence[tuple[TopicPartition, Columns, Encoded]]
    ) -> None:
        self._found.spans.append(span)
        for target, columns, batch in batches:
            its = LaneBatch(
                batch.data,
                batch.high - batch.low,
                int(columns.offset[batch.low]),
                span.end,
                batch.runs,
                newest_ms=batch.newest_ms,
                owner=self._copy,
                span=span,
            )
            self._found.batches.append((target, its))

    def _coordinates(self, rejected: Sequence[Oversize | Untransformed], span: Span) -> LaneBatch:
        entries = [
            Quarantined(
                flow=self._rules.flow,
                source=self._copy.source,
                target_topic=self._copy.target.topic,
                record=each,
            )
            for each in sorted(rejected, key=lambda each: each.offset)
        ]
        data = encode(
            [Record(timestamp=self._now_ms, key=e.key(), value=e.value()) for e in entries]
        )
        return LaneBatch(
            memoryview(data),
            len(entries),
            entries[0].record.offset,
            span.end,
            owner=self._copy,
            span=span,
            quarantined=len(entries),
            why=entries[0].record.reason,
        )


def _oversize(columns: Columns, batch: Encoded, most: int) -> Oversize:
    return Oversize(
        offset=int(columns.offset[batch.low]),
        timestamp=int(columns.timestamp[batch.low]),
        key=columns.key[batch.low],
        size=len(batch.data),
        limit=most,
    )
