"""Topics created again: no group fails over to a place ahead of the first record it has not read."""

from __future__ import annotations

import pytest

from heliograph.embedded import Cluster
from support.clusters.reading import ends, read_all, topics_of
from support.clusters.writing import create_topics, delete_topic, numbered, write
from support.flows.mirroring import Running
from support.flows.pair import Pair, commit, committed, consume
from support.waiting import eventually

SYNC = {"sync.group.offsets.enabled": "true", "offset.lag.max": "10"}
#: Topics are not refreshed by the clock: tasks have to notice.
NEVER = {"refresh.topics.enabled": "false"}
MODES = pytest.mark.parametrize("translation", ["exact", "syncs"])


def settings(translation: str) -> dict[str, str]:
    return SYNC | {"offset.translation": translation}


def recreate(cluster: Cluster, topic: str) -> None:
    delete_topic(cluster, topic)
    eventually(lambda: topics_of(cluster), lambda names: topic not in names)
    create_topics(cluster, {topic: 1})


def generation(mirror: Running, topic: str) -> int:
    """Counts how often the partition was leased anew because its logs are others."""
    receipt = mirror.receipt(topic)
    return -1 if receipt is None else receipt.generation


def mirrored_to_both(pair: Pair, topic: str, group: str) -> None:
    """1000 records, and the group at 500 of them on both sides."""
    write(pair.primary, topic, *(numbered(range(n, n + 10)) for n in range(0, 1000, 10)))
    pair.wait_for_topic(pair.remote(topic))
    # The first records wait for Spark's workers, which a busy machine takes minutes to start.
    eventually(lambda: ends(pair.backup, pair.remote(topic)), lambda found: found == {0: 1000})
    commit(pair.primary, group, topic, {0: 500})
    found = pair.wait_for_checkpoints(group, pair.remote(topic), 1, above=0)
    pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: found[0].downstream})


def assert_nothing_is_skipped(pair: Pair, topic: str, group: str, end: int = 2000) -> None:
    """The new log holds source offsets from 1000 on, of which the group has read none."""
    remote = pair.remote(topic)
    pair.wait_for_group(pair.backup, group, remote, {0: 0})
    last = [c for c in pair.checkpoints() if (c.group, c.topic) == (group, remote)][-1]
    assert (last.upstream, last.downstream) == (500, 0)
    values = [record.value for record in read_all(pair.backup, remote)[0]]
    assert values == [b"value %d" % number for number in range(1000, end)]
    read = consume(pair.backup, group, remote, end - 1000)
    assert read == [(0, offset) for offset in range(end - 1000)]


@MODES
def test_a_remote_topic_created_again_while_mirroring_takes_its_groups_back(
    pair: Pair, translation: str
) -> None:
    topic, group, moving = pair.create(partitions=1), pair.group("still"), pair.group("moving")
    with pair.running(settings(translation) | NEVER) as mirror:
        mirrored_to_both(pair, topic, group)
        before = generation(mirror, topic)
        recreate(pair.backup, pair.remote(topic))
        write(pair.primary, topic, *(numbered(range(n, n + 10)) for n in range(1000, 2000, 10)))
        pair.wait_for_copies(pair.remote(topic), 1000)
        pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 0})
        said = "\n".join(mirror.problems())
        eventually(lambda: generation(mirror, topic), lambda now: now > before)
        write(pair.primary, topic, *(numbered(range(n, n + 10)) for n in range(2000, 2100, 10)))
        pair.wait_for_copies(pair.remote(topic), 1100)
        commit(pair.primary, moving, topic, {0: 2050})
        if translation == "exact":
            pair.wait_for_group(pair.backup, moving, pair.remote(topic), {0: 1050})
        found = pair.wait_for_checkpoints(moving, pair.remote(topic), 1, above=0)
    assert_nothing_is_skipped(pair, topic, group, 2100)
    assert f"{pair.remote(topic)} was deleted and created again" in said
    assert found[0].downstream <= 1050


@MODES
def test_a_remote_topic_created_again_between_two_runs_takes_its_groups_back(
    pair: Pair, translation: str
) -> None:
    topic, group = pair.create(partitions=1), pair.group()
    with pair.running(settings(translation)):
        mirrored_to_both(pair, topic, group)
        pair.wait_until_read(topic)
    recreate(pair.backup, pair.remote(topic))
    write(pair.primary, topic, *(numbered(range(n, n + 10)) for n in range(1000, 2000, 10)))
    for _ in range(2):  # what is known of the old log is read again at every start
        with pair.running(settings(translation)):
            pair.wait_for_copies(pair.remote(topic), 1000)
            pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 0})
            pair.wait_until_read(topic)
    assert_nothing_is_skipped(pair, topic, group)


def test_a_source_topic_created_again_translates_by_its_new_log_alone(pair: Pair) -> None:
    topic, group = pair.create(partitions=1), pair.group()
    with pair.running(settings("exact")):
        mirrored_to_both(pair, topic, group)
        recreate(pair.primary, topic)
        write(pair.primary, topic, numbered(range(5000, 5100)))
        pair.wait_for_copies(pair.remote(topic), 1100)
        commit(pair.primary, group, topic, {0: 50})
        pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 1050})
    assert committed(pair.backup, group, pair.remote(topic)) == {0: 1050}
    (first, *_) = consume(pair.backup, group, pair.remote(topic), 50)
    assert first == (0, 1050)
