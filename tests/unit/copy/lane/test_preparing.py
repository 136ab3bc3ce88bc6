"""A fetch through a chain: spans, batches for each remote partition, and what becomes of failed records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from heliograph.copy.lane.chain import Applied, ChainBroken, FailedRecord
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.preparing import Carried, Rules, carry
from heliograph.model import Lease, OnError, TopicPartition
from heliograph.records.batch import PREFIX
from heliograph.records.columns import Columns
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from heliograph.wire.fetch import FetchedPartition

QUARANTINE = TopicPartition("mm2-quarantine.a.internal", 0)
REMOTE, AWAY = TopicPartition("a.t", 0), TopicPartition("away", 0)


class Sorting:
    """By value: `drop`, `fail`, `away`, or anything else, which stays."""

    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        values = columns.value.tolist()
        stays = np.array([v not in (b"drop", b"fail", b"away") for v in values], np.bool_)
        away = np.array([v == b"away" for v in values], np.bool_)
        failed = [row for row, value in enumerate(values) if value == b"fail"]
        return Applied(
            columns={
                target: columns.keep(rows)
                for target, rows in ((remote, stays), (AWAY, away))
                if rows.any()
            },
            failures=tuple(FailedRecord(int(columns.offset[row]), "x: broken") for row in failed),
        )


class Wrong:
    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        raise ChainBroken("function mine:f: column value is missing in what it returned")


RULES = Rules(
    flow="a->b",
    chain=Sorting(),
    on_error=OnError.FAIL,
    quarantine=QUARANTINE,
    quarantines_oversize=False,
    append_time=True,
    most=lambda _: None,
)


def log_of(batches: Sequence[Sequence[bytes]]) -> bytes:
    out, offset = b"", 0
    for values in batches:
        records = [Record(timestamp=n, key=b"k", value=value) for n, value in enumerate(values)]
        data = encode(records)
        out += PREFIX.pack(offset, len(data) - PREFIX.size) + data[PREFIX.size :]
        offset += len(values)
    return out


def carried(
    *batches: Sequence[bytes], rules: Rules = RULES, position: int = 0, damage: int | None = None
) -> Carried:
    log = bytearray(log_of(batches))
    if damage is not None:
        log[damage] ^= 1
    copy = LanePartition(
        Lease(flow="a->b", topic="t", partition=0, target_topic="a.t", start=position)
    )
    answer = FetchedPartition("t", 0, 0, 1000, 1000, 0, [], memoryview(log))
    return carry(copy, answer, rules, now_ms=5)


def sent(found: Carried) -> dict[TopicPartition, list[bytes | None]]:
    values: dict[TopicPartition, list[bytes | None]] = {}
    for target, batch in found.batches:
        values.setdefault(target, []).extend(record.value for record in decode(batch.data))
    return values


def spans(found: Carried) -> list[tuple[int, int]]:
    return [(span.end, span.open) for span in found.spans]


def test_a_filtered_fetch_is_a_mark() -> None:
    found = carried([b"drop"] * 3, [b"drop"] * 2)

    assert (found.batches, spans(found)) == ([], [(5, 0), (5, 0)])


def test_what_stays_is_one_batch_whose_span_reaches_over_what_was_dropped() -> None:
    found = carried([b"drop", b"1", b"2"], [b"drop", b"3", b"drop"])

    assert sent(found) == {REMOTE: [b"1", b"2", b"3"]}
    assert spans(found) == [(6, 1), (6, 0)]
    ((_, batch),) = found.batches
    assert batch.runs == ((1, 2), (4, 1))


def test_a_span_with_several_targets_is_done_when_all_of_them_have_it() -> None:
    found = carried([b"1", b"away", b"2", b"away"])

    assert sent(found) == {REMOTE: [b"1", b"2"], AWAY: [b"away", b"away"]}
    assert spans(found) == [(4, 2), (4, 0)]
    assert len({id(batch.span) for _, batch in found.batches}) == 1


def test_records_before_the_position_do_not_enter_the_chain() -> None:
    found = carried([b"fail", b"1", b"2"], position=1)

    assert (sent(found), found.failure) == ({REMOTE: [b"1", b"2"]}, None)


def test_under_fail_the_partition_stops_before_the_record() -> None:
    found = carried([b"1", b"2"], [b"3", b"fail", b"4"])

    assert sent(found) == {REMOTE: [b"1", b"2", b"3"]}
    assert spans(found) == [(3, 1)]
    assert str(found.failure) == (
        "a->b: t-0: the record at source offset 3: x: broken; on.error = fail stops the partition there"
    )


def test_under_skip_the_others_are_copied_and_it_is_counted() -> None:
    found = carried([b"1", b"fail", b"2"], rules=replace(RULES, on_error=OnError.SKIP))

    assert (sent(found), found.skipped, found.why) == ({REMOTE: [b"1", b"2"]}, 1, "x: broken")


def test_under_quarantine_its_coordinates_belong_to_the_span() -> None:
    rules = replace(RULES, on_error=OnError.QUARANTINE)

    found = carried([b"1", b"fail", b"2"], rules=rules)

    assert spans(found) == [(3, 2), (3, 0)]
    assert [target for target, _ in found.batches] == [REMOTE, QUARANTINE]
    (listed,) = decode(found.batches[1][1].data)
    assert json.loads(listed.value or b"") == {
        "flow": "a->b",
        "topic": "t",
        "partition": 0,
        "offset": 1,
        "timestamp": 1,
        "target_topic": "a.t",
        "key": "k",
        "reason": "x: broken",
    }


def test_a_chain_that_is_wrong_stops_the_partition_under_any_policy() -> None:
    found = carried([b"1"], rules=replace(RULES, chain=Wrong(), on_error=OnError.SKIP))

    assert str(found.failure) == (
        "a->b: t-0: function mine:f: column value is missing in what it returned"
    )
    assert not found.batches


class Mistaken:
    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        return {}["secret of a record"]


def test_a_mistake_in_a_transformation_stops_its_partition_and_not_the_task() -> None:
    found = carried([b"1"], rules=replace(RULES, chain=Mistaken()))

    assert "a->b: t-0: unexpected KeyError in apply, line" in str(found.failure)
    assert "secret" not in str(found.failure)


@pytest.mark.parametrize("quarantines", [True, False])
def test_a_record_too_large_for_its_topic_is_quarantined_or_stops_the_partition(
    quarantines: bool,
) -> None:
    rules = replace(RULES, quarantines_oversize=quarantines, most=lambda topic: 300)

    found = carried([b"1", b"x" * 500, b"2"], rules=rules)

    if quarantines:
        assert sent(found)[REMOTE] == [b"1", b"2"]
        assert [target for target, _ in found.batches].count(QUARANTINE) == 1
    else:
        assert (sent(found), spans(found)) == ({REMOTE: [b"1"]}, [(1, 1)])
        assert "the target's max.message.bytes is 300" in str(found.failure)


def test_before_a_damaged_batch_everything_is_copied() -> None:
    first = len(log_of([[b"1", b"2"]]))

    found = carried([b"1", b"2"], [b"3"], damage=first + 65)

    assert sent(found) == {REMOTE: [b"1", b"2"]}
    assert spans(found)[-1] == (2, 0)
    assert found.failure is None, "the next fetch, which starts there, reports it"
