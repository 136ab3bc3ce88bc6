from __future__ import annotations

import threading

from heliograph.config.metrics_config import MetricsConfig
from heliograph.metrics.snapshot import Snapshot
from heliograph.runtime.metering.collect import problems_by_cause
from heliograph.runtime.metering.scrape import Scrape
from support.scraping import OPENMETRICS
from support.snapshots import SNAPSHOT


class Counting:
    def __init__(self) -> None:
        self.now, self.snapshots = 100.0, 0

    def __call__(self) -> Snapshot:
        self.snapshots += 1
        return SNAPSHOT

    def clock(self) -> float:
        return self.now


def test_scrapers_at_the_same_time_share_a_text_for_a_second() -> None:
    values = Counting()
    scrape = Scrape(MetricsConfig(), values, values.clock)
    threads = [threading.Thread(target=scrape, args=("",)) for _ in range(50)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert values.snapshots == 1

    values.now += 0.9
    scrape("")
    assert values.snapshots == 1
    values.now += 0.2
    scrape("")
    assert values.snapshots == 2


def test_each_format_has_its_own_text() -> None:
    values = Counting()
    scrape = Scrape(MetricsConfig(), values, values.clock)

    assert scrape("").content_type.startswith("text/plain")
    assert scrape(OPENMETRICS).content_type.startswith("application/openmetrics-text")
    assert scrape(OPENMETRICS).text.endswith(b"# EOF\n")


def test_the_process_is_there_with_the_standard_names() -> None:
    assert b"process_cpu_seconds_total " in Scrape(MetricsConfig(), Counting())("").text


def test_any_number_of_accept_headers_keeps_few_texts() -> None:
    values = Counting()
    scrape = Scrape(MetricsConfig(), values, values.clock)
    for number in range(50):
        scrape(f"text/{number}")

    assert len(scrape._made) <= 9


def test_problems_are_counted_by_flow_and_cause() -> None:
    assert problems_by_cause(
        {
            "flow us->eu": 2,
            "flow us->eu: checkpoints": 1,
            "flow us->eu: group us-mm2": 1,
            "us->eu: heartbeats": 1,
            "metrics listener": 1,
        }
    ) == {
        ("us->eu", "topics"): 2,
        ("us->eu", "checkpoints"): 1,
        ("us->eu", "workers' group"): 1,
        ("us->eu", "heartbeats"): 1,
        ("", "metrics listener"): 1,
    }
