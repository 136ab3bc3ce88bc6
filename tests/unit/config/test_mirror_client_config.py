from __future__ import annotations

import pytest

from heliograph.config.mirror_client_config import mirror_client_config
from heliograph.errors import ConfigError
from heliograph.policy.naming import DefaultReplicationPolicy

SERVERS = {"bootstrap.servers": "one:9092, PLAINTEXT://two:9093"}


def test_bootstrap_servers_are_all_that_a_client_needs() -> None:
    config = mirror_client_config(SERVERS)

    assert config.admin.bootstrap_servers == ("one:9092", "two:9093")
    assert config.consumer == config.admin
    assert config.policy == DefaultReplicationPolicy()
    assert config.warnings == ()


def test_prefixed_settings_win_for_their_client() -> None:
    config = mirror_client_config(SERVERS | {"consumer.bootstrap.servers": "three:1"})

    assert config.admin.bootstrap_servers == ("one:9092", "two:9093")
    assert config.consumer.bootstrap_servers == ("three:1",)


def test_the_policy_is_configured_by_mm2s_own_keys() -> None:
    config = mirror_client_config(
        SERVERS
        | {
            "replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
            "replication.policy.separator": "__",
            "replication.policy.internal.topic.separator.enabled": "false",
        }
    )

    assert config.policy.format_remote_topic("us", "orders") == "us__orders"
    assert config.policy.checkpoints_topic("us") == "us.checkpoints.internal"


def test_a_policy_that_keeps_names_may_know_its_source() -> None:
    """MirrorClientTest.testIdentityReplicationTopicSource"""
    identity = SERVERS | {
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
    }

    of_primary = mirror_client_config(identity | {"source.cluster.alias": "primary"})
    of_any = mirror_client_config(identity)

    assert of_primary.policy.format_remote_topic("primary", "topic1") == "topic1"
    assert of_primary.policy.topic_source("topic1") == "primary"
    assert of_primary.policy.format_remote_topic("backup", "heartbeats") == "backup.heartbeats"
    assert of_primary.policy.topic_source("backup.heartbeats") == "backup"
    assert of_any.policy.topic_source("topic1") is None
    assert of_primary.warnings == of_any.warnings == ()


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({}, "bootstrap.servers: missing"),
        ({"bootstrap.servers": " , "}, "bootstrap.servers: missing"),
        ({"bootstrap.servers": "nowhere"}, "expected host:port, found 'nowhere'"),
        ({"bootstrap.servers": "a:70000"}, "a port from 1 to 65535"),
        (SERVERS | {"replication.policy.separator": "/"}, "replication.policy.separator: expected"),
        (SERVERS | {"replication.policy.class": "a.b.Mine"}, "a.b.Mine"),
        (
            SERVERS
            | {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": "hush",
            },
            "sasl.jaas.config: not in JAAS format",
        ),
        (SERVERS | {"consumer.security.protocol": "TLS"}, "consumer.security.protocol: expected"),
    ],
)
def test_what_cannot_be_used_is_refused(properties: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        mirror_client_config(properties)

    assert words in str(caught.value)
    assert "hush" not in str(caught.value)


def test_settings_without_effect_are_named() -> None:
    config = mirror_client_config(
        SERVERS
        | {
            "security.protocol": "plaintext",
            "consumer.max.poll.records": "1",
            "replication.policy.seperator": "-",
        }
    )

    assert len(config.warnings) == 2
    assert "consumer.max.poll.records" in config.warnings[0]
    assert "did you mean replication.policy.separator?" in config.warnings[1]
