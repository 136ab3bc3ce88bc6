"""Files that users run MM2 with, as they are: every configuration of the five documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heliograph.config.connectors.read_connectors import mirror_of
from heliograph.config.connectors.worker import WORKER_ALIAS
from heliograph.config.formats.load import LoadOptions, load
from heliograph.errors import ConfigError
from heliograph.security import Password
from support.configurations.forms_files import worker
from support.configurations.mm2_files import Reader
from support.configurations.strimzi_files import secret

ROUTE = "my-cluster-kafka-bootstrap-jb.us-east.containers.appdomain.cloud:443"
EVENT_STREAMS = "broker-3-q.kafka.us-east.es.cloud:9093,broker-1-q.kafka.us-east.es.cloud:9093"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def test_the_container_image_with_its_access_file(mm2: Reader, tmp_path: Path) -> None:
    """Scenario D4, steps 1 and 2"""
    access = tmp_path / "access.properties"
    access.write_text("SRC_BROKERS=s1:9092\nTGT_BROKERS=t1:9093\n")
    storage = "".join(
        f"{alias}.{kind}.storage.{name}\n"
        for alias in ("source", "target")
        for kind in ("offset", "config", "status")
        for name in (f"topic=mm2-{kind}", "partitions=3", "replication.factor=3")
    )
    mirror = mm2(
        "clusters=source,target\n"
        f"source.bootstrap.servers=${{file:{access}:SRC_BROKERS}}\n"
        f"target.bootstrap.servers=${{file:{access}:TGT_BROKERS}}\n"
        "source->target.enabled=true\nsource->target.topics=topic1,topic2\n"
        "source->target.emit.heartbeats.enabled=false\n"
        "source->target.sync.topic.acls.enabled=false\nemit.checkpoints.interval.seconds=10\n"
        f"{storage}"
        "source.group.id=mm2-source-target-gi\nsource.producer.enable.idempotence=true\n"
        "key.converter=org.apache.kafka.connect.converters.ByteArrayConverter\n"
        "source.ssl.endpoint.identification.algorithm=https\n"
        "config.providers=file\n"
        "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
        "plugin.path=/app/replicator/kafka_2.13-3.0.0/libs\ntarget.request.timeout.ms=60000\n"
        "target.max.request.size=1000000\ntarget.default.replication.factor=3\n"
        "target.client_id=x\ntarget.db.timezone=UTC\n"
    )

    (flow,) = mirror.flows
    assert mirror.cluster("source").bootstrap_servers == ("s1:9092",)
    assert flow.topics == ("topic1", "topic2")
    assert (flow.offsets_topic.name, flow.offsets_topic.partitions) == ("mm2-offset", 3)
    assert (flow.config_topic.name, flow.config_topic.partitions) == ("mm2-config", 1)
    assert flow.acl_sync_interval_seconds is None
    assert flow.checkpoints is not None
    assert flow.checkpoints.interval_seconds == 10
    assert [beats.source for beats in mirror.heartbeats] == ["target"]
    told = {warning.partition(": ")[0] for warning in mirror.warnings}
    assert told == {
        "source.config.storage.partitions",
        "target.config.storage.partitions",
        "plugin.path",
        "target.max.request.size",
        "target.default.replication.factor",
        "target.client_id",
        "target.db.timezone",
        "mm2.properties",
    }


def test_local_to_event_streams_with_values_from_the_environment(mm2: Reader) -> None:
    """Scenario D0 1, the base file; the password stands without quotes"""
    mirror = mm2(
        "clusters=source, target\n"
        "source.bootstrap.servers=${KAFKA_SOURCE_BROKERS}\n"
        "target.bootstrap.servers=${KAFKA_TARGET_BROKERS}\n"
        "target.security.protocol=SASL_SSL\ntarget.ssl.protocol=TLSv1.2\n"
        "target.ssl.endpoint.identification.algorithm=https\ntarget.sasl.mechanism=PLAIN\n"
        f'target.sasl.jaas.config={PLAIN} username="token" password=${{KAFKA_TARGET_APIKEY}};\n'
        "# enable and configure individual replication flows\n"
        "source->target.enabled=true\nsource->target.topics=products\ntasks.max=10\n",
        environment={
            "KAFKA_SOURCE_BROKERS": "kafka1:9092,kafka2:9093,kafka3:9094",
            "KAFKA_TARGET_BROKERS": EVENT_STREAMS,
            "KAFKA_TARGET_APIKEY": "s3cretApiKey",
        },
    )
    (flow,) = mirror.flows
    assert (flow.tasks_max, flow.topics) == (10, ("products",))
    sasl = mirror.cluster("target").security.sasl
    assert sasl is not None
    assert sasl.credentials == Password(username="token", password="s3cretApiKey")  # type: ignore[arg-type]
    assert len(mirror.cluster("target").bootstrap_servers) == 2


def test_event_streams_to_local(mm2: Reader) -> None:
    """Scenarios D0 3 and D1 1"""
    mirror = mm2(
        f"clusters=source, target\nsource.bootstrap.servers={EVENT_STREAMS}\n"
        "source.security.protocol=SASL_SSL\nsource.ssl.protocol=TLSv1.2\nsource.sasl.mechanism=PLAIN\n"
        f'source.sasl.jaas.config={PLAIN} username="token" password="985...";\n'
        "target.bootstrap.servers=kafka1:9092,kafka2:9093,kafka3:9094\n"
        "source->target.enabled=true\nsource->target.topics=orders\n"
    )
    assert mirror.cluster("source").security.tls is not None
    assert mirror.cluster("target").security.sasl is None


def test_strimzi_to_local_with_a_truststore_from_a_mounted_folder(tmp_path: Path) -> None:
    """Scenarios D0 5 and D1 2: a ConfigMap mounted under the name of its file"""
    folder = tmp_path / "strimzi-mm2.properties"
    folder.mkdir()
    (folder / "strimzi-mm2.properties").write_text(
        f"clusters=source, target\nsource.bootstrap.servers={ROUTE}\nsource.security.protocol=SSL\n"
        "source.ssl.truststore.password=password\nsource.ssl.truststore.location=/home/truststore.jks\n"
        "target.bootstrap.servers=kafka1:9092,kafka2:9093,kafka3:9094\n"
        "source->target.enabled=true\nsource->target.topics=orders\n"
    )
    tls = load(folder, environment={}).cluster("source").security.tls
    assert tls is not None
    assert tls.truststore is not None
    assert tls.truststore.location == "/home/truststore.jks"


STRIMZI = f"""\
apiVersion: kafka.strimzi.io/v1alpha1
kind: KafkaMirrorMaker2
metadata: {{name: mm2-cluster, namespace: jb-kafka-strimzi}}
spec:
  version: 2.4.0
  replicas: 1
  connectCluster: "mm2-cluster"
  clusters:
  - alias: "kafka-on-premise-cluster-source"
    bootstrapServers: {ROUTE}
    tls:
      trustedCertificates:
        - {{secretName: my-cluster-cluster-ca-cert, certificate: ca.crt}}
  - alias: "event-streams-wdc-as-target"
    bootstrapServers: {EVENT_STREAMS}
    authentication:
      username: token
      passwordSecret: {{secretName: es-apikey-target, password: password}}
      type: plain
    config:
      config.storage.replication.factor: 1
      offset.storage.replication.factor: 1
      status.storage.replication.factor: 1
  mirrors:
  - sourceCluster: "kafka-on-premise-cluster-source"
    targetCluster: "event-streams-wdc-as-target"
    heartbeatConnector:
      config: {{heartbeats.topic.replication.factor: 1}}
    checkpointConnector:
      config: {{checkpoints.topic.replication.factor: 1}}
    topicsPattern: "products"
    groupsPattern: ".*"
"""


def strimzi(folder: Path, text: str, **key: str) -> LoadOptions:
    (folder / "kafka-to-es-mm2.yml").write_text(text)
    (folder / "secrets.yaml").write_text(
        secret("my-cluster-cluster-ca-cert", ca_crt="PEM")
        + "---\n"
        + secret("es-apikey-target", **key)
    )
    return LoadOptions(secrets=[folder / "secrets.yaml"])


def test_a_resource_of_old_runs_with_its_slips_named(tmp_path: Path) -> None:
    """Scenario D0 2; rules 9 and 10 of where the documents are wrong"""
    options = strimzi(tmp_path, STRIMZI, password="am_x")
    mirror = load(tmp_path / "kafka-to-es-mm2.yml", options, {})
    pair = "kafka-on-premise-cluster-source->event-streams-wdc-as-target"
    assert [flow.name for flow in mirror.flows] == [f"{pair}.MirrorSourceConnector"]
    assert [flow.name for flow in mirror.group_flows] == [f"{pair}.MirrorCheckpointConnector"]
    assert mirror.heartbeats[0].topic.replication_factor == 1
    assert mirror.flows[0].group_id == "mirrormaker2-cluster"
    assert [warning.partition(":")[0] for warning in mirror.warnings] == [
        "spec.connectCluster",
        "spec.mirrors[0].sourceConnector",
    ]
    sasl = mirror.cluster("event-streams-wdc-as-target").security
    assert (sasl.tls, sasl.sasl is None) == (None, False)  # rule 12: plain without tls


def test_the_key_that_the_guide_gives_the_secret_is_not_the_one_it_asks_for(tmp_path: Path) -> None:
    """Rule 11"""
    options = strimzi(tmp_path, STRIMZI, binding="am_x")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "kafka-to-es-mm2.yml", options, {})
    assert all(
        "the Secret 'es-apikey-target' has no key 'password'; its keys are: binding" in told
        for told in caught.value.problems
    )


def test_a_stanza_for_tls_in_the_wrong_place_is_named(tmp_path: Path) -> None:
    """Rule 13: targetConnector is no field"""
    text = STRIMZI.replace(
        "    heartbeatConnector:\n",
        '    sourceConnector:\n      config: {replication.factor: 1, sync.topic.acls.enabled: "false"}\n'
        "    targetConnector:\n      tls: {}\n    heartbeatConnector:\n",
    )
    mirror = load(tmp_path / "kafka-to-es-mm2.yml", strimzi(tmp_path, text, password="x"), {})
    assert mirror.flows[0].acl_sync_interval_seconds is None
    assert any(
        "spec.mirrors[0].targetConnector: unknown field, ignored" in each
        for each in mirror.warnings
    )


def test_one_connector_on_a_worker_at_the_source() -> None:
    """Scenario D2, step 7"""
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "name": "test_mirror",
        "source.cluster.alias": "source",
        "topics": "to_replicate",
        "source.cluster.bootstrap.servers": "broker:29092",
        "target.cluster.bootstrap.servers": "broker2:29093",
        "producer.override.bootstrap.servers": "broker2:29093",
        "offset-syncs.topic.replication.factor": "1",
    }
    mirror = mirror_of({"test_mirror": config}, worker("bootstrap.servers = broker:29092\n"))
    (flow,) = mirror.flows
    assert (flow.target, flow.tasks_max, flow.replication_factor) == ("target", 1, 2)
    assert flow.target_topic("to_replicate") == "source.to_replicate"
    assert flow.offset_syncs is not None
    assert flow.offset_syncs.topic.name == "mm2-offset-syncs.target.internal"
    assert flow.offsets_alias == WORKER_ALIAS
    assert (mirror.problems, mirror.warnings) == ((), ())


def iam(prefix: str) -> dict[str, str]:
    package = "software.amazon.msk.auth.iam."
    return {
        f"{prefix}security.protocol": "SASL_SSL",
        f"{prefix}sasl.mechanism": "AWS_MSK_IAM",
        f"{prefix}sasl.jaas.config": f"{package}IAMLoginModule required;",
        f"{prefix}sasl.client.callback.handler.class": f"{package}IAMClientCallbackHandler",
    }


def test_three_connectors_with_iam_and_a_policy_of_javas(tmp_path: Path) -> None:
    """Scenario D3, step 7: flat maps, as PUT needs them"""
    common = {
        "clusters": "msksource,mskdest",
        "source.cluster.alias": "msksource",
        "target.cluster.alias": "mskdest",
        "target.cluster.bootstrap.servers": "dest:9098",
        "source.cluster.bootstrap.servers": "src:9098",
        "key.converter": " org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "replication.factor": "3",
        **iam("source.cluster."),
        **iam("target.cluster."),
    }
    package, policy = (
        "org.apache.kafka.connect.mirror.",
        "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
    )
    files = {
        "mm2-msc": {
            "connector.class": f"{package}MirrorSourceConnector",
            "tasks.max": "4",
            "topics": r"^ExampleTopic[\w]*",
            "replication.policy.class": policy,
            "refresh.topics.interval.seconds": "20",
            "consumer.group.id": "mm2-msc-cons",
            "producer.enable.idempotence": "true",
        },
        "mm2-cpc": {
            "connector.class": f"{package}MirrorCheckpointConnector",
            "tasks.max": "1",
            "replication.policy.class": policy,
            "emit.checkpoints.interval.seconds": "20",
            "sync.group.offsets.enabled": "true",
        },
        "mm2-hbc": {
            "connector.class": f"{package}MirrorHeartbeatConnector",
            "emit.heartbeats.interval.seconds": "20",
            "producer.override.bootstrap.servers": "dest:9098",
        },
    }
    for name, config in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({**common, "name": name, **config}))
    (tmp_path / "worker.properties").write_text(
        "bootstrap.servers=dest:9098\ngroup.id=sample-connect-cluster\n"
        "offset.storage.topic=o\nconfig.storage.topic=c\nstatus.storage.topic=s\n"
        + "".join(f"{name} = {value}\n" for name, value in {**iam(""), **iam("producer.")}.items())
    )
    mirror = load(tmp_path, LoadOptions(worker=tmp_path / "worker.properties"), {})
    (flow,), (groups,), (beats,) = mirror.flows, mirror.group_flows, mirror.heartbeats
    assert flow.target_topic("ExampleTopic") == "ExampleTopic"  # D3-B5
    assert groups.checkpoints is not None
    assert groups.checkpoints.topic.name == "msksource.checkpoints.internal"
    assert (beats.topic.name, beats.interval_seconds) == ("heartbeats", 20)
    assert flow.should_replicate("ExampleTopic2", flow.topic_filter())
    assert not flow.should_replicate("Other", flow.topic_filter())
    assert {each.partition(":")[0] for each in mirror.warnings} == {
        "clusters",  # D3-B12: accepted, with a warning
        *(f"{name}.json" for name in files if name == "mm2-msc"),
    }


def test_a_file_whose_access_data_are_missing_does_not_start(mm2: Reader) -> None:
    """D4-B11"""
    told = mm2.problems(
        "clusters=source,target\nsource.bootstrap.servers=${file:/properties/access.properties:SRC_BROKERS}\n"
        "target.bootstrap.servers=t:9092\nsource->target.enabled=true\nconfig.providers=file\n"
        "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
    )
    assert len(told) == 1
    assert "${file:/properties/access.properties:SRC_BROKERS}" in told[0]
    assert "/properties/access.properties: no such file" in told[0]


def test_event_hubs_with_its_connection_string(mm2: Reader, tmp_path: Path) -> None:
    """Scenario D4: `$ConnectionString` without braces stays as it is, several placeholders in one value"""
    access = tmp_path / "access.properties"
    access.write_text(
        "TGT_BROKERS=hub.servicebus.windows.net:9093\nTGT_API_KEY=root\nTGT_API_SECRET=s/x=\n"
    )
    f = f"${{file:{access}:"
    mirror = mm2(
        "clusters=source,target\nsource.bootstrap.servers=s1:9092\n"
        f"target.bootstrap.servers={f}TGT_BROKERS}}\ntarget.security.protocol=SASL_SSL\n"
        f'target.sasl.mechanism=PLAIN\ntarget.sasl.jaas.config={PLAIN} username="$ConnectionString" '
        f'password="Endpoint=sb://{f}TGT_BROKERS}}/;SharedAccessKeyName={f}TGT_API_KEY}};'
        f'SharedAccessKey={f}TGT_API_SECRET}}";\n'
        "config.providers=file\n"
        "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
        "source->target.enabled=true\nsource->target.topics=topic1,topic2\n"
    )
    sasl = mirror.cluster("target").security.sasl
    assert sasl is not None
    assert isinstance(sasl.credentials, Password)
    assert sasl.credentials.username == "$ConnectionString"
    assert str(sasl.credentials.password) == (
        "Endpoint=sb://hub.servicebus.windows.net:9093/;SharedAccessKeyName=root;SharedAccessKey=s/x="
    )
