"""The size of README, and the links of all pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.repository import ROOT

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_readme_is_short_and_narrow() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()

    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 140] == []


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_of_this_repository(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link]

    assert [link for link in links if not (page.parent / link).exists()] == []
