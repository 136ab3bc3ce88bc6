"""Real clusters, started once per run and shared; tests use topics of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.embedded import Cluster, start_all, stop_all
from heliograph.spark.session import LocalSpark
from support.clusters.grouping import client
from support.flows.handmade import HandMade
from support.flows.mirroring import TARGET, Flow, new_alias
from support.lanes import Lanes

HERE = Path(__file__).parent
#: Records of tests are years old, and a broker would delete them 30 s after its start. Compaction looks
#: for work every 15 s by default; a test that waits for holes should not. Each look costs 1 % of a core per
#: 100 partitions and second: at 100 ms it took 270 CPU seconds of a run.
_SETTINGS = {"log.retention.ms": "-1", "log.cleaner.backoff.ms": "1000"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.xdist_group(_lane(item)))


_lanes = pytest.StashKey[Lanes]()


def pytest_collection_finish(session: pytest.Session) -> None:
    lanes = session.stash[_lanes] = Lanes()
    lanes.expect(_lane(item) for item in session.items if item.path.is_relative_to(HERE))


def pytest_runtest_setup(item: pytest.Item) -> None:
    item.session.stash[_lanes].begin(_lane(item))


@pytest.hookimpl(trylast=True)  # after the test's own fixtures
def pytest_runtest_teardown(item: pytest.Item) -> None:
    item.session.stash[_lanes].end(_lane(item))


@pytest.fixture(scope="session")
def lanes(request: pytest.FixtureRequest) -> Lanes:
    """For fixtures of the session that end with their lane."""
    return request.session.stash[_lanes]


def _lane(item: pytest.Item) -> str:
    """Tests of one name run in one lane of `make test`, and so share what takes long to start: that of their
    file, that of their folder's conftest.py, or the three brokers."""
    if "three_brokers" in getattr(item, "fixturenames", ()):
        return "three_brokers"
    folder = item.path.parent
    shared = folder != HERE and (folder / "conftest.py").exists()
    return str((folder if shared else item.path).relative_to(HERE))


@pytest.fixture(scope="session")
def _clusters() -> Iterator[tuple[Cluster, Cluster]]:
    source, target = (Cluster(name, settings=_SETTINGS) for name in ("source", "target"))
    start_all([source, target])
    yield source, target
    stop_all([source, target])


@pytest.fixture(scope="session")
def source_cluster(_clusters: tuple[Cluster, Cluster]) -> Cluster:
    return _clusters[0]


@pytest.fixture(scope="session")
def target_cluster(_clusters: tuple[Cluster, Cluster]) -> Cluster:
    return _clusters[1]


@pytest.fixture(scope="session")
def three_brokers(lanes: Lanes) -> Iterator[Cluster]:
    """One cluster of three brokers; a test that stops a node starts it again."""
    # As brokers have it by default; the others do not let a new group wait.
    settings = _SETTINGS | {"group.initial.rebalance.delay.ms": "3000"}
    with Cluster("three", nodes=3, settings=settings) as cluster:
        lanes.at_end(cluster.stop)
        yield cluster


@pytest.fixture(scope="session")
def spark() -> Iterator[LocalSpark]:
    """One Spark for all mirrors of the run; its workers live on from one mirror to the next. Two slots, so
    that partitions are shared out: each has a task in every epoch, also without partitions. With four, a
    short mirror took a third more CPU time, brokers included."""
    spark = LocalSpark(slots=2)
    yield spark
    spark.close()


@pytest.fixture
def flow(
    request: pytest.FixtureRequest,
    spark: LocalSpark,
    source_cluster: Cluster,
    target_cluster: Cluster,
    tmp_path: Path,
) -> Flow:
    """A flow from source to target whose alias, and so whose topics, no other test has."""
    alias = new_alias(request.node.originalname)
    return Flow(alias, source_cluster, target_cluster, spark, tmp_path)


@pytest.fixture
def made(
    request: pytest.FixtureRequest,
    source_cluster: Cluster,
    target_cluster: Cluster,
    tmp_path: Path,
) -> Iterator[HandMade]:
    """A flow of a test that runs no mirror, and clients of both clusters."""
    alias = new_alias(request.node.originalname)
    flow = Flow(alias, source_cluster, target_cluster, None, tmp_path)  # type: ignore[arg-type]
    with client(source_cluster, alias) as source, client(target_cluster, TARGET) as target:
        yield HandMade(flow, source, target)
