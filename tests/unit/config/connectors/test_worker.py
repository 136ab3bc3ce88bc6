from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.connectors.worker import load_worker
from heliograph.config.mirror_config import InternalTopic
from heliograph.errors import ConfigError
from support.configurations.forms_files import WORKER, worker


def problems(text: str, environment: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        worker(text, environment)
    return caught.value.problems


def test_a_worker_with_connects_defaults() -> None:
    found = worker()
    assert found.cluster.bootstrap_servers == ("eu1:9092",)
    assert found.group_id == "connect-cluster"
    assert found.config_topic == InternalTopic(
        name="connect-configs", partitions=1, replication_factor=3
    )
    assert found.offsets_topic == InternalTopic(
        name="connect-offsets", partitions=25, replication_factor=3
    )
    assert found.status_topic == InternalTopic(
        name="connect-status", partitions=5, replication_factor=3
    )
    assert found.offset_flush_interval_ms == 60_000
    assert not found.exactly_once
    assert found.override_policy == "All"
    assert found.warnings == ()


def test_variables_of_the_environment_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    path.write_text(WORKER + "offset.flush.interval.ms = 1000\n")
    found = load_worker(
        path, {"CONNECT_GROUP_ID": "other", "CONNECT_EXACTLY_ONCE_SOURCE_SUPPORT": "enabled"}
    )
    assert (found.group_id, found.offset_flush_interval_ms) == ("other", 1000)
    assert found.exactly_once


def test_a_container_without_a_file() -> None:
    """Scenario D2, step 1: the thirteen variables, and the port of old"""
    found = load_worker(
        None,
        {
            "CONNECT_BOOTSTRAP_SERVERS": "broker:29092",
            "CONNECT_REST_PORT": "28082",
            "CONNECT_GROUP_ID": '"quickstart"',
            "CONNECT_CONFIG_STORAGE_TOPIC": "quickstart_config",
            "CONNECT_CONFIG_STORAGE_REPLICATION_FACTOR": "1",
            "CONNECT_OFFSET_STORAGE_TOPIC": "quickstart_offsets",
            "CONNECT_OFFSET_STORAGE_REPLICATION_FACTOR": "1",
            "CONNECT_STATUS_STORAGE_TOPIC": "quickstart_status",
            "CONNECT_STATUS_STORAGE_REPLICATION_FACTOR": "1",
            "CONNECT_KEY_CONVERTER": "org.apache.kafka.connect.converters.ByteArrayConverter",
            "CONNECT_VALUE_CONVERTER": "org.apache.kafka.connect.converters.ByteArrayConverter",
            "CONNECT_REST_ADVERTISED_HOST_NAME": '"localhost"',
            "CONNECT_CONNECTOR_CLIENT_CONFIG_OVERRIDE_POLICY": "All",
        },
    )
    assert found.group_id == '"quickstart"'
    assert found.offsets_topic.replication_factor == 1
    assert found.warnings == ()


def test_the_file_of_the_migration_lab_is_taken_whole() -> None:
    """Scenario D3, step 1: converters of JSON, and a login for the worker and its producer"""
    iam = "software.amazon.msk.auth.iam."
    login = "".join(
        f"{prefix}security.protocol=SASL_SSL\n{prefix}sasl.mechanism = AWS_MSK_IAM\n"
        f"{prefix}sasl.jaas.config = {iam}IAMLoginModule required;\n"
        f"{prefix}sasl.client.callback.handler.class = {iam}IAMClientCallbackHandler\n"
        for prefix in ("", "producer.")
    )
    found = worker(
        "key.converter=org.apache.kafka.connect.json.JsonConverter\nkey.converter.schemas.enable=true\n"
        "offset.flush.interval.ms=10000\nconnector.client.config.override.policy=All\n" + login
    )
    assert found.cluster.security.sasl is not None
    assert found.cluster.security.sasl.mechanism == "AWS_MSK_IAM"
    assert [warning.partition(":")[0] for warning in found.warnings] == [
        "worker.properties",
        "key.converter",
    ]


def test_all_problems_are_reported_together_with_line_or_variable() -> None:
    with pytest.raises(ConfigError) as caught:
        load_worker(
            None, {"CONNECT_SESSION_TIMEOUT_MS": "soon", "CONNECT_BOOTSTRAP_SERVERS": "eu1"}
        )
    told = caught.value.problems
    assert "bootstrap.servers: expected host:port, found 'eu1' (CONNECT_BOOTSTRAP_SERVERS)" in told
    assert any("'soon' (CONNECT_SESSION_TIMEOUT_MS)" in each for each in told)
    assert sum("missing in the environment" in each for each in told) == 4
    assert problems("offset.storage.partitions = many\n") == [
        "offset.storage.partitions: expected a whole number of at least 1, or -1 for the broker's "
        "default, found 'many' "
        "(worker.properties:6)"
    ]


def test_topics_of_a_worker_differ() -> None:
    """`DistributedConfig` leaves that to the brokers, which would mix them up."""
    (told,) = problems("status.storage.topic = connect-offsets\n")
    assert told.startswith("status.storage.topic: expected another topic than that of")
    assert "that of offset.storage.topic, found 'connect-offsets' for both" in told


@pytest.mark.parametrize(
    ("setting", "remark"),
    [
        ("grup.id = x", "unknown setting, ignored; did you mean group.id?"),
        ("producer.acs = x", "unknown setting, ignored; did you mean producer.acks?"),
        ("internal.key.converter = x", "has no effect since Kafka 3.0; leave it out"),
        ("clusters = a, b", "has no effect in a worker's file; it is a setting of mm2.properties"),
    ],
)
def test_settings_without_effect_are_named(setting: str, remark: str) -> None:
    key = setting.partition(" ")[0]
    assert worker(setting + "\n").warnings == (f"{key}: {remark} (worker.properties:6)",)


def test_config_providers_fill_in_the_workers_own_settings() -> None:
    found = worker(
        "config.providers = env\nconfig.providers.env.class = EnvVarConfigProvider\n"
        "group.id = ${env:GROUP}\n",
        {"GROUP": "from-outside"},
    )
    assert found.group_id == "from-outside"
