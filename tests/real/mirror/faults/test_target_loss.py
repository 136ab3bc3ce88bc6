"""A target that has lost records which it had acknowledged is noticed, said, and healed.

The folder of one partition is put back as it was some time ago, as by an operator who restores a back-up. An
unclean leader election looks the same from outside.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.spark.session import LocalSpark
from support.clusters.reading import read_all
from support.clusters.writing import numbered, write
from support.flows.mirroring import TARGET, Flow, mirror_once, new_alias

COMMITTED = {"consumer_isolation_level": "read_committed"}
#: What is lost of the third waits for a user.
MODES = {
    "default": {},
    "exactly once": {f"{TARGET}.exactly.once.source.support": "enabled"},
    "fail": {},
}


@pytest.fixture(scope="module")
def flows(
    spark: LocalSpark, source_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Flow]]:
    """One for each mode. The target had the first 20 records of each, and has 10 of them."""
    with Cluster("losing", settings={"log.retention.ms": "-1"}) as losing:
        flows = {
            mode: Flow(
                new_alias(mode), source_cluster, losing, spark, tmp_path_factory.mktemp("flow")
            )
            for mode in MODES
        }
        for flow in flows.values():
            flow.create()
        write_and_mirror(flows, range(10))
        with stopped(losing):
            for kept, folder in folders(flows.values()):
                shutil.copytree(folder, kept)
        write_and_mirror(flows, range(10, 15))
        write_and_mirror(flows, range(15, 20))
        with stopped(losing):
            for kept, folder in folders(flows.values()):
                shutil.rmtree(folder)
                shutil.copytree(kept, folder)
        yield flows


def write_and_mirror(flows: Mapping[str, Flow], numbers: range) -> None:
    for mode, flow in flows.items():
        write(flow.source, topic_of(flow), numbered(numbers))
        flow.mirror_once(MODES[mode], **COMMITTED)


@contextmanager
def stopped(cluster: Cluster) -> Iterator[None]:
    cluster.stop_node(1)
    yield
    cluster.start_node(1)


def folders(flows: Iterable[Flow]) -> Iterator[tuple[Path, Path]]:
    """Of partitions of a stopped broker: the back-up, and where the broker has them."""
    for flow in flows:
        (folder,) = flow.target.folder.rglob(f"{flow.remote(topic_of(flow))}-0")
        yield flow.folder / "kept", folder


def topic_of(flow: Flow) -> str:
    return f"{flow.alias}-orders"


def values(flow: Flow) -> list[bytes | None]:
    return [r.value for r in read_all(flow.target, flow.remote(topic_of(flow)))[0]]


@pytest.mark.parametrize("mode", ["default", "exactly once"])
def test_what_the_target_has_lost_is_said_with_its_range_and_copied_again(
    flows: Mapping[str, Flow], caplog: pytest.LogCaptureFixture, mode: str
) -> None:
    flow = flows[mode]
    write(flow.source, topic_of(flow), numbered(range(20, 25)))

    outcome = flow.mirror_once(MODES[mode], **COMMITTED)

    assert outcome.records == 15
    assert values(flow) == [record.value for record in numbered(range(25))]
    assert f"{topic_of(flow)}-0: the target has lost acknowledged records" in caplog.text
    assert "source offsets 10 to 19 are not on it any more; copying them again" in caplog.text


def test_with_the_policy_fail_it_waits_for_a_user(flows: Mapping[str, Flow]) -> None:
    flow = flows["fail"]
    write(flow.source, topic_of(flow), numbered(range(20, 25)))

    outcome = mirror_once(flow.spark, flow.config(target_log_loss_policy="fail", **COMMITTED))

    assert [receipt.position for receipt in outcome.unfinished] == [20]
    assert "target.log.loss.policy=fail" in (outcome.unfinished[0].error or "")
    assert values(flow) == [record.value for record in numbered(range(10))]
