"""The pages of the documentation site."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.build_docs import adapted, prepare
from support.repository import ROOT


def _adapted(text: str, page: str) -> str:
    return adapted(text, PurePosixPath(page))


def test_a_link_between_pages_leads_to_the_page_on_the_site() -> None:
    assert _adapted("[c](../COMPATIBILITY.md#x)", "docs/rest.md") == "[c](COMPATIBILITY.md#x)"
    assert _adapted("[r](docs/rest.md)", "CONTRIBUTING.md") == "[r](rest.md)"
    assert _adapted("[s](../security.md)", "docs/recipes/msk.md") == "[s](../security.md)"
    assert _adapted("![p](images/run.svg)", "docs/index.md") == "![p](images/run.svg)"


def test_a_link_to_a_file_that_is_not_on_the_site_becomes_its_path() -> None:
    assert _adapted("[all](../chaos/results/latest.md)", "docs/faults.md") == (
        "all (`chaos/results/latest.md`)"
    )


def test_links_to_other_hosts_and_code_stay_as_they_are() -> None:
    text = "[k](https://kafka.apache.org)\n```sh\n[x](../src/y.py)\n```\n"

    assert _adapted(text, "docs/rest.md") == text


def test_every_page_is_in_the_navigation_and_every_link_leads_to_a_page(tmp_path: Path) -> None:
    prepare(tmp_path)
    pages = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.md")}
    shown = set(_names(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    decisions = {page for page in pages if re.match(r"decisions/\d", page)}

    assert shown == pages - decisions  # the page of decisions has the list of them
    for page in sorted(tmp_path.rglob("*.md")):
        links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        missing = [x for x in links if "://" not in x and not (page.parent / x).exists()]
        assert missing == [], page


def _names(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [name for each in values for name in _names(each)]
