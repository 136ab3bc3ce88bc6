"""Every story has its files, its picture and its place in the list; no file has a real secret or address."""

from __future__ import annotations

import re

import pytest

from examples.stories import STORIES
from examples.support.clusters import SECRETS
from examples.support.story import Story
from support.repository import ROOT

EXAMPLES = ROOT / "examples"


def test_every_folder_with_a_story_is_in_the_list() -> None:
    assert {file.parent.name for file in EXAMPLES.glob("*/story.py")} == {
        s.name for s in STORIES
    } | {"support"}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_story_has_a_picture_and_names_each_of_its_files(story: Story) -> None:
    folder = EXAMPLES / story.name
    page = (folder / "README.md").read_text()
    files = {
        str(f.relative_to(folder / "files")) for f in (folder / "files").rglob("*") if f.is_file()
    }

    assert "```mermaid" in page
    assert set(re.findall(r"\]\(files/([^)]+)\)", page)) == files
    assert page.startswith(f"# {story.title}\n")
    assert f"ARGS={story.name.replace('_', '-')}`" in page
    assert f"({story.name}/README.md)" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_files_hold_the_documents_host_names_and_no_secret(story: Story) -> None:
    for file in (EXAMPLES / story.name / "files").rglob("*"):
        if file.is_file():
            text = file.read_text()
            assert "127.0.0.1" not in text
            assert not [secret for secret in SECRETS if secret in text]
