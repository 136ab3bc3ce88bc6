from __future__ import annotations

import re

from heliograph.config.metrics_config import MetricsConfig, Names
from heliograph.metrics.exposition import Exposition
from heliograph.metrics.page import metrics_page
from heliograph.metrics.table import TABLE
from support.repository import ROOT
from support.snapshots import SNAPSHOT

PAGE = ROOT / "docs" / "metrics.md"


def test_the_committed_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text() == metrics_page(), (
        "run: python -m heliograph.metrics.page > docs/metrics.md"
    )


def test_every_metric_is_on_the_page() -> None:
    page = metrics_page()

    assert [metric.name for metric in TABLE if f"| `{metric.name}` |" not in page] == []


def test_every_name_of_mirrormaker_is_on_the_page() -> None:
    """Those of MM2's own registry are listed once, with an X."""
    page = metrics_page()
    own = {metric.name.removesuffix("_total") for metric in TABLE}
    others = [
        family.name
        for family in Exposition(MetricsConfig(names=frozenset(Names))).families(SNAPSHOT)
        if family.name not in own
    ]

    def is_listed(name: str) -> bool:
        of_registry = re.fullmatch(
            r"(kafka_connect_mirror_\w+connector)_(\w+?)(_avg|_min|_max)?", name
        )
        if of_registry is not None:
            return f"`{of_registry[1]}_X`" in page and f"`{of_registry[2]}`" in page
        return f"`{name}`" in page or f"`{name}_total`" in page

    assert [name for name in others if not is_listed(name)] == []
