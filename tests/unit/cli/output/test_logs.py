"""Where log lines go, and their layout."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.cli.output.logs import LogOptions, start_logging
from heliograph.errors import ConfigError

log = logging.getLogger("heliograph.tests")
_LINE = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (\w+) (.*) \(([\w.]+):\d+\)")


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers
    yield
    for each in root.handlers:
        if isinstance(each, logging.FileHandler):
            each.close()
    root.handlers = before


def start(options: LogOptions, log_dir: Path | None = None) -> None:
    """As in a process that has no handlers yet; pytest adds its own when a test begins."""
    logging.getLogger().handlers = []
    start_logging(options, {} if log_dir is None else {"LOG_DIR": str(log_dir)})


def test_a_line_has_date_level_message_and_logger_as_connects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    start(LogOptions())
    log.warning("no %s", "broker")

    found = _LINE.fullmatch(capsys.readouterr().err.strip())

    assert found is not None
    assert found.groups() == ("WARN", "no broker", "heliograph.tests")


def test_a_line_in_json_is_one_object_whatever_the_message_contains(
    capsys: pytest.CaptureFixture[str],
) -> None:
    start(LogOptions(as_json=True))
    try:
        raise ValueError("odd")
    except ValueError:
        log.exception('two\nlines, "quoted", \x1b[2J')

    (line,) = capsys.readouterr().err.splitlines()
    found = json.loads(line)

    assert "\x1b" not in line
    assert found["message"] == 'two\nlines, "quoted", \x1b[2J'
    assert (found["level"], found["logger"]) == ("ERROR", "heliograph.tests")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found["time"])
    assert "ValueError: odd" in found["exception"]


@pytest.mark.parametrize(
    ("levels", "logged"),
    [
        ((), ["info", "warn"]),
        (("warn",), ["warn"]),
        (("DEBUG",), ["debug", "info", "warn"]),
        (("OFF",), []),
        (("heliograph.tests=DEBUG",), ["debug", "info", "warn"]),
        (("ERROR", "heliograph.sync=DEBUG"), []),
        (("org.apache.kafka.connect.mirror=DEBUG",), ["debug", "info", "warn"]),
    ],
)
def test_levels_are_those_of_connects_loggers(
    capsys: pytest.CaptureFixture[str], levels: tuple[str, ...], logged: list[str]
) -> None:
    start(LogOptions(levels=levels))
    log.debug("debug")
    log.info("info")
    log.warning("warn")

    assert [found[2] for found in _LINE.finditer(capsys.readouterr().err)] == logged


@pytest.mark.parametrize("level", ["LOUD", "heliograph.sync=", "=", "heliograph.sync"])
def test_an_unknown_level_is_refused_with_the_known_ones(level: str) -> None:
    with pytest.raises(ConfigError, match=r"--log-level: expected TRACE, DEBUG, INFO, WARN"):
        start(LogOptions(levels=[level]))


def test_log_dir_has_the_file_that_kafkas_scripts_write(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    start(LogOptions(), tmp_path / "new" / "logs")
    log.info("Herder started")

    file = tmp_path / "new" / "logs" / "connect.log"
    assert file.read_text() == capsys.readouterr().err
    assert "Herder started" in file.read_text()


def test_a_log_file_that_is_named_takes_precedence_over_log_dir(tmp_path: Path) -> None:
    start(LogOptions(file=tmp_path / "mirror.log"), tmp_path / "logs")
    log.info("here")

    assert "here" in (tmp_path / "mirror.log").read_text()
    assert not (tmp_path / "logs").exists()


def test_a_log_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "logs"

    with pytest.raises(ConfigError) as caught:
        start(LogOptions(), folder)

    assert str(caught.value).startswith(
        f"LOG_DIR: cannot write the log to {folder / 'connect.log'}"
    )
    assert "Not a directory" in str(caught.value)
