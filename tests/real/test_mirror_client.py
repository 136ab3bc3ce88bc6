"""MirrorClient on real clusters, where Java would say less: strange records, topics that are not there."""

from __future__ import annotations

import contextlib
import io

import pytest

from heliograph import MirrorClient
from heliograph.embedded import Cluster
from heliograph.errors import ConnectionLost, InvalidPattern, NotFound, Unreachable
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import TopicPartition
from heliograph.policy.java_regex import JavaPattern
from support.clusters.writing import New, create_topics, write
from support.flows.mirroring import new_alias
from support.repository import ROOT
from support.waiting import PATIENCE_SECONDS

DOCS = ROOT / "docs" / "mirror_client.md"


def properties(cluster: Cluster) -> dict[str, str]:
    return {"bootstrap.servers": cluster.bootstrap_servers}


def write_checkpoints(cluster: Cluster, alias: str, *records: New | Checkpoint) -> None:
    topic = f"{alias}.checkpoints.internal"
    create_topics(cluster, {topic: 1})  # not compacted: that would refuse records without a key
    write(
        cluster,
        topic,
        [New(key=r.key(), value=r.value()) if isinstance(r, Checkpoint) else r for r in records],
    )


@pytest.fixture
def alias(request: pytest.FixtureRequest) -> str:
    return new_alias(request.node.originalname)


def test_what_cannot_be_understood_is_counted_and_takes_nothing_back(
    target_cluster: Cluster, alias: str, caplog: pytest.LogCaptureFixture
) -> None:
    good, newer = Checkpoint("g", "t", 0, 5, 4), Checkpoint("g", "t", 0, 9, 8)
    write_checkpoints(
        target_cluster,
        alias,
        good,
        New(key=newer.key(), value=b"\x00\x01" + newer.value()[2:]),  # version 1
        New(key=newer.key(), value=newer.value()[:9]),
        New(key=None, value=newer.value()),
        New(key=b"\x00\x05g", value=newer.value()),
    )

    with MirrorClient(properties(target_cluster)) as client:
        assert client.translate_offsets(alias, "g") == {TopicPartition("t", 0): (4, "")}
        assert client.malformed == 4

    assert "offset 1: version: expected 0, found 1" in caplog.text


def test_a_tombstone_takes_a_checkpoint_back(target_cluster: Cluster, alias: str) -> None:
    first, second = Checkpoint("g", "t", 0, 5, 4), Checkpoint("g", "t", 1, 6, 5)
    write_checkpoints(target_cluster, alias, first, second, New(key=first.key(), value=None))

    with MirrorClient(properties(target_cluster)) as client:
        assert client.checkpoints(alias) == [second]
        assert client.malformed == 0


def test_a_source_without_checkpoints_is_an_error_that_names_those_there_are(
    target_cluster: Cluster, alias: str
) -> None:
    write_checkpoints(target_cluster, alias)

    with MirrorClient(properties(target_cluster)) as client:
        assert client.translate_offsets(alias, "g") == {}
        with pytest.raises(NotFound, match=rf"nobody.*{alias}\.checkpoints\.internal"):
            client.translate_offsets("nobody", "g")


def test_a_part_of_the_checkpoints_is_never_an_answer(target_cluster: Cluster, alias: str) -> None:
    """Unlike Java, which returns what it has read when the time is up."""
    more_than_a_fetch = [Checkpoint("g", "t", n, n, n, "m" * 30_000) for n in range(100)]
    write_checkpoints(target_cluster, alias, *more_than_a_fetch)

    with MirrorClient(properties(target_cluster)) as client:
        with pytest.raises(ConnectionLost, match="could not be read to its end in 0 s"):
            client.translate_offsets(alias, "g", timeout=0)

        assert len(client.translate_offsets(alias, "g", timeout=PATIENCE_SECONDS)) == 100


def test_groups_are_found_by_javas_regular_expressions(target_cluster: Cluster, alias: str) -> None:
    """MirrorClientTest.testRemoteConsumerOffsets, testRemoteConsumerOffsetsIllegalArgs"""
    names = ["orders-eu", "orders-us", "my-orders-eu"]
    write_checkpoints(target_cluster, alias, *(Checkpoint(g, "t", 0, 1, 1) for g in names))

    with MirrorClient(properties(target_cluster)) as client:
        assert sorted(client.translate_offsets(alias, groups="orders-[a-z&&[^s]]+")) == names[:1]
        assert sorted(client.translate_offsets(alias, groups=JavaPattern("orders-.*"))) == names[:2]
        with pytest.raises(InvalidPattern):
            client.translate_offsets(alias, groups="orders-(")
        with pytest.raises(TypeError, match="either group or groups"):
            client.translate_offsets(alias)  # type: ignore[call-overload]


def test_a_cluster_that_is_not_there_is_an_error() -> None:
    client = MirrorClient({"bootstrap.servers": "127.0.0.1:1"})
    with client, pytest.raises(Unreachable, match=r"127\.0\.0\.1:1"):
        client.upstream_clusters()


def test_the_example_of_the_documentation_runs(target_cluster: Cluster, alias: str) -> None:
    create_topics(target_cluster, {f"{alias}.heartbeats": 1})
    write_checkpoints(target_cluster, alias, Checkpoint("billing", f"{alias}.orders", 2, 70, 60))
    example = DOCS.read_text().partition("```python\n")[2].partition("```")[0]
    example = example.replace("backup:9092", target_cluster.bootstrap_servers)
    said = io.StringIO()

    with contextlib.redirect_stdout(said):
        exec(example.replace("primary", alias), {})

    first, second = said.getvalue().splitlines()
    assert alias in first
    assert first.endswith(" 1")
    assert second == f"{alias}.orders-2 continues at 60"
