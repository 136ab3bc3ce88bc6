"""Many flows in one mirror: aggregation, fan-out, three clusters; circles are refused and explained."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import javaproperties

from heliograph import MirrorClient
from heliograph.embedded import Cluster
from support.clusters.reading import offsets, topics_of
from support.clusters.writing import create_topics, numbered, write
from support.flows.mirroring import Running, load_properties, running
from support.flows.pair import Pair
from support.waiting import PATIENCE_SECONDS, eventually

IDENTITY = {"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"}


def test_aggregation_and_fan_out_over_three_clusters(
    pair: Pair, target_cluster: Cluster, tmp_path: Path
) -> None:
    """p -> b, p -> c, b -> c: c gets everything, also what p wrote by way of b."""
    p, b, c = pair.primary_alias, pair.backup_alias, f"c{pair.mark}"
    topic = pair.create(partitions=2)
    create_topics(pair.backup, {pair.topic("own"): 1})
    write(pair.primary, topic, numbered(range(5)))
    write(pair.backup, pair.topic("own"), numbered(range(7)))
    written = pair.properties(both=False) | {
        "clusters": f"{p}, {b}, {c}",
        f"{c}.bootstrap.servers": target_cluster.bootstrap_servers,
        f"{p}->{c}.enabled": "true",
        f"{b}->{c}.enabled": "true",
    }
    with running(pair.spark, load_properties(tmp_path, written)) as mirror:
        for where, name, count in (
            (pair.backup, f"{p}.{topic}", 5),
            (target_cluster, f"{p}.{topic}", 5),
            (target_cluster, f"{b}.{pair.topic('own')}", 7),
            (target_cluster, f"{b}.{p}.{topic}", 5),
        ):
            pair.wait_for_topic(name, on=where)
            eventually(
                lambda where=where, name=name: offsets(where, name)[1],
                lambda end, count=count: end == count,
            )
        eventually(
            lambda: {receipt.flow for receipt in mirror.progress.receipts()},
            lambda flows: flows == {f"{p}->{b}", f"{p}->{c}", f"{b}->{c}"},
        )
    with MirrorClient({"bootstrap.servers": target_cluster.bootstrap_servers}) as client:
        assert f"{b}.{p}.{topic}" in client.remote_topics(b)


def beyond_patterns(mirror: Running) -> list[str]:
    """Problems, without those of patterns that match nothing in a test."""
    return [problem for problem in mirror.problems() if " matches no " not in problem]


def test_identity_both_ways_is_refused_for_the_topics_that_would_go_in_circles(pair: Pair) -> None:
    circling, only_here = pair.create("circling", 1), pair.create("only-here", 1)
    create_topics(pair.backup, {circling: 1})
    write(pair.primary, circling, numbered(range(5)))
    write(pair.primary, only_here, numbered(range(5)))
    settings = IDENTITY | {f"{pair.back}.topics": circling}
    with pair.running(settings, both=True) as mirror:
        pair.wait_for_copies(only_here, 5)
        problems = eventually(lambda: beyond_patterns(mirror), lambda found: len(found) >= 2)
        write(pair.backup, circling, numbered(range(1)))
        write(pair.primary, only_here, numbered(range(5, 8)))
        pair.wait_for_copies(only_here, 8)

    p, b = pair.primary_alias, pair.backup_alias
    assert [problem for problem in problems if problem.startswith(f"flow {pair.forth}")] == [
        f"flow {pair.forth}: {circling}: not mirrored: it would go round in a cycle ({p} -> {b} -> {p}) "
        f"and come back as {circling}; exclude it from one of these flows (topics, topics.exclude), or "
        "name remote topics with DefaultReplicationPolicy in all of them"
    ]
    assert offsets(pair.primary, circling)[1] == 5
    assert offsets(pair.backup, circling)[1] == 1


def test_one_cluster_under_two_aliases_is_not_mirrored_onto_itself(pair: Pair) -> None:
    topic = pair.create(partitions=1)
    write(pair.primary, topic, numbered(range(5)))
    same = {
        f"{pair.backup_alias}.bootstrap.servers": pair.primary.bootstrap_servers,
        "topics": f".*t{pair.mark}-.*",
    }
    with pair.running(same) as mirror:
        problems = eventually(lambda: beyond_patterns(mirror), lambda found: len(found) > 1)

    circle = next(problem for problem in problems if "not mirrored" in problem)
    assert f"{pair.primary_alias} are one cluster (id " in circle
    assert "correct bootstrap.servers, or exclude the copies with topics.exclude" in circle
    assert any("no group offsets are committed" in problem for problem in problems)
    assert f"{pair.primary_alias}.{topic}" not in topics_of(pair.primary)


def test_identity_back_by_another_process_with_other_aliases_is_refused(
    pair: Pair, tmp_path: Path
) -> None:
    """Aliases do not match, cluster ids do."""
    topic = pair.create(partitions=1)
    write(pair.primary, topic, numbered(range(5)))
    back = {
        "clusters": "here, there",
        "here.bootstrap.servers": pair.primary.bootstrap_servers,
        "there.bootstrap.servers": pair.backup.bootstrap_servers,
        "there->here.enabled": "true",
        "there->here.topics": topic,
    }
    own = {"clusters", *(key for key in pair.properties(both=False) if pair.mark in key)}
    shared = {k: v for k, v in pair.properties(IDENTITY, both=False).items() if k not in own}
    with _other_process(pair.properties(IDENTITY, both=False), tmp_path):
        pair.wait_for_copies(topic, 5)
        _wait_for_state(pair)
        with running(pair.spark, load_properties(tmp_path, shared | back)) as mirror:
            problems = eventually(lambda: beyond_patterns(mirror), lambda found: len(found) > 0)
            write(pair.primary, topic, numbered(range(5, 10)))
            pair.wait_for_copies(topic, 10)

    assert f"flow {pair.forth} of another Heliograph mirrors it from here to there" in problems[0]
    assert offsets(pair.primary, topic)[1] == 10


@contextmanager
def _other_process(properties: dict[str, str], folder: Path) -> Iterator[None]:
    path = folder / "other.properties"
    path.write_text(javaproperties.dumps(properties, timestamp=False))
    process = subprocess.Popen([sys.executable, "-m", "heliograph", "run", str(path)])
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _wait_for_state(pair: Pair) -> None:
    """Until the first mirror has told, in its state topic on the target, that it mirrors the topic."""
    state = f"mm2-heliograph.{pair.primary_alias}.internal"
    pair.wait_for_topic(state)
    eventually(lambda: offsets(pair.backup, state)[1], lambda end: end > 0)


def test_a_cluster_that_does_not_answer_keeps_no_other_flow_waiting(
    pair: Pair, tmp_path: Path
) -> None:
    topic = pair.create(partitions=1)
    write(pair.primary, topic, numbered(range(5)))
    gone = f"gone{pair.mark}"
    with socket.socket() as bound:  # nobody listens
        bound.bind(("127.0.0.1", 0))
        written = pair.properties(both=False) | {
            "clusters": f"{pair.primary_alias}, {pair.backup_alias}, {gone}",
            f"{gone}.bootstrap.servers": f"127.0.0.1:{bound.getsockname()[1]}",
            f"{pair.primary_alias}->{gone}.enabled": "true",
            f"{gone}->{pair.backup_alias}.enabled": "true",
        }
        with running(pair.spark, load_properties(tmp_path, written)) as mirror:
            pair.wait_for_copies(pair.remote(topic), 5)
            problems = "\n".join(mirror.problems())

    assert f"flow {gone}->{pair.backup_alias}: cluster '{gone}': no broker answers" in problems
    group = f"group {pair.primary_alias}-mm2"  # which decides whether the flow runs here
    assert (
        f"flow {pair.primary_alias}->{gone}: {group}: cluster '{gone}': no broker answers"
        in problems
    )
