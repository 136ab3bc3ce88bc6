"""Writes deploy/grafana/*.json: python -m dashboards.grafana"""

from __future__ import annotations

from pathlib import Path

from dashboards.grafana.write import FOLDER, texts


def main(folder: Path = FOLDER) -> None:
    for name, text in texts().items():
        (folder / name).write_text(text)


main()
