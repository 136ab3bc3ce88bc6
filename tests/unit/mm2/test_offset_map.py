"""Exact translation against a model that knows every record of both logs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.mm2.offset_map import LOST, MAX_RANGES, OffsetMap, OffsetRange
from heliograph.mm2.offset_map_builder import OffsetMapBuilder


def translated(ranges: OffsetMap, *offsets: int) -> list[int | None]:
    return [ranges.translate(offset) for offset in offsets]


def test_an_offset_inside_a_range_is_that_records_own() -> None:
    ranges = OffsetMap([OffsetRange(10, 100, 5)])

    assert translated(ranges, 9, 10, 14, 15, 16) == [None, 100, 104, 105, None]


def test_a_run_that_goes_on_makes_one_range() -> None:
    ranges = OffsetMap(
        [OffsetRange(0, 7, 100), OffsetRange(100, 107, 50), OffsetRange(150, 157, 1)]
    )

    assert list(ranges) == [OffsetRange(0, 7, 151)]


def test_a_hole_translates_to_the_next_record() -> None:
    """Transaction markers, aborted and compacted records have upstream offsets and no record."""
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(13, 10, 5)])

    assert translated(ranges, 9, 10, 12, 13) == [9, 10, 10, 10]


def test_nothing_is_said_about_offsets_whose_history_is_missing() -> None:
    """Records of 10 to 12 may stand at 10 to 14: a group must not be put behind them."""
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(13, 15, 5)])

    assert translated(ranges, 9, 10, 12, 13) == [9, None, None, 15]


def test_a_lost_range_is_not_translated() -> None:
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(10, LOST, 5), OffsetRange(17, 15, 5)])

    assert translated(ranges, 9, 10, 14, 15, 16, 17) == [9, None, None, None, None, 15]


def test_a_rewind_forgets_all_from_there_on() -> None:
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(12, 10, 10)])

    ranges.append(OffsetRange(5, 20, 3))

    assert list(ranges) == [OffsetRange(0, 0, 5), OffsetRange(5, 20, 3)]


def test_a_target_created_anew_forgets_all() -> None:
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(12, 10, 10), OffsetRange(22, LOST, 3)])

    ranges.append(OffsetRange(25, 0, 3))

    assert list(ranges) == [OffsetRange(25, 0, 3)]


def test_a_truncated_target_forgets_what_stood_there() -> None:
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(12, 10, 10)])

    ranges.append(OffsetRange(22, 15, 3))

    assert list(ranges) == [
        OffsetRange(0, 0, 10),
        OffsetRange(12, 10, 5),
        OffsetRange(22, 15, 3),
    ]
    assert translated(ranges, 16, 17, 21) == [14, 15, 15]


def test_a_truncated_target_forgets_no_lost_range() -> None:
    """Its records may stand before the truncated ones: a group that reads from 139 on must not begin at 23
    (simulation: everything 270)."""
    ranges = OffsetMap(
        [OffsetRange(32, 21, 13), OffsetRange(47, 34, 8), OffsetRange(139, LOST, 38)]
    )
    ranges.append(OffsetRange(242, 23, 5))

    assert [ranges.translate(at) for at in (33, 50, 139, 180, 242)] == [22, None, None, None, 23]


def test_records_of_unknown_place_behind_an_offset_are_known_of() -> None:
    """Going back to that offset may copy them a second time (simulation: everything 330)."""
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(10, LOST, 5), OffsetRange(15, 30, 5)])

    assert [ranges.has_lost_from(at) for at in (0, 10, 14, 15)] == [True, True, True, False]


def test_what_lies_below_the_log_start_is_forgotten() -> None:
    ranges = OffsetMap([OffsetRange(0, 0, 10), OffsetRange(12, 10, 10), OffsetRange(30, 20, 10)])

    ranges.prune(5)
    assert len(ranges) == 3
    ranges.prune(10)
    assert next(iter(ranges)) == OffsetRange(12, 10, 10)
    ranges.prune(21)
    assert translated(ranges, 21, 22) == [19, 20]
    ranges.prune(1000)
    assert list(ranges) == []


def test_there_is_an_end_to_how_many_are_kept() -> None:
    ranges = OffsetMap(OffsetRange(2 * n, n, 1) for n in range(2 * MAX_RANGES))

    assert MAX_RANGES - 1000 <= len(ranges) <= MAX_RANGES
    assert ranges.translate(0) is None
    assert ranges.translate(4 * MAX_RANGES - 2) == 2 * MAX_RANGES - 1


def test_a_landing_of_dense_batches_is_one_range() -> None:
    landing = OffsetMapBuilder(100)
    landing.land(100, 7, 50)
    landing.land(150, 57, 50)

    assert landing.fresh(200) == [OffsetRange(100, 7, 100)]
    assert landing.fresh(200) == []

    landing.land(200, 107, 1)
    assert landing.fresh(201) == [OffsetRange(200, 107, 1)]


def test_a_landing_knows_that_nothing_stood_before_its_first_and_behind_its_last_record() -> None:
    landing = OffsetMapBuilder(100)
    landing.land(103, 7, 5)

    assert landing.fresh(110) == [
        OffsetRange(100, 7, 0),
        OffsetRange(103, 7, 5),
        OffsetRange(110, 12, 0),
    ]
    assert landing.fresh(110) == []
    assert landing.fresh(112) == [OffsetRange(112, 12, 0)]


def test_a_landing_tells_what_is_lost_and_goes_on() -> None:
    """MirrorSourceTaskTest.testCommitRecordWithNullMetadata"""
    landing = OffsetMapBuilder(0)
    landing.land(0, 0, 5)
    landing.lose(5, 3)
    landing.land(9, 9, 2)

    assert landing.fresh(11) == [
        OffsetRange(0, 0, 5), OffsetRange(5, LOST, 3), OffsetRange(8, 9, 0), OffsetRange(9, 9, 2),
    ]  # fmt: skip


# ── laws ─────────────────────────────────────────────────────────────────────────────────────


class Model:
    """Both logs, record by record, and a mirror whose tasks start, crash, rewind and restart."""

    def __init__(self, source: list[bool]) -> None:
        self.source = source  # whether there is a record at each upstream offset
        self.target: list[
            int | None
        ] = []  # the upstream offset of each record; None: a foreign one
        self.known = OffsetMap()
        self.stored = 0
        self.start_session(0)

    def start_session(self, position: int) -> None:
        self.start = self.position = position
        self.landing = OffsetMapBuilder(position)
        self.certain = True
        self.landed = False

    def copy(self, number: int, *, known: bool = True) -> None:
        """The next `number` upstream offsets, in one batch."""
        end = min(self.position + number, len(self.source))
        for upstream in range(self.position, end):
            if self.source[upstream]:
                if known:
                    self.landing.land(upstream, len(self.target), 1)
                    self.landed = True
                else:
                    self.landing.lose(upstream, 1)
                    self.certain = False
                self.target.append(upstream)
        self.position = end

    def report(self) -> None:
        for each in self.landing.fresh(self.position):
            self.known.append(each)
            self.known.append(each)  # the end of an epoch tells everything twice

    def act(self, kind: str, number: int) -> None:
        if kind == "copy":
            self.copy(number)
        elif kind == "lose":
            self.copy(number, known=False)
        elif kind == "foreign":
            self.target += [None] * number
        elif kind == "report":
            self.report()
        elif kind == "store":
            self.report()
            self.stored = self.position
        elif kind == "store without note":
            self.stored = self.position
        elif kind == "crash":
            self.start_session(self.stored)
        elif kind == "rewind":
            self.start_session(max(self.position - number, 0))

    def first(self, asked: int) -> int | None:
        return next((u for u in range(asked, len(self.source)) if self.source[u]), None)

    def check(self) -> None:
        """Who reads on at the answer misses nothing and, foreign and repeated records apart, meets the
        first record at or after the offset asked for."""
        for asked in range(len(self.source) + 2):
            answer = self.known.translate(asked)
            if answer is not None:
                assert answer <= len(self.target), f"past the log end: {asked} to {answer}"
                met = next((u for u in self.target[answer:] if u is not None and u >= asked), None)
                first = self.first(asked)
                assert met == first or (met is None and first is not None), (asked, answer)
                assert met is not None or first is None or first >= self.position, (asked, answer)


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("copy", "copy", "copy", "lose", "foreign", "report", "store"),
                *("store without note", "crash", "rewind"),
            ]
        ),
        st.integers(1, 6),
    ),
    max_size=25,
)


@settings(max_examples=150)
@given(st.lists(st.booleans(), min_size=1, max_size=40), ACTS)
def test_a_translation_is_the_first_mirrored_record_at_or_after_or_unknown(
    source: list[bool], acts: list[tuple[str, int]]
) -> None:
    model = Model(source)
    for act in acts:
        model.act(*act)
        model.check()


@settings(max_examples=100)
@given(st.lists(st.booleans(), min_size=1, max_size=40), ACTS)
def test_after_a_report_all_that_its_session_mirrored_is_translated_exactly(
    source: list[bool], acts: list[tuple[str, int]]
) -> None:
    model = Model(source)
    for kind, number in acts:
        model.act(kind, number)
        if kind not in ("report", "store") or not model.certain or not model.landed:
            continue
        newest = {u: downstream for downstream, u in enumerate(model.target) if u is not None}
        for upstream in range(model.start, model.position + 1):
            first = model.first(upstream)
            mirrored = first is not None and first < model.position
            expected = newest[first] if mirrored else max(newest.values()) + 1
            assert model.known.translate(upstream) == expected, (upstream, list(model.known))


@given(st.lists(st.booleans(), min_size=1, max_size=40), ACTS)
def test_ranges_ascend_on_both_sides(source: list[bool], acts: list[tuple[str, int]]) -> None:
    model = Model(source)
    for act in acts:
        model.act(*act)
        upstream = [s.upstream for s in model.known]
        downstream = [s.downstream for s in model.known if s.downstream != LOST]
        assert upstream == sorted(upstream)
        assert downstream == sorted(downstream)
        assert all(
            a.end <= b.upstream for a, b in zip(model.known, list(model.known)[1:], strict=False)
        )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 9)), max_size=30))
def test_a_range_bit_by_bit_is_the_same_as_at_once(runs: list[tuple[int, int, int]]) -> None:
    whole, bits = OffsetMap(), OffsetMap()
    upstream = downstream = 0
    for hole, foreign, count in runs:
        upstream, downstream = upstream + hole, downstream + foreign
        whole.append(OffsetRange(upstream, downstream, count))
        for n in range(count):
            bits.append(OffsetRange(upstream + n, downstream + n, 1))
        upstream, downstream = upstream + count, downstream + count

    assert list(whole) == list(bits)
