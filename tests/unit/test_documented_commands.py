"""Commands and settings in the pages: the command line takes them, and the readers of files know them."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.exceptions import TyperException
from typer.main import get_command

from heliograph.cli.main import app
from heliograph.config.formats.load import load
from heliograph.errors import ConfigError
from support.markdown import blocks
from support.repository import ROOT

_PAGES = sorted(
    [
        *(page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"),
        *(page for folder in ("docs", "examples") for page in (ROOT / folder).rglob("*.md")),
    ]
)
_INLINE = re.compile(r"`(heliograph [^`]+)`")
_ALIASES = re.compile(r"^(\w+)\.bootstrap\.servers", re.MULTILINE)
#: What a block shows that a reader replaces, by something that can be read.
_JAAS = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required username='u' password='p';"
)
_FILLED_IN = (
    (re.compile(r"\$\{file:[^}]+\}"), "filled-in:9092"),
    (re.compile(r'"…"'), '"secret"'),
    (re.compile(r"= …$", re.MULTILINE), f"= {_JAAS}"),
)


def _commands(page: Path) -> list[str]:
    text = page.read_text()
    lines = [
        line.split(" #")[0]
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.splitlines()
    ]
    return [*(each for each in lines if each.startswith("heliograph ")), *_INLINE.findall(text)]


@pytest.mark.parametrize(
    "page",
    [each for each in _PAGES if _commands(each)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_of_a_page_are_commands_of_heliograph(page: Path) -> None:
    assert {each: why for each in _commands(page) if (why := _refusal(each))} == {}


def _refusal(command: str) -> str:
    """What the command line says against it; empty if it takes it."""
    words = [each.split("|")[0] for each in shlex.split(command)[1:] if each not in ("…", ">")]
    root = get_command(app)
    context = root.context_class(root, info_name="heliograph")
    if words[0] == "--version":
        return ""
    command = root.get_command(context, words[0])  # type: ignore[attr-defined]
    if command is None:
        return f"there is no command {words[0]}"
    if not words[1:]:  # a command alone is its name in a sentence
        return ""
    try:
        command.make_context(words[0], words[1:], parent=context)
    except TyperException as e:
        return "" if _is_part(e) else e.format_message()
    return ""


def _is_part(e: TyperException) -> bool:
    """A sentence may show some words of a command only: `heliograph run --once`."""
    return e.format_message().startswith("Missing ")


def test_targets_of_make_and_extras_of_the_package_that_pages_name_are_there() -> None:
    text = "".join(page.read_text() for page in _PAGES)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    install = (ROOT / "docs" / "install.md").read_text()

    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) - targets == set()
    extras = set(project["optional-dependencies"])
    assert set(re.findall(r"[Ee]xtra `(\w+)`", text)) - extras == set()
    assert set(re.findall(r"^\| `(\w+)` \|", install, re.MULTILINE)) == extras


def test_units_of_systemd_that_the_page_of_installation_copies_are_there() -> None:
    page = (ROOT / "docs" / "install.md").read_text()

    assert (files := re.findall(r"deploy/systemd/[\w.-]+", page))
    assert [file for file in files if not (ROOT / file.rstrip("/")).exists()] == []


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param(page, block.text, id=f"{page.relative_to(ROOT)}-{number}")
        for page in _PAGES
        for number, block in enumerate(blocks(page))
        if block.language == "properties"
    ],
)
def test_settings_of_a_page_are_read_without_a_complaint(
    page: Path, text: str, tmp_path: Path
) -> None:
    file = tmp_path / "mm2.properties"
    for pattern, instead in _FILLED_IN:
        text = pattern.sub(instead, text)
    file.write_text(_whole(text))

    try:
        found = load(file, environment={})
    except ConfigError as e:
        pytest.fail(str(e))
    assert list(found.warnings) == []


def _whole(text: str) -> str:
    """A page may show some of a file's lines only."""
    if "clusters =" not in text:
        pair = ("source", "target") if text.startswith(("source", "target")) else ("A", "B")
        one, other = pair
        flows = f"{one}->{other}.enabled = true\n{other}->{one}.enabled = true\n"
        text = f"clusters = {one}, {other}\n{flows}{text}"
    clusters = re.search(r"^clusters = (.+)$", text, re.MULTILINE)
    assert clusters is not None
    named = {each.strip() for each in clusters[1].split(",")}
    missing = sorted(named - set(_ALIASES.findall(text)))
    return text + "".join(f"{each}.bootstrap.servers = {each}.example:9092\n" for each in missing)
