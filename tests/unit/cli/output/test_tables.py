from __future__ import annotations

import json
import logging
from io import StringIO

from rich.console import Console

from heliograph.cli.output.documents import as_json
from heliograph.cli.output.escaping import VisibleFormatter
from heliograph.cli.output.tables import Table, by_reason, fitted, limited, plain, show
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import PartitionState, TopicPartition


def test_columns_are_aligned_and_numbers_stand_to_the_right() -> None:
    table = Table("topics", ("topic", "lag"), [("orders", "7"), ("a", "1234"), ("b", "?")])

    assert plain(["flow a->b", table]).splitlines() == [
        "flow a->b",
        "  topics",
        "    TOPIC    LAG",
        "    orders     7",
        "    a       1234",
        "    b          ?",
    ]


def test_rows_that_are_left_out_are_counted() -> None:
    rows = [(str(number),) for number in range(1_005)]

    short = limited("", ("n",), rows, most=5, remedy="--all")
    whole = limited("", ("n",), rows, most=None, remedy="--all")

    assert (len(short.rows), plain([short]).splitlines()[-1]) == (5, "    … 1,000 more (--all)")
    assert (len(whole.rows), whole.hidden) == (1_005, 0)


def test_subjects_are_gathered_by_reason_the_most_frequent_first() -> None:
    reasons = {"b": "excluded", "a": "excluded", "x": "internal", "c": "excluded"}

    assert by_reason(reasons, names=2) == [
        ("3", "excluded", "a, b, … 1 more"),
        ("1", "internal", "x"),
    ]
    assert by_reason(reasons, names=None)[0] == ("3", "excluded", "a, b, c")


def test_on_a_terminal_names_are_never_taken_for_markup() -> None:
    out = StringIO()
    table = Table("[red]title", ("[b]name",), [("[bold]x",)])

    show(["[i]line", table], Console(file=out, force_terminal=True, width=80, no_color=True))

    for text in ("[i]line", "[red]title", "[b]name", "[bold]x"):
        assert text in out.getvalue()


def test_json_has_the_names_of_fields_and_partitions_as_people_write_them() -> None:
    value = {
        "checkpoint": Checkpoint("g", "t", 0, 1, 2),
        "why": {TopicPartition("t", 3): "reset"},
        "state": PartitionState.FAILED,
        "names": ("a", "b"),
    }

    assert json.loads(as_json(value)) == {
        "checkpoint": {
            "group": "g",
            "topic": "t",
            "partition": 0,
            "upstream": 1,
            "downstream": 2,
            "metadata": "",
        },
        "why": {"t-3": "reset"},
        "state": "FAILED",
        "names": ["a", "b"],
    }


HOSTILE = "a\x1b[2Jb\x9b1mc\r\nd\u202ee\x7f\x07"
SHOWN = r"a\x1b[2Jb\x9b1mc\r\nd\u202ee\x7f\x07"


def test_control_characters_of_others_are_written_as_escapes() -> None:
    out = StringIO()
    table = Table(HOSTILE, ("name",), [(HOSTILE,)])
    console = Console(file=out, force_terminal=True, width=200, no_color=True)

    show([table], console)
    plain_text = plain([HOSTILE.replace("\n", ""), table])

    assert out.getvalue().count(SHOWN) == 2
    assert plain_text.count(SHOWN) == 2
    assert not any(c in plain_text for c in "\x1b\x9b\r\u202e\x7f\x07")


def test_control_characters_in_json_are_escaped_and_mean_the_same() -> None:
    document = as_json({HOSTILE: ["\U000e0001", "ü → \U0001f4a9"]})

    assert document.replace("\n", "").isprintable()
    assert "ü → \U0001f4a9" in document
    assert json.loads(document) == {HOSTILE: ["\U000e0001", "ü → \U0001f4a9"]}


def test_a_log_line_with_control_characters_moves_no_cursor() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "topic %s", (HOSTILE,), None)

    line = VisibleFormatter("%(message)s").format(record)

    assert line == "topic " + SHOWN.replace(r"\n", "\n    ")


WIDE = Table(
    "partitions",
    ("topic", "start", "lag", "state"),
    [("orders", "1234567", "0", "RUNNING")],
    optional=("start", "lag"),
)


def test_a_narrow_terminal_does_without_optional_columns_and_names_them() -> None:
    assert fitted(WIDE, 80) == (WIDE, [])
    narrow, left_out = fitted(WIDE, 25)
    assert (narrow.columns, left_out) == (("topic", "lag", "state"), ["start"])
    assert narrow.rows == [("orders", "0", "RUNNING")]
    assert fitted(WIDE, 5)[1] == ["start", "lag"]  # the others are folded


def test_wide_shows_every_column_on_a_narrow_terminal() -> None:
    for wide in (False, True):
        console = Console(file=StringIO(), width=20, force_terminal=True, no_color=True)
        with console.capture() as captured:
            show([WIDE], console, wide=wide)
        assert ("START" in captured.get()) is wide
        assert ("--wide shows all" in " ".join(captured.get().split())) is not wide
