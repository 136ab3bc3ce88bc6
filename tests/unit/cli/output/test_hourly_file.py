"""A log file is rolled every hour."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

from heliograph.cli.output.hourly_file import HourlyFile

_HOUR = 3600


def record(message: str, seconds_later: float = 0.0) -> logging.LogRecord:
    made = logging.makeLogRecord({"msg": message})
    made.created += seconds_later
    return made


def hour(seconds: float) -> str:
    return time.strftime("%Y-%m-%d-%H", time.localtime(seconds))


def of_the_hour_before(path: Path, text: str) -> float:
    """A file as a process left it that stopped an hour ago."""
    path.write_text(text)
    before = time.time() - _HOUR
    os.utime(path, (before, before))
    return before


def test_lines_of_an_earlier_hour_are_moved_to_a_file_of_that_hour(tmp_path: Path) -> None:
    path = tmp_path / "connect.log"
    before = of_the_hour_before(path, "old\n")
    path.chmod(0o640)

    handler = HourlyFile(path)
    handler.emit(record("new"))
    handler.close()

    assert path.read_text() == "new\n"
    assert (tmp_path / f"connect-{hour(before)}.log").read_text() == "old\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_restart_within_the_hour_appends(tmp_path: Path) -> None:
    path = tmp_path / "connect.log"
    for message in ("one", "two"):
        handler = HourlyFile(path)
        now = record(message)
        now.created = path.stat().st_mtime
        handler.emit(now)
        handler.close()

    assert path.read_text() == "one\ntwo\n"


def test_two_processes_with_one_file_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "connect.log"
    before = of_the_hour_before(path, "old\n")
    one, other = HourlyFile(path), HourlyFile(path)

    for each in (one, other):
        each.emit(record("new"))
        each.close()

    assert (tmp_path / f"connect-{hour(before)}.log").read_text() == "old\n"
    assert path.read_text() == "new\nnew\n"


def test_a_clock_that_goes_back_rolls_nothing(tmp_path: Path) -> None:
    path = tmp_path / "connect.log"
    handler = HourlyFile(path)
    handler.emit(record("now"))
    handler.emit(record("earlier", -2 * _HOUR))
    handler.close()

    assert [each.name for each in tmp_path.iterdir()] == ["connect.log"]
