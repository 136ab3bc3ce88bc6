"""The dashboards as files, as Grafana imports them."""

from __future__ import annotations

import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.grafana.flow import flow
from dashboards.grafana.groups import groups
from dashboards.grafana.overview import overview
from dashboards.grafana.spark import spark

FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"
_BOARDS = {"overview": overview, "flow": flow, "groups": groups, "spark": spark}


def texts() -> dict[str, str]:
    """By file name."""
    return {
        f"heliograph-{name}.json": json.dumps(json.loads(_encoded(board())), indent=1) + "\n"
        for name, board in _BOARDS.items()
    }


def _encoded(board: object) -> str:
    return JSONEncoder(sort_keys=True).encode(board)
