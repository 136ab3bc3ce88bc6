"""Loggers are global to a process, and a lane of `make test` runs thousands of tests in one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def levels_restored() -> Iterator[None]:
    """Levels that REST, `--log-level` or a task's channel set inside are as before afterwards."""
    before = {logger: logger.level for logger in _loggers()}
    try:
        yield
    finally:
        for logger in _loggers():
            level = before.get(logger, logging.NOTSET)
            if logger.level != level:
                logger.setLevel(level)


def _loggers() -> list[logging.Logger]:
    known = list(logging.root.manager.loggerDict.values())  # other threads may add one meanwhile
    return [logging.root, *(each for each in known if isinstance(each, logging.Logger))]
