"""Recognises a right file that was given to the wrong command, and names the right one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from heliograph.config.formats.format import Form, form_of
from heliograph.config.formats.kubernetes import CONFIG_MAP, SECRET
from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.formats.text.node import Document, Node

_WORKERS = frozenset(
    {"group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic"}
)
_STANDALONE = "offset.storage.file.filename"
#: A broker's file has at least one of them, with KRaft or ZooKeeper; no client knows any.
_BROKERS = frozenset({"process.roles", "broker.id", "node.id", "log.dirs", "zookeeper.connect"})
_OF_SPEC = frozenset({"target", "clusters", "connectCluster", "mirrors"})
_HEAD = "apiVersion: kafka.strimzi.io/v1, kind: KafkaMirrorMaker2, metadata: {name: …} and spec:"


def is_workers(file: PropertiesFile) -> bool:
    """Whether it is the file of a Connect worker. A group alone may be a setting of anything."""
    keys = file.properties.keys()
    return "clusters" not in keys and len(_WORKERS & keys) >= 2


def not_flows(file: PropertiesFile) -> str | None:
    """Why a properties file without `clusters` describes no flows; None: it may be one that lacks them."""
    keys, name = file.properties.keys(), file.name
    if is_workers(file):
        return (
            f"{name}: the configuration of a Connect worker, not of flows. Start the worker: heliograph "
            f"serve {name}. Show its flows: heliograph status {name}. Run connectors from a file: "
            f"heliograph run connectors.json --worker {name}"
        )
    if "connector.class" in keys:
        return (
            f"{name}: the configuration of one connector, as connect-standalone.sh reads it. Write it as "
            'JSON, {"name": …, "config": {…}}, and start it: heliograph run connector.json'
        )
    if _STANDALONE in keys:
        return (
            f"{name}: the configuration of a standalone Connect worker, which keeps its offsets in a file "
            f"({file.where(_STANDALONE)}). Give its connectors as JSON, without it: heliograph run "
            "connectors.json"
        )
    if _BROKERS & keys:
        return _a_brokers(name)
    if "bootstrap.servers" in keys:
        return (
            f"{name}: settings of one client, as Kafka's tools read them, not of flows. Name the clusters, "
            "and write each setting with the name of its cluster: clusters = source, target; "
            "source.bootstrap.servers = …. heliograph init writes such a file"
        )
    return None


def _a_brokers(name: str) -> str:
    return (
        f"{name}: the configuration of a Kafka broker. A mirror has a file of its own; heliograph init "
        "writes it from the brokers' addresses"
    )


def not_a_worker(path: Path, file: PropertiesFile | None = None) -> str | None:
    """Why a file is not that of a worker, by its name or, if it was read, by its keys."""
    match form_of(path):
        case Form.CONNECT:
            return (
                f"{path.name}: connectors in JSON, not the configuration of a worker. Run them: heliograph "
                f"run {path.name}. To run them in a worker, start it (heliograph serve worker.properties) "
                "and POST each of them to its /connectors"
            )
        case Form.STRIMZI:
            return (
                f"{path.name}: a resource of Kubernetes, not the configuration of a worker. Run it: "
                f"heliograph run {path.name}"
            )
    keys = file.properties.keys() if file is not None else frozenset[str]()
    if "clusters" in keys and not _WORKERS & keys:
        return (
            f"{path.name}: flows of MirrorMaker 2's dedicated mode, not the configuration of a worker. Run "
            f"it: heliograph run {path.name}"
        )
    if "connector.class" in keys and not _WORKERS & keys:
        return f"{not_flows(file)}" if file is not None else None
    if _BROKERS & keys and not _WORKERS & keys:
        return _a_brokers(path.name)
    return None


def not_a_mirror(name: str, resources: Iterable[tuple[Document, Node]]) -> str | None:
    """What a YAML file without a KafkaMirrorMaker2 is instead, and what to do with it; None: not known."""
    for document, resource in resources:
        fields = document.mapping(resource, "")
        kind = fields["kind"].text if "kind" in fields else ""
        if not kind and _OF_SPEC & fields.keys():
            return f"{name}: only the spec of a KafkaMirrorMaker2; put before it {_HEAD}, and indent it"
        if not kind and "spec" in fields:
            return f"{name}: a resource without kind; put before spec {_HEAD.removesuffix(' and spec:')}"
        if kind == CONFIG_MAP and (file := _properties_in(document, fields)):
            return (
                f"{name}: a ConfigMap with the file {file}. Save the file by itself, and start it: "
                f"heliograph run {file}"
            )
        if kind in (SECRET, CONFIG_MAP):
            return (
                f"{name}: only a {kind}, which a mirror may refer to. Give the mirror first: heliograph run "
                f"mirror.yaml --secrets {name}"
            )
        if kind in ("KafkaConnect", "KafkaConnector"):
            return (
                f"{name}: a {kind}; of Strimzi's resources only KafkaMirrorMaker2 can be run. Write the "
                'connector as JSON, {"name": …, "config": {…}}, and start it: heliograph run connector.json'
            )
    return None


def _properties_in(document: Document, fields: Mapping[str, Node]) -> str | None:
    """The first properties file in a ConfigMap."""
    data = fields.get("data")
    if data is None or not isinstance(data.value, dict):
        return None
    return next(
        (key for key in document.mapping(data, "data") if key.endswith(".properties")), None
    )
