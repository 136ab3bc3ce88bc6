"""Names and configurations of the connectors in the sequence."""

from __future__ import annotations

from urllib.parse import quote

SOURCE_CLASS = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
CHECKPOINT_CLASS = "org.apache.kafka.connect.mirror.MirrorCheckpointConnector"
HEARTBEAT_CLASS = "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"

SOURCE, CHECKPOINT, HEARTBEAT = "mm2-msc", "mm2-cpc", "mm2-hbc"
#: A name in Strimzi's style, which must be encoded in a URL.
ARROW = "A->B.MirrorHeartbeatConnector"
ARROW_PATH = f"/connectors/{quote(ARROW, safe='')}"

#: The topic that the stage creates on the source: two partitions, ten records each.
TOPIC = "orders"


def _common(connector_class: str) -> dict[str, str]:
    return {
        "connector.class": connector_class,
        "source.cluster.alias": "A",
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": "$source",
        "target.cluster.bootstrap.servers": "$target",
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    }


SOURCE_CONFIG = {
    **_common(SOURCE_CLASS),
    "tasks.max": "3",
    "topics": TOPIC,
    "replication.factor": "1",
    "offset-syncs.topic.replication.factor": "1",
    "sync.topic.acls.enabled": "false",
}
CHECKPOINT_CONFIG = {
    **_common(CHECKPOINT_CLASS),
    "tasks.max": "1",
    "checkpoints.topic.replication.factor": "1",
    "emit.checkpoints.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
}
HEARTBEAT_CONFIG = {
    **_common(HEARTBEAT_CLASS),
    "tasks.max": "1",
    "heartbeats.topic.replication.factor": "1",
}
