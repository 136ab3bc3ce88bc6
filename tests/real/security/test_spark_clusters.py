"""Secrets and a real Spark cluster: refused without authentication and encryption, sent with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos.clusters.spark_cluster import SparkCluster
from heliograph.embedded import Cluster
from support.clusters.guarded import PASSWORD, SHARED, cluster_properties, password
from support.clusters.reading import assert_mirrored, offsets, topics_of
from support.clusters.writing import create_topics, numbered, write
from support.flows.services import QUICK_SPARK, service, spark_environment
from support.waiting import PATIENCE_SECONDS, eventually

_POLICY = "spark.unencrypted.secrets.policy"
_PROTECTED = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": "of all applications of this cluster",
    "spark.network.crypto.enabled": "true",
}
_WORKER = {
    "group.id": "spark-clusters",
    **{
        f"{kind}.storage.topic": f"spark-clusters-{kind}" for kind in ("config", "offset", "status")
    },
    **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
}


@pytest.fixture(scope="module", autouse=True)
def _quick_daemons() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK_SPARK.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def unprotected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with SparkCluster(tmp_path_factory.mktemp("spark"), ["worker"]) as cluster:
        yield cluster


def flow(guarded: Cluster, source: str, target: str, topic: str) -> dict[str, str]:
    create_topics(guarded, {topic: 1})
    write(guarded, topic, numbered(range(10)))
    return SHARED | {
        "clusters": f"{source}, {target}",
        **cluster_properties(source, guarded, "SASL", password("SCRAM-SHA-512")),
        f"{target}.bootstrap.servers": guarded.bootstrap_servers,
        f"{source}->{target}.enabled": "true",
        f"{source}->{target}.topics": topic,
    }


def connector(guarded: Cluster, alias: str, topic: str, **source: str) -> dict[str, str]:
    servers = {"bootstrap.servers": guarded.bootstrap_servers, **source}
    return {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": alias,
        "target.cluster.alias": "here",
        "target.cluster.bootstrap.servers": guarded.bootstrap_servers,
        **{f"source.cluster.{name}": value for name, value in servers.items()},
        "topics": topic,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
    }


@pytest.mark.proof
def test_a_run_with_secrets_is_refused_by_a_cluster_that_does_not_protect_them(
    guarded: Cluster, unprotected: SparkCluster, tmp_path: Path
) -> None:
    properties = flow(guarded, "open-a", "open-b", "of-open-spark")

    with service(tmp_path, "run", properties, "--master", unprotected.master) as run:
        assert run.process.wait(PATIENCE_SECONDS) == 2

    said = run.said()
    assert (
        f"flow open-a->open-b: Spark at {unprotected.master}: expected spark.authenticate=true and "
        "spark.network.crypto.enabled=true (or spark.ssl.rpc.enabled=true), since passwords or keys"
    ) in said
    assert f"{_POLICY}=accept" in said
    assert "Traceback" not in said
    assert "epoch 1" not in said
    assert "open-a.of-open-spark" not in topics_of(guarded)


@pytest.mark.proof
def test_secrets_that_the_user_accepts_to_be_unprotected_are_sent_with_a_warning(
    guarded: Cluster, unprotected: SparkCluster, tmp_path: Path
) -> None:
    properties = flow(guarded, "taken-a", "taken-b", "of-taken-spark") | {_POLICY: "accept"}

    with service(tmp_path, "run", properties, "--once", "--master", unprotected.master) as run:
        assert run.process.wait(PATIENCE_SECONDS) == 0

    assert assert_mirrored(guarded, guarded, {"of-taken-spark": "taken-a.of-taken-spark"}) == 10
    assert run.said().count("there is no authentication and no encryption") == 1


def test_a_connector_with_secrets_fails_and_one_without_goes_on(
    guarded: Cluster, unprotected: SparkCluster, tmp_path: Path
) -> None:
    remote = "plain.of-a-worker"
    create_topics(guarded, {"of-a-worker": 1})
    write(guarded, "of-a-worker", numbered(range(10)))
    properties = {"bootstrap.servers": guarded.bootstrap_servers, **_WORKER}
    login = password("SCRAM-SHA-512") | {"bootstrap.servers": guarded.bootstrap("SASL")}

    with service(tmp_path, "serve", properties, "--master", unprotected.master) as worker:
        rest = worker.rest
        rest.await_answer()
        for name, config in (
            ("plain", connector(guarded, "plain", "of-a-worker")),
            ("secret", connector(guarded, "secret", "of-a-worker", **login)),
        ):
            body = {"name": name, "config": config}
            eventually(
                lambda body=body: rest.ask("POST", "/connectors", body)[0], lambda s: s == 201
            )

        def status() -> dict[str, Any]:
            return rest.ask("GET", "/connectors/secret/status")[1] or {}

        found = eventually(status, lambda s: s.get("connector", {}).get("state") == "FAILED")
        assert f"Spark at {unprotected.master}: expected" in found["connector"]["trace"]
        assert PASSWORD not in found["connector"]["trace"]
        rest.await_running("plain", tasks=1)
        assert status()["connector"]["state"] == "FAILED"
        eventually(
            lambda: remote in topics_of(guarded) and offsets(guarded, remote)[1],
            lambda end: end == 10,
        )
        assert worker.stop() == 0

    assert assert_mirrored(guarded, guarded, {"of-a-worker": remote}) == 10
    assert "secret.of-a-worker" not in topics_of(guarded)


def test_secrets_go_to_a_cluster_that_authenticates_and_encrypts(
    guarded: Cluster, tmp_path: Path
) -> None:
    properties = flow(guarded, "closed-a", "closed-b", "of-closed-spark")
    environment = spark_environment(tmp_path, _PROTECTED)

    with SparkCluster(tmp_path / "spark", ["worker"], _PROTECTED) as spark:
        arguments = ("--once", "--master", spark.master)
        with service(tmp_path, "run", properties, *arguments, environment=environment) as run:
            assert run.process.wait(PATIENCE_SECONDS) == 0

    assert assert_mirrored(guarded, guarded, {"of-closed-spark": "closed-a.of-closed-spark"}) == 10
    assert "no encryption" not in run.said()
    assert "no authentication" not in run.said()
