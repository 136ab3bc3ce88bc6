"""The web layer against the recorded answers of a real Connect worker (`conformance/golden.json`)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest

from conformance.answer import Answer
from conformance.exchange import Exchange
from conformance.golden import read_golden
from conformance.known import read_known
from conformance.report import Report, compare_all
from conformance.sequence import SEQUENCE
from conformance.stage import worker_properties
from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.web.listener.server import RestServer
from support.logger_levels import levels_restored
from support.repository import ROOT
from support.rest.memory_herder import MemoryHerder

CLUSTERS = {"source": "source.example:9092", "target": "target.example:9092"}
PAGE = ROOT / "COMPATIBILITY.md"


@pytest.fixture(scope="module")
def report(_levels: None) -> Iterator[Report]:
    """The whole sequence, over a real socket, to a herder without Kafka."""
    config = read_rest_config(worker_properties(CLUSTERS["target"], 0), {})
    levels, herder = LoggerLevels(lambda: 0), MemoryHerder()
    server = RestServer(config, herder, levels, levels.set)
    server.start()
    try:
        url = f"http://127.0.0.1:{server.port}"
        herder.worker_id = url.removeprefix("http://")
        ours: dict[str, Answer] = {}
        Exchange(url, CLUSTERS, patience=1).ask_all(
            SEQUENCE, lambda step, answer: ours.update({step.name: answer})
        )
        yield compare_all(read_golden(), ours, read_known())
    finally:
        server.stop()


@pytest.fixture(scope="module", autouse=True)
def _levels() -> Iterator[None]:
    """The levels at a worker's start; the sequence changes levels of loggers, which are global."""
    with levels_restored():
        logging.getLogger().setLevel(logging.INFO)
        yield


def test_every_answer_is_connects_or_listed_as_different(report: Report) -> None:
    assert report.steps >= 430
    assert [str(each) for each in report.unlisted] == []


def test_every_step_has_a_name_of_its_own() -> None:
    assert len({step.name for step in SEQUENCE}) == len(SEQUENCE)


def test_no_difference_is_listed_that_is_none(report: Report) -> None:
    assert report.idle == []


def test_compatibility_page_explains_every_difference() -> None:
    section = PAGE.read_text().partition("\n### REST answers that differ\n")[2].partition("\n#")[0]
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE))

    assert {each.title: each.reason for each in read_known()}.items() <= rows.items()
