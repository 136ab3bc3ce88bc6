"""Where log lines go, and their layout: standard error and, if one is named, a file.

A line has the layout of Connect's own logging configuration, so that log shippers read both:

    [2026-11-18 11:36:43,512] INFO Herder started (heliograph.connect.supervisor:168)
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from heliograph.cli.output.escaping import VisibleFormatter, visible_json
from heliograph.cli.output.hourly_file import HourlyFile
from heliograph.connect.logger_levels import ROOT, LoggerLevels, is_level, level_name
from heliograph.errors import ConfigError

#: The name that connect-log4j2.yaml gives the file in $LOG_DIR, for workers and for MirrorMaker 2.
_FILE_NAME = "connect.log"
_LAYOUT = "[%(asctime)s] %(log4j)s %(message)s (%(name)s:%(lineno)d)"
_LEVELS = "TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """`levels`: LEVEL for all loggers, or LOGGER=LEVEL for one and those below it."""

    levels: Sequence[str] = ()
    file: Path | None = None
    as_json: bool = False


def start_logging(
    options: LogOptions | None = None, environment: Mapping[str, str] = os.environ
) -> None:
    """Raises ConfigError for an unknown level, or a file that cannot be written."""
    options, root = options or LogOptions(), logging.getLogger()
    levels = [_level(each) for each in options.levels]
    if not root.handlers:
        root.addHandler(logging.StreamHandler())
        root.setLevel(logging.INFO)
    file = _file(options, environment)
    if file is not None:
        root.addHandler(file)
    formatter = JsonFormatter() if options.as_json else ConnectFormatter(_LAYOUT)
    for handler in root.handlers:
        handler.setFormatter(formatter)
        handler.addFilter(_is_not_from_py4j)
    logging.getLogger("py4j").setLevel(logging.INFO)  # at DEBUG, it logs each call of the JVM
    loggers = LoggerLevels(lambda: 0)
    for logger, level in levels:
        loggers.set(logger, level)


def _level(text: str) -> tuple[str, str]:
    logger, _, level = text.rpartition("=")
    if not is_level(level):
        raise ConfigError(
            f"--log-level: expected {_LEVELS}, or LOGGER=LEVEL for one logger, found {text!r}"
        )
    return logger or ROOT, level


def _file(options: LogOptions, environment: Mapping[str, str]) -> HourlyFile | None:
    folder = environment.get("LOG_DIR", "").strip()
    if options.file is not None:
        path, named_by = options.file, "--log-file"
    elif folder:
        path, named_by = Path(folder) / _FILE_NAME, "LOG_DIR"
    else:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return HourlyFile(path)
    except OSError as e:
        raise ConfigError(
            f"{named_by}: cannot write the log to {path}: {e.strerror or e} ({e.filename}); set LOG_DIR to a "
            "folder that this user may write to, or unset it to log to standard error only"
        ) from e


class ConnectFormatter(VisibleFormatter):
    """Connect's layout, with Log4j's names of levels."""

    def format(self, record: logging.LogRecord) -> str:
        record.log4j = level_name(record.levelno)
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """One JSON object in each line."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level_name(record.levelno),
            "logger": record.name,
            "line": record.lineno,
            "thread": record.threadName,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return visible_json(json.dumps(line, ensure_ascii=False))


def _is_not_from_py4j(record: logging.LogRecord) -> bool:
    """py4j logs the exceptions that it also raises, partly to the root logger."""
    return "py4j" not in Path(record.pathname).parts
