"""Files that users run MM2 with, as they are, but for security, which is not supported yet."""

from __future__ import annotations

from pathlib import Path

from mm2_files import Reader


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
