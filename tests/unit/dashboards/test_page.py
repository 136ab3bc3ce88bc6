"""docs/dashboards.md is made from committed results, and those are good."""

from __future__ import annotations

import json

import yaml

from dashboards.alerts import RULES
from dashboards.page import page
from dashboards.queries import ours, theirs
from support.repository import ROOT

RESULTS = ROOT / "dashboards" / "results"
LATEST = json.loads((RESULTS / "latest.json").read_text())
MM2 = json.loads((RESULTS / "mm2.json").read_text())


def test_the_committed_page_is_what_the_results_give() -> None:
    assert (ROOT / "docs" / "dashboards.md").read_text() == page(), (
        "run: python -m dashboards.page > docs/dashboards.md"
    )


def test_the_results_have_every_query_of_every_dashboard_with_data_or_a_reason() -> None:
    wanted = {(d.name, q.panel) for d in (*theirs(), *ours()) for q in d.queries}
    assert {(row["dashboard"], row["panel"]) for row in LATEST["queries"]} == wanted
    assert [row for row in LATEST["queries"] if not row["series"] and not row["reason"]] == []


def test_the_results_have_every_alert_fired_and_ended() -> None:
    rules = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    assert {row["alert"] for row in LATEST["alerts"]} == {rule["alert"] for rule in rules}
    for row in LATEST["alerts"]:
        assert row["fired_after"] is not None, row
        assert row["ended_after"] is not None, row
        assert row["lag"] == row["counted"], row


def test_differences_to_mirror_maker_2_have_a_reason() -> None:
    assert [row for row in (*MM2["series"], *MM2["values"]) if not row["good"]] == []
