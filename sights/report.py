"""docs/sights.md: the table of faults and how they look."""

from __future__ import annotations

import datetime
import re
import subprocess
from pathlib import Path

from sights.sight import Seen

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
_PAGE = ROOT / "docs" / "sights.md"
_HEAD = """\
# How faults look

Each row is a real fault of a real mirror, and what showed it: a metric of `/metrics`, the page, a line of
`heliograph status`. Made by `make sights` on {date}, commit {commit}: it causes each fault, waits until all
three show it, and fails if one does not.

| fault | metrics | `heliograph status` | page |
|---|---|---|---|
"""
_PICTURES = """
## Pictures
"""
_LONGEST = 230
#: What is of this machine or of this run.
_OWN = (
    (re.compile(r"localhost:\d+|127\.0\.0\.1:\d+|\[::1\]:\d+"), "broker:9092"),
    (re.compile(r"(service at )\S+?, pid \d+"), r"\1host, pid …"),
)


def write_page(seen: list[Seen]) -> None:
    rows = [_row(each) for each in seen]
    pictures = [
        f"\n### {_capitalized(each.sight.title)}\n![{each.sight.title}]({_picture(each)})\n"
        for each in seen
    ]
    head = _HEAD.format(date=datetime.datetime.now(datetime.UTC).date(), commit=_commit())
    _PAGE.write_text(f"{head}{''.join(rows)}{_PICTURES}{''.join(pictures)}")


def _row(seen: Seen) -> str:
    title = f"**{seen.sight.title}**"
    link = f"[picture](#{_anchor(seen.sight.title)})"
    return f"| {title} | {_cell(seen.metrics)} | {_cell(seen.status)} | {link} |\n"


def _cell(lines: tuple[str, ...]) -> str:
    return "<br>".join(f"`{_shown(line)}`" for line in lines)


def _shown(line: str) -> str:
    for pattern, instead in _OWN:
        line = pattern.sub(instead, line)
    line = re.sub(r" {2,}", "  ", line).replace("|", "\\|").replace("`", "'")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _picture(seen: Seen) -> str:
    return f"images/sight-{seen.sight.name}.png"


def _capitalized(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]}"


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()
