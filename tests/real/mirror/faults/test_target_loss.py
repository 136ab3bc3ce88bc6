"""A target that has lost records which it had acknowledged is noticed, said, and healed.

The folder of one partition is put back as it was some time ago, as by an operator who restores a back-up. An
unclean leader election looks the same from outside.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.spark.session import LocalSpark
from support.clusters.reading import read_all
from support.clusters.writing import numbered, write
from support.flows.mirroring import TARGET, Flow, mirror_once, new_alias

COMMITTED = {"consumer_isolation_level": "read_committed"}
EXACTLY_ONCE = {f"{TARGET}.exactly.once.source.support": "enabled"}


@pytest.fixture(scope="module")
def losing() -> Iterator[Cluster]:
    with Cluster("losing", settings={"log.retention.ms": "-1"}) as cluster:
        yield cluster


@pytest.fixture
def flow(
    request: pytest.FixtureRequest,
    spark: LocalSpark,
    source_cluster: Cluster,
    losing: Cluster,
    tmp_path: Path,
) -> Flow:
    return Flow(new_alias(request.node.name), source_cluster, losing, spark, tmp_path)


def back_up(flow: Flow, topic: str) -> None:
    for kept, folder in _folders(flow, topic):
        shutil.copytree(folder, kept)
    flow.target.start_node(1)


def restore(flow: Flow, topic: str) -> None:
    for kept, folder in _folders(flow, topic):
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
    flow.target.start_node(1)


def _folders(flow: Flow, topic: str) -> Iterator[tuple[Path, Path]]:
    """Of a stopped broker."""
    flow.target.stop_node(1)
    (folder,) = flow.target.folder.rglob(f"{flow.remote(topic)}-0")
    yield flow.folder / "kept", folder


def values(flow: Flow, topic: str) -> list[bytes | None]:
    return [r.value for r in read_all(flow.target, flow.remote(topic))[0]]


@pytest.mark.parametrize("mode", [{}, EXACTLY_ONCE], ids=["default", "exactly once"])
def test_what_the_target_has_lost_is_said_with_its_range_and_copied_again(
    flow: Flow, caplog: pytest.LogCaptureFixture, mode: dict[str, str]
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)))
    flow.mirror_once(mode, **COMMITTED)
    back_up(flow, topic)
    for first in (10, 15):
        write(flow.source, topic, numbered(range(first, first + 5)))
        flow.mirror_once(mode, **COMMITTED)
    restore(flow, topic)
    write(flow.source, topic, numbered(range(20, 25)))

    outcome = flow.mirror_once(mode, **COMMITTED)

    assert outcome.records == 15
    assert values(flow, topic) == [record.value for record in numbered(range(25))]
    assert f"{topic}-0: the target has lost acknowledged records" in caplog.text
    assert "source offsets 10 to 19 are not on it any more; copying them again" in caplog.text


def test_with_the_policy_fail_it_waits_for_a_user(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)))
    flow.mirror_once()
    back_up(flow, topic)
    write(flow.source, topic, numbered(range(10, 20)))
    flow.mirror_once()
    restore(flow, topic)
    write(flow.source, topic, numbered(range(20, 25)))

    outcome = mirror_once(flow.spark, flow.config(target_log_loss_policy="fail"))

    assert [receipt.position for receipt in outcome.unfinished] == [20]
    assert "target.log.loss.policy=fail" in (outcome.unfinished[0].error or "")
    assert values(flow, topic) == [record.value for record in numbered(range(10))]
