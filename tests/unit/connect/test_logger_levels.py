"""Levels of loggers, under Java's names and ours."""

from __future__ import annotations

import logging

import pytest

from heliograph.connect.logger_levels import Level, LoggerLevels, is_level

MIRROR = "org.apache.kafka.connect.mirror"


@pytest.fixture
def levels() -> LoggerLevels:
    return LoggerLevels(lambda: 1234)


@pytest.mark.parametrize(
    ("java", "ours"),
    [
        (MIRROR, "heliograph"),
        (f"{MIRROR}.MirrorSourceTask", "heliograph.copy"),
        (f"{MIRROR}.MirrorCheckpointTask", "heliograph.sync.checkpoints"),
        ("org.apache.kafka.connect.runtime.rest.RestServer", "heliograph.web"),
        ("heliograph.sync.topics", "heliograph.sync.topics"),
    ],
)
def test_names_of_java_reach_what_does_the_same_work(
    levels: LoggerLevels, java: str, ours: str
) -> None:
    levels.set(java, "error")

    assert logging.getLogger(ours).level == logging.ERROR
    assert levels.level(java) == Level("ERROR", 1234)


def test_loggers_below_follow_and_are_told(levels: LoggerLevels) -> None:
    changed = levels.set(MIRROR, "DEBUG")

    assert changed[0] == MIRROR
    assert f"{MIRROR}.MirrorSourceTask" in changed
    assert logging.getLogger("heliograph.copy").getEffectiveLevel() == logging.DEBUG


def test_what_is_so_already_is_not_changed(levels: LoggerLevels) -> None:
    levels.set(MIRROR, "DEBUG")

    assert levels.set(MIRROR, "DEBUG") == []


def test_a_logger_that_nobody_has_heard_of_is_none(levels: LoggerLevels) -> None:
    assert levels.level("com.example") is None

    levels.set("com.example", "TRACE")

    assert levels.level("com.example") == Level("TRACE", 1234)
    assert "com.example" in levels.all()


def test_levels_are_log4js_in_any_case() -> None:
    assert all(
        is_level(each)
        for each in ("OFF", "fatal", "Error", "warn", "INFO", "debug", "trace", "ALL")
    )
    assert not is_level("LOUD")
