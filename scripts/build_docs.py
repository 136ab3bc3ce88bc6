"""Prepares the pages of the documentation site in build/pages: docs/, and the pages at the root.

The site has the root's pages beside those of docs/, and none of the source files that pages link to. So links
between pages are adapted, and a link to another file of the repository becomes its path, as text. Pages in
docs/ stay readable in the repository as they are.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "pages"
ROOT_PAGES = ("COMPATIBILITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "TESTING.md", "SECURITY.md")
#: What the site serves besides pages.
_ASSETS = (".svg", ".png", ".yaml")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def place_of(path: PurePosixPath) -> PurePosixPath | None:
    """Where a file of the repository is on the site; None: not there."""
    if path.parts[:1] == ("docs",):
        page = path.suffix == ".md" or path.suffix in _ASSETS
        return PurePosixPath(*path.parts[1:]) if page else None
    if str(path) == "README.md":
        return PurePosixPath("index.md")
    return path if str(path) in ROOT_PAGES else None


def adapted(text: str, page: PurePosixPath) -> str:
    """The text of `page` with its links as the site needs them."""
    here = place_of(page)
    assert here is not None

    def link(match: re.Match[str]) -> str:
        image, words, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = _normal(page.parent / target)
        place = place_of(path)
        if place is None:
            return f"{words} (`{path}`)"
        return f"{image}[{words}]({_relative(place, here.parent)}{anchor or ''})"

    return _outside_code(text, lambda part: _LINK.sub(link, part))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Fenced blocks stay as they are."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def _normal(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def _relative(place: PurePosixPath, folder: PurePosixPath) -> PurePosixPath:
    return PurePosixPath(*[".."] * len(folder.parts), *place.parts)


def prepare(pages: Path = PAGES) -> None:
    shutil.rmtree(pages, ignore_errors=True)
    files = [each for each in (ROOT / "docs").rglob("*") if each.is_file()]
    for file in [*files, *(ROOT / name for name in ROOT_PAGES)]:
        path = PurePosixPath(file.relative_to(ROOT).as_posix())
        place = place_of(path)
        if place is None:
            continue
        copy = pages / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            copy.write_text(adapted(file.read_text(), path))
        else:
            shutil.copyfile(file, copy)


if __name__ == "__main__":
    prepare()
