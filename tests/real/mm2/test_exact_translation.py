"""Groups at random positions: after failover none reads a record again, and none skips one."""

from __future__ import annotations

import random

from support.clusters.reading import read_all
from support.clusters.writing import Writer, numbered, write
from support.flows.pair import Pair, commit, committed

SYNC = {"sync.group.offsets.enabled": "true"}
GROUPS = 25


def test_the_lag_of_every_group_is_the_same_on_both_sides(pair: Pair) -> None:
    """Holes, markers and aborted records in the source; a restart in the middle."""
    chance = random.Random(4)
    topic = pair.create(partitions=2)
    committed_only = {f"{pair.primary_alias}.consumer.isolation.level": "read_committed"}
    _write_some(pair, topic, chance, 0)
    with pair.running(SYNC | committed_only):
        pair.wait_until_read(topic)
    _write_some(pair, topic, chance, 1)
    with pair.running(SYNC | committed_only):
        pair.wait_until_read(topic)
        truth = _truth(pair, topic)
        groups = {
            pair.group(f"at-{n}"): {p: chance.randrange(len(truth[p])) for p in truth}
            for n in range(GROUPS)
        }
        for group, positions in groups.items():
            commit(pair.primary, group, topic, positions)
        for group, positions in groups.items():
            wanted = {p: truth[p][offset] for p, offset in positions.items()}
            pair.wait_for_group(pair.backup, group, pair.remote(topic), wanted)


def test_groups_keep_their_exact_place_over_a_restart_without_new_records(pair: Pair) -> None:
    topic, group = pair.create(partitions=1), pair.group()
    write(pair.primary, topic, *(numbered(range(n, n + 10)) for n in range(0, 1000, 10)))
    with pair.running(SYNC):
        pair.wait_for_copies(pair.remote(topic), 1000)
    commit(pair.primary, group, topic, {0: 123})
    with pair.running(SYNC):
        pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 123})
    assert committed(pair.backup, group, pair.remote(topic)) == {0: 123}


def _write_some(pair: Pair, topic: str, chance: random.Random, round: int) -> None:
    writer = Writer(pair.primary, topic, transactional=f"exact-{pair.mark}-{round}")
    number = round * 10_000
    for _ in range(40):
        writer.begin()
        count = chance.randrange(1, 30)
        for partition in range(2):
            writer.queue(topic, numbered(range(number, number + count), partition=partition))
        number += count
        writer.flush()
        if chance.random() < 0.2:
            writer.abort()
        else:
            writer.commit()


def _truth(pair: Pair, topic: str) -> dict[int, list[int]]:
    """By partition, for every upstream offset: how many mirrored records lie before it downstream."""
    found = {}
    sources, copies = read_all(pair.primary, topic), read_all(pair.backup, pair.remote(topic))
    for partition, records in sources.items():
        assert [r.value for r in records] == [r.value for r in copies[partition]]
        end = pair.end(topic, partition)
        places = {r.offset: c.offset for r, c in zip(records, copies[partition], strict=True)}
        after, table = len(copies[partition]), [0] * (end + 1)
        for offset in range(end, -1, -1):
            after = places.get(offset, after)
            table[offset] = after
        found[partition] = table
    return found
