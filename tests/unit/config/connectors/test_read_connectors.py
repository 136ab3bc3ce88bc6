from __future__ import annotations

import pytest

from heliograph.config.connectors.connector_class import ConnectorClass, connector_class
from heliograph.config.connectors.read_connectors import Connector, mirror_of, read_connector
from heliograph.config.connectors.validation import validate
from heliograph.config.connectors.worker import WORKER_ALIAS
from heliograph.model import ClientKind
from support.configurations.forms_files import CHECKPOINT, HEARTBEAT, SOURCE, worker


def read(config: dict[str, str], more: str = "") -> Connector:
    return read_connector("mm2", config, worker(more))


@pytest.mark.parametrize("kind", ConnectorClass)
def test_a_class_goes_by_its_name_with_or_without_package_and_by_connects_alias(
    kind: ConnectorClass,
) -> None:
    for name in (
        f"org.apache.kafka.connect.mirror.{kind}",
        str(kind),
        kind.removesuffix("Connector"),
    ):
        assert connector_class(name) is kind


def test_another_class_is_a_problem_that_names_those_there_are() -> None:
    assert read({**SOURCE, "connector.class": "x.FileStreamSourceConnector"}).problems == (
        "connector.class: expected MirrorSourceConnector, MirrorCheckpointConnector or "
        "MirrorHeartbeatConnector, found 'x.FileStreamSourceConnector' (connector mm2)",
    )
    assert read({}).problems[0].startswith("connector.class: missing")


def test_a_source_connector_alone_copies_and_follows_no_groups() -> None:
    mirror = mirror_of({"mm2-msc": {**SOURCE, "topics": "orders"}}, worker())
    (flow,) = mirror.flows
    assert (flow.name, flow.connector_name, flow.group_id) == (
        "mm2-msc",
        "mm2-msc",
        "connect-cluster",
    )
    assert (flow.source, flow.target, flow.topics) == ("us", "eu", ("orders",))
    assert flow.checkpoints is None
    assert flow.keeps_offset_map  # another connector, or a later one, may translate by them
    assert (flow.offsets_topic.name, flow.offsets_alias) == ("connect-offsets", "eu")
    assert flow.config_topic is None  # the worker has it
    assert (mirror.group_flows, mirror.heartbeats, mirror.problems) == ((), (), ())


def test_a_checkpoint_connector_alone_follows_groups_and_reads_syncs() -> None:
    mirror = mirror_of({"mm2-cpc": {**CHECKPOINT, "groups": "app-.*"}}, worker())
    (flow,) = mirror.group_flows
    assert mirror.flows == ()
    assert flow.checkpoints is not None
    assert (flow.checkpoints.connector_name, flow.checkpoints.groups) == ("mm2-cpc", ("app-.*",))
    assert flow.offset_syncs is not None
    assert flow.offset_syncs.topic.name == "mm2-offset-syncs.eu.internal"


def test_a_heartbeat_connector_alone_needs_no_source() -> None:
    config = {n: v for n, v in HEARTBEAT.items() if n != "source.cluster.bootstrap.servers"}
    mirror = mirror_of({"mm2-hbc": config}, worker())
    (beats,) = mirror.heartbeats
    assert (beats.name, beats.connector_name, beats.interval_seconds) == ("mm2-hbc", "mm2-hbc", 1)
    assert [cluster.alias for cluster in mirror.clusters] == ["eu"]


def test_connectors_may_share_aliases_and_differ_in_topics_and_servers() -> None:
    other = {**SOURCE, "source.cluster.bootstrap.servers": "backup:9092", "topics": "b"}
    mirror = mirror_of({"first": {**SOURCE, "topics": "a"}, "second": other}, worker())
    assert [flow.name for flow in mirror.flows] == ["first", "second"]
    assert mirror.cluster("us", "first").bootstrap_servers == ("us1:9092",)
    assert mirror.cluster("us", "second").bootstrap_servers == ("backup:9092",)
    assert mirror.warnings == (
        "connector second: has the source alias us, as first has with another cluster; if both mirror topics "
        "of one name, give it another alias, or their offsets are mixed up",
    )


def test_connectors_that_share_an_alias_and_a_policy_give_no_warning() -> None:
    same = mirror_of(
        {"first": {**SOURCE, "topics": "a"}, "second": {**SOURCE, "topics": "b"}}, worker()
    )
    assert same.warnings == ()
    other = {**SOURCE, "replication.policy.separator": "_"}
    (told,) = mirror_of({"first": SOURCE, "second": other}, worker()).warnings
    assert "as first has with another policy" in told


def test_one_bad_connector_hinders_no_other() -> None:
    mirror = mirror_of({"good": SOURCE, "bad": {**SOURCE, "tasks.max": "many"}}, worker())
    assert [flow.name for flow in mirror.flows] == ["good"]
    ((name, told),) = mirror.problems
    assert name == "bad"
    assert told == (
        "tasks.max: expected a whole number of at least 1, found 'many' (connector bad)",
    )


def test_a_connector_that_is_not_enabled_has_no_tasks_and_no_problems() -> None:
    found = read({**SOURCE, "enabled": "false", "tasks.max": "many"})
    assert (found.enabled, found.flow, found.problems) == (False, None, ())
    assert read(SOURCE).enabled


@pytest.mark.parametrize("name", ["emit.checkpoints.enabled", "emit.offset-syncs.enabled"])
def test_a_checkpoint_connector_cannot_do_without_what_it_is_for(name: str) -> None:
    """MirrorCheckpointConfig.validate"""
    (told,) = read({**CHECKPOINT, name: "false"}).problems
    assert told.startswith(f"{name}: MirrorCheckpointConnector can't run with")


def test_what_a_connector_must_have() -> None:
    bare = {"connector.class": "MirrorSource"}
    assert [each.partition(":")[0] for each in read(bare).problems] == [
        "source.cluster.alias",
        "target.cluster.bootstrap.servers",
        "source.cluster.bootstrap.servers",
    ]
    (told,) = read({**SOURCE, "target.cluster.alias": "us"}).problems
    assert told.startswith("target.cluster.alias: expected another alias than the source's")
    assert read({n: v for n, v in SOURCE.items() if "target.cluster.alias" not in n}).clusters[
        0
    ].alias == ("target")


# ── where records and offsets go ─────────────────────────────────────────────────────────────


def test_the_target_is_where_the_workers_producer_writes_with_a_warning() -> None:
    """Worker.baseProducerConfigs; scenario T2-3"""
    found = read({**SOURCE, "target.cluster.bootstrap.servers": "asia:9092"})
    assert found.clusters[0].bootstrap_servers == ("eu1:9092",)
    (told,) = found.warnings
    assert "its target is eu1:9092, to which the worker's producer writes" in told
    assert "set producer.override.bootstrap.servers" in told


def test_a_worker_at_the_source_with_an_override_stores_offsets_at_the_source() -> None:
    """Scenario D2: the worker's cluster holds offsets, the override decides where records go."""
    config = {
        **SOURCE,
        "target.cluster.bootstrap.servers": "broker2:29093",
        "producer.override.bootstrap.servers": "broker2:29093",
    }
    mirror = mirror_of({"test_mirror": config}, worker())
    (flow,) = mirror.flows
    assert flow.offsets_alias == WORKER_ALIAS
    assert mirror.offsets_cluster(flow).bootstrap_servers == ("eu1:9092",)
    assert mirror.cluster("eu", flow.name).bootstrap_servers == ("broker2:29093",)
    assert mirror.warnings == ()


@pytest.mark.parametrize(
    ("more", "config", "topic"),
    [
        ("exactly.once.source.support = enabled\n", {}, "connect-offsets"),
        ("", {"offsets.storage.topic": "my-offsets"}, "my-offsets"),
    ],
)
def test_offsets_go_with_the_records_under_exactly_once_or_in_a_topic_of_their_own(
    more: str, config: dict[str, str], topic: str
) -> None:
    """KIP-618: Worker.offsetStoreForExactlyOnceSourceTask and related methods"""
    found = read(
        {
            **SOURCE,
            "target.cluster.bootstrap.servers": "broker2:29093",
            "producer.override.bootstrap.servers": "broker2:29093",
            "source.consumer.isolation.level": "read_committed",
            **config,
        },
        more,
    )
    assert found.flow is not None
    assert (found.flow.offsets_alias, found.flow.offsets_topic.name) == ("eu", topic)


def test_clients_log_in_as_their_prefixes_say() -> None:
    def login(user: str) -> dict[str, str]:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{module} required username="{user}" password="x";',
        }

    def below(prefix: str, user: str) -> dict[str, str]:
        return {f"{prefix}.{name}": value for name, value in login(user).items()}

    config = SOURCE | below("source.cluster", "reader") | below("target.cluster", "maker")
    config |= below("source.consumer", "fetcher") | below("producer.override", "writer")
    target, source = read(config).clusters

    def user(cluster: object, kind: ClientKind) -> str:
        return cluster.for_client(kind).security.sasl.credentials.username  # type: ignore[attr-defined, no-any-return]

    assert user(source, ClientKind.ADMIN) == "reader"
    assert user(source, ClientKind.CONSUMER) == "fetcher"
    assert user(target, ClientKind.ADMIN) == "maker"
    assert user(target, ClientKind.PRODUCER) == "writer"


@pytest.mark.parametrize(
    ("policy", "refused"),
    [
        ("All", []),
        ("None", ["producer.override.linger.ms", "producer.override.sasl.mechanism"]),
        ("org.apache.kafka.connect.connector.policy.PrincipalConnectorClientConfigOverridePolicy",
         ["producer.override.linger.ms"]),
        ("Allowlist\nconnector.client.config.override.allowlist = linger.ms",
         ["producer.override.sasl.mechanism"]),
    ],
)  # fmt: skip
def test_the_workers_policy_decides_what_may_be_overridden(policy: str, refused: list[str]) -> None:
    config = SOURCE | {
        "producer.override.linger.ms": "5",
        "producer.override.sasl.mechanism": "PLAIN",
    }
    told = read(config, f"connector.client.config.override.policy = {policy}\n").problems
    assert [each.partition(":")[0] for each in told] == refused
    assert all("policy does not allow" in each for each in told)


def test_exactly_once_is_the_workers_and_is_checked_with_the_connectors_words() -> None:
    found = read({**SOURCE, "exactly.once.support": "required"})
    assert found.problems == (
        "exactly.once.support: required, but exactly once is not enabled; set "
        "exactly.once.source.support = enabled (connector mm2)",
        "exactly.once.support: required, but records of aborted transactions would be mirrored; set "
        "source.consumer.isolation.level = read_committed (connector mm2)",
    )


# ── what has no effect ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "remark"),
    [
        ("clusters", "has no effect in a connector; it is a setting of mm2.properties"),
        ("topcis", "unknown setting, ignored; did you mean topics?"),
        ("security.protocol", "write source.cluster.security.protocol or target.cluster.security.protocol"),
        ("offset.storage.topic", "has no effect in a connector; it is a setting of the worker"),
        ("source.cluster.max.request.size", "write source.producer.max.request.size"),
        ("producer.buffer.memory", "write producer.override.buffer.memory"),
        ("target.consumer.fetch.max.bytes", "write source.consumer.fetch.max.bytes"),
        ("consumer.override.fetch.max.bytes", "write source.consumer.fetch.max.bytes"),
        ("topics.whitelist", "not a setting of MM2; write topics"),
    ],
)  # fmt: skip
def test_a_setting_that_does_nothing_is_named_with_the_right_place(key: str, remark: str) -> None:
    told = [each for each in read({**SOURCE, key: "1"}).warnings if each.startswith(f"{key}:")]
    assert len(told) == 1
    assert remark in told[0]


SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


@pytest.mark.parametrize("name", [SIMPLE, "SimpleHeaderConverter"])
def test_connects_default_for_headers_is_accepted_and_headers_stay_as_they_are(name: str) -> None:
    """With it, MM2 under Connect writes the values of headers as Base64 text."""
    found = read({**SOURCE, "header.converter": name})

    assert found.problems == ()
    (warning,) = (each for each in found.warnings if each.startswith("header.converter"))
    assert "headers are copied as they are" in warning


@pytest.mark.parametrize("option", ["key.converter", "value.converter", "header.converter"])
@pytest.mark.parametrize(
    "class_name",
    [
        "org.apache.kafka.connect.converters.ByteArrayConverter",
        "ByteArrayConverter",
        SIMPLE,
        "SimpleHeaderConverter",
        "org.apache.kafka.connect.storage.StringConverter",
        "org.apache.kafka.connect.json.JsonConverter",
        "no.such.Converter",
    ],
)
def test_what_passes_validation_runs(option: str, class_name: str) -> None:
    config = {**SOURCE, "name": "mm2", option: class_name}

    assert bool(validate(config).errors) == bool(read(config).problems)


def test_client_settings_reach_the_clients_they_are_for() -> None:
    config = SOURCE | {
        "consumer.fetch.max.bytes": "1",
        "source.consumer.fetch.max.bytes": "2",
        "producer.override.buffer.memory": "3",
    }
    found = read(config, "producer.buffer.memory = 9\nproducer.max.request.size = 7\n").flow
    assert found is not None
    limits = found.limits
    assert (limits.fetch_max_bytes, limits.buffer_memory, limits.request_bytes) == (2, 3, 7)


def test_only_the_workers_providers_fill_in_placeholders_not_its_environment() -> None:
    providers = "config.providers = env\nconfig.providers.env.class = EnvVarConfigProvider\n"
    told = worker(providers, {"TOPICS": "orders", "HOME": "/root"})
    found = read_connector("mm2", {**SOURCE, "topics": "${env:TOPICS}"}, told)
    assert found.flow is not None
    assert found.flow.topics == ("orders",)
    kept = read_connector("mm2", {**SOURCE, "replication.policy.separator": "${HOME}"}, told)
    assert "found '${HOME}'" in kept.problems[0]  # a bare variable is no placeholder of Connect's
    (missing,) = read_connector("mm2", {**SOURCE, "topics": "${file:/x:y}"}, told).problems
    assert missing.startswith("topics: ${file:/x:y}: config provider 'file' is not declared")
