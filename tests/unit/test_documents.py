"""The size of README, and the links of all pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.repository import ROOT

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_ANCHORED = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")
_PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(page for folder in ("docs", "examples") for page in (ROOT / folder).rglob("*.md")),
    ]
)


def test_readme_is_short_and_narrow() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()

    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 140] == []


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_of_this_repository(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link]

    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings_lead_to_headings(page: Path) -> None:
    found = _ANCHORED.findall(page.read_text())
    links = [(page.parent / path if path else page, anchor) for path, anchor in found]

    assert [(str(p), a) for p, a in links if p.suffix == ".md" and a not in _anchors(p)] == []


def _anchors(page: Path) -> set[str]:
    """The ids that a renderer gives to headings, and those of `<a id=…>`."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))
