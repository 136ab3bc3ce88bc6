"""The commands of docs/quickstart.md and docs/offsets.md, as a reader gives them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from support.clusters.grouping import commit
from support.clusters.reading import topics_of
from support.clusters.writing import create_topics, delete_topic, numbered, write
from support.commands import Done, heliograph, heliograph_here
from support.markdown import Block, blocks
from support.repository import ROOT

TOPIC = "quickstart-orders"


@pytest.fixture
def both(source_cluster: Cluster, target_cluster: Cluster) -> Iterator[tuple[Cluster, Cluster]]:
    """The shared clusters; what the pages' mirror leaves is deleted, heartbeats above all."""
    clusters = source_cluster, target_cluster
    before = [set(topics_of(each)) for each in clusters]
    yield clusters
    for each, topics in zip(clusters, before, strict=True):
        for topic in sorted(set(topics_of(each)) - topics):
            delete_topic(each, topic)


def test_the_commands_of_quickstart_and_offsets_do_what_the_pages_say(
    both: tuple[Cluster, Cluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = both
    monkeypatch.chdir(tmp_path)
    create_topics(source, {TOPIC: 1})
    write(source, TOPIC, numbered(range(3)))
    commit(source, "quickstart-readers", {(TOPIC, 0): 2})
    ran = 0

    for page in ("quickstart.md", "offsets.md"):
        done: Done | None = None
        for block in blocks(ROOT / "docs" / page):
            if block.language == "sh" and block.runs:
                done = _run(_here(block, source, target))
                ran += 1
            elif block.language == "properties":
                (tmp_path / "mm2.properties").write_text(_here(block, source, target))
            elif not block.language and block.runs:
                assert done is not None
                shown = done.stdout.splitlines()
                assert [line for line in block.text.splitlines() if line not in shown] == [], shown

    assert ran == 5


def _here(block: Block, source: Cluster, target: Cluster) -> str:
    with_source = block.text.replace("localhost:9092", source.bootstrap_servers)
    return with_source.replace("localhost:9192", target.bootstrap_servers)


def _run(line: str) -> Done:
    command, *arguments = shlex.split(line)
    assert command == "heliograph"
    done = (heliograph if "run" in arguments else heliograph_here)(*arguments)
    assert done.returncode == 0, done.stderr
    return done
