"""What a story is, and the run of one or several on shared clusters."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.support.clusters import Keys, guarded, make_keys
from examples.support.protocol import Protocol
from examples.support.services import Services
from examples.support.side import Side
from examples.support.stage import Stage
from harness.cluster_side import running_clusters


@dataclass(frozen=True, kw_only=True)
class Story:
    """`name` is its folder in examples/. `one_broker`: its clusters have one broker each, as in Compose."""

    name: str
    title: str
    tell: Callable[[Stage], None]
    one_broker: bool = False


@dataclass(frozen=True, kw_only=True)
class Clusters:
    source: Side
    target: Side
    keys: Keys


@contextlib.contextmanager
def clusters(keys: Keys, nodes: int) -> Iterator[Clusters]:
    """A source and a target of so many brokers each."""
    source, target = (guarded(name, keys, nodes) for name in ("source", "target"))
    with running_clusters(source, target):
        yield Clusters(source=Side(source), target=Side(target), keys=keys)


def play(
    story: Story, on: Clusters, services: Services, protocol: Protocol, *, short: bool
) -> None:
    """Runs the story and cleans up. Raises StoryFailed."""
    protocol.title(story.title)
    with tempfile.TemporaryDirectory(prefix="heliograph-story-") as home:
        stage = Stage(
            source=on.source,
            target=on.target,
            keys=on.keys,
            home=Path(home),
            protocol=protocol,
            services=services,
            short=short,
        )
        try:
            story.tell(stage)
        finally:
            on.source.clean()
            on.target.clean()


def play_all(
    stories: Sequence[Story], services: Services, protocol: Protocol, *, short: bool
) -> None:
    """Clusters are started once for all stories that have as many brokers; the short form has one pair."""
    with tempfile.TemporaryDirectory(prefix="heliograph-keys-") as folder:
        keys = make_keys(Path(folder))
        for nodes in (3, 1):
            mine = [s for s in stories if nodes == (1 if short or s.one_broker else 3)]
            if mine:
                with clusters(keys, nodes) as on:
                    for story in mine:
                        play(story, on, services, protocol, short=short)
