from __future__ import annotations

from heliograph.config.options import OPTIONS
from heliograph.config.options.reference_page import reference_page
from support.repository import ROOT

PAGE = ROOT / "docs" / "configuration.md"


def test_the_committed_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text() == reference_page(), (
        "run: python -m heliograph.config.options.reference_page > docs/configuration.md"
    )


def test_every_option_is_on_the_page() -> None:
    page = reference_page()

    assert [name for _, name in OPTIONS if f"| `{name}` |" not in page] == []
