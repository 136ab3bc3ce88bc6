"""The stories of examples/ in their short form: one process, one pair of brokers, this run's Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.stories import STORIES
from examples.support.clusters import make_keys
from examples.support.protocol import Protocol
from examples.support.services import InProcess
from examples.support.story import Clusters, Story, clusters, play
from heliograph.spark.session import LocalSpark


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    with clusters(make_keys(tmp_path_factory.mktemp("keys")), nodes=1) as pair:
        yield pair


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_story_shows_what_its_document_promises(
    story: Story, both: Clusters, spark: LocalSpark
) -> None:
    protocol = Protocol()  # shown if the story fails

    play(story, both, InProcess(spark), protocol, short=True)

    assert protocol.checks > 0
