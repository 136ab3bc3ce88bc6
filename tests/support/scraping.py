"""Scrapes a service as Prometheus does, over HTTP, and reads the text with prometheus-client's parsers."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain
from prometheus_client.samples import Sample

from support.waiting import PATIENCE_SECONDS

OPENMETRICS = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5"


class Scraped:
    """All samples of one scrape."""

    def __init__(self, samples: list[Sample]) -> None:
        self.samples = samples

    def value(self, name: str, **labels: str) -> float | None:
        """Of the only series with these labels; None: there is none."""
        found = self.all(name, **labels)
        assert len(found) <= 1, found
        return next((sample.value for sample in found), None)

    def all(self, name: str, **labels: str) -> list[Sample]:
        return [s for s in self.samples if s.name == name and labels.items() <= s.labels.items()]

    def state(self, name: str, **labels: str) -> set[str]:
        """The states whose series is not 0."""
        return {sample.labels["state"] for sample in self.all(name, **labels) if sample.value}


def scrape(url: str, accept: str = "text/plain") -> Scraped:
    text, content_type = scrape_text(url, accept)
    parse = openmetrics if content_type.startswith("application/openmetrics-text") else plain
    return Scraped([sample for family in parse(text) for sample in family.samples])


def scrape_text(
    url: str, accept: str = "", headers: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """The text and its content type."""
    request = urllib.request.Request(
        f"{url}/metrics", headers={"Accept": accept, **(headers or {})}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return answer.read().decode(), answer.headers["content-type"]
