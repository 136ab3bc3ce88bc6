"""deploy/grafana is what dashboards/grafana writes, and what Grafana's own model reads."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.grafana.write import FOLDER, texts
from support.repository import ROOT

BOARDS = sorted(FOLDER.glob("*.json"))


def test_the_committed_files_are_what_is_written() -> None:
    assert {file.name: file.read_text() for file in BOARDS} == texts(), (
        "run: python -m dashboards.grafana"
    )


@pytest.fixture(params=BOARDS, ids=lambda file: file.stem)
def model(request: pytest.FixtureRequest) -> dict[str, Any]:
    file: Path = request.param
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_grafanas_model_reads_it_and_leaves_nothing_out(model: dict[str, Any]) -> None:
    read = Dashboard.from_json(model)
    assert json.loads(JSONEncoder(sort_keys=True).encode(read)) == model


def test_panels_have_numbers_places_of_their_own_and_a_query(model: dict[str, Any]) -> None:
    panels = [panel for panel in model["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["targets"] for panel in panels)
    for one, other in combinations((panel["gridPos"] for panel in model["panels"]), 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or apart, (one, other)


def test_it_has_variables_for_cluster_and_flow_and_links_to_runbooks_that_exist(
    model: dict[str, Any],
) -> None:
    variables = {each["name"] for each in model["templating"]["list"]}
    assert variables == {"datasource", "cluster", "flow", "runbooks"}
    links = [link["url"] for link in model["links"] if link["type"] == "link"]
    links += [link["url"] for panel in model["panels"] for link in panel.get("links") or ()]
    assert links
    for link in links:
        assert (ROOT / link.replace("$runbooks", "docs/runbooks")).is_file(), link
