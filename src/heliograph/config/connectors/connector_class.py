"""Lists MM2's three connectors and the names by which Connect accepts them."""

from __future__ import annotations

from enum import StrEnum

from heliograph.config.resolve.near_match import did_you_mean

_PACKAGE = "org.apache.kafka.connect.mirror."


class ConnectorClass(StrEnum):
    SOURCE = "MirrorSourceConnector"
    CHECKPOINT = "MirrorCheckpointConnector"
    HEARTBEAT = "MirrorHeartbeatConnector"

    @property
    def java_name(self) -> str:
        return _PACKAGE + self.value

    @property
    def task_class(self) -> str:
        return _PACKAGE + self.value.replace("Connector", "Task")


def connector_class(name: str) -> ConnectorClass | None:
    """With or without its package, or by Connect's alias for the plugin (`MirrorSource`)."""
    for known in ConnectorClass:
        if name in (known.java_name, known.value, known.value.removesuffix("Connector")):
            return known
    return None


def not_a_connector(name: str) -> str:
    """Completes "connector.class: …"."""
    known = [known.value for known in ConnectorClass]
    short = name.rpartition(".")[2]
    return (
        f"expected {known[0]}, {known[1]} or {known[2]}, found {name!r}{did_you_mean(short, known)}"
    )
