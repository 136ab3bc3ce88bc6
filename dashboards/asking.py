"""Asks a Prometheus for every panel of every dashboard, until each has data or the time is over."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dashboards.prometheus import Prometheus, Series
from dashboards.queries import Dashboard, Query

#: Queries of others that have no data here, by panel or by the name that begins them, and why.
#: With MirrorMaker 2 itself they have none either.
WITHOUT_DATA = {
    ("strimzi-jmx", "CPU Usage"): "cAdvisor's metric, of Kubernetes",
    ("strimzi-reporter", "Source Connector - Connect Outstanding Messages Queue"): (
        "asks for _objectname, a label of the JMX exporter, which the reporter does not have"
    ),
    ("msk", "kafka_consumer_incoming_byte_total"): (
        "asks for clients consumer-mm2-msc-cons-N; the consumer of a task is named "
        "source->target|connector-task|replication-consumer, as in MirrorMaker 2 of Kafka 4.3"
    ),
}
_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    query: Query
    series: int
    example: str

    @property
    def reason(self) -> str:
        """Why it may be empty; "" if it must not."""
        for (dashboard, part), why in WITHOUT_DATA.items():
            if dashboard == self.query.dashboard and part in (
                self.query.panel,
                self.query.expr.partition("{")[0],
            ):
                return why
        return ""

    @property
    def good(self) -> bool:
        return self.series > 0 or bool(self.reason)

    def row(self) -> dict[str, Any]:
        asked = {
            k: v
            for k, v in asdict(self.query).items()
            if k in ("dashboard", "panel", "expr", "unit")
        }
        return {**asked, "series": self.series, "example": self.example, "reason": self.reason}


def ask_all(
    prometheus: Prometheus,
    dashboards: Sequence[Dashboard],
    seconds: float,
    say: Callable[[str], None],
) -> list[Answer]:
    """Each variable and each query, again until all have data; at most for this long."""
    deadline = time.monotonic() + seconds
    while True:
        answers = [answer for each in dashboards for answer in _ask(prometheus, each)]
        empty = [each for each in answers if not each.good]
        if not empty or time.monotonic() > deadline:
            for each in empty:
                say(f"NO DATA: {each.query.dashboard}, {each.query.panel}: {each.query.expr}")
            return answers
        time.sleep(_PAUSE_SECONDS)


def _ask(prometheus: Prometheus, dashboard: Dashboard) -> list[Answer]:
    _, queries = dashboard.resolved(prometheus.texts)
    return [_answer(prometheus, query) for query in queries]


def _answer(prometheus: Prometheus, query: Query) -> Answer:
    found = [each for each in prometheus.now(query.expr) if not math.isnan(each.value)]
    return Answer(query=query, series=len(found), example=_example(found))


def _example(found: Sequence[Series]) -> str:
    if not found:
        return ""
    labels = ",".join(f"{k}={v}" for k, v in found[0].labels.items())
    return f"{{{labels}}} {found[0].value:.6g}" if labels else f"{found[0].value:.6g}"
