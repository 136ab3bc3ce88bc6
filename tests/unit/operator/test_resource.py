from __future__ import annotations

import pytest

from heliograph.errors import ConfigError
from heliograph.operator.resource import auto_restarts, read_mirror
from support.strimzi_resources import mirror_resource


def test_a_resource_gives_its_worker_and_connectors_under_strimzis_names() -> None:
    mirror = read_mirror(mirror_resource())

    assert mirror.full_name == "mm2-mirrormaker2"
    assert [each.name for each in mirror.connectors] == [
        "a->b.MirrorSourceConnector",
        "a->b.MirrorCheckpointConnector",
    ]
    assert mirror.worker.properties["group.id"].value == "b-group"
    assert mirror.generation == 7


def test_secrets_of_both_clusters_are_those_that_pods_mount() -> None:
    resource = mirror_resource()
    resource["spec"]["target"] |= {
        "tls": {"trustedCertificates": [{"secretName": "b-ca", "certificate": "ca.crt"}]},
        "authentication": {
            "type": "plain",
            "username": "token",
            "passwordSecret": {"secretName": "b-key", "password": "password"},
        },
    }

    assert read_mirror(resource).secrets == ("b-ca", "b-key")


def test_config_maps_are_found_by_the_class_of_their_provider() -> None:
    provider = "io.strimzi.kafka.KubernetesConfigMapConfigProvider"
    resource = mirror_resource()
    resource["spec"]["target"]["config"] = {
        "config.providers": "maps",
        "config.providers.maps.class": provider,
        "offset.flush.interval.ms": "${maps:kafka/tuning:flush}",
    }

    assert read_mirror(resource).config_maps == ("tuning",)


def test_the_documents_resource_of_an_older_api_is_read() -> None:
    old = mirror_resource()
    target, (mirror,) = old["spec"].pop("target"), old["spec"].pop("mirrors")
    source = mirror.pop("source")
    kept = {name: target[name] for name in ("alias", "bootstrapServers")}
    old |= {"apiVersion": "kafka.strimzi.io/v1beta2"}
    old["spec"] |= {
        "connectCluster": "b",
        "clusters": [source, kept],
        "mirrors": [{**mirror, "sourceCluster": "a", "targetCluster": "b"}],
    }

    found = read_mirror(old)

    assert found.api_version == "kafka.strimzi.io/v1beta2"
    assert found.worker.properties["group.id"].value == "mirrormaker2-cluster"
    assert found.connectors[0].name == "a->b.MirrorSourceConnector"


def test_what_strimzi_refuses_is_refused_without_lines_of_a_file_that_nobody_has() -> None:
    with pytest.raises(ConfigError) as refused:
        read_mirror(mirror_resource(mirrors=[]))

    assert refused.value.problems == [
        "spec.mirrors: .spec.mirrors section is required in KafkaMirrorMaker2 resource"
    ]


def test_auto_restart_is_read_for_each_connector() -> None:
    resource = mirror_resource()
    (mirror,) = resource["spec"]["mirrors"]
    mirror["sourceConnector"]["autoRestart"] = {"enabled": True, "maxRestarts": 3}
    mirror["checkpointConnector"]["autoRestart"] = {"enabled": False}

    assert auto_restarts(read_mirror(resource)) == {"a->b.MirrorSourceConnector": 3}
