"""Reads Strimzi's `KafkaMirrorMaker2` as the worker and the connectors that its operator would create.

    v1                                  v1beta2 and before
    spec.target                         spec.connectCluster, one of spec.clusters
    spec.mirrors[].source               spec.mirrors[].sourceCluster, targetCluster

Mirrors `KafkaMirrorMaker2Cluster` and `KafkaMirrorMaker2Connectors`. Connectors have Strimzi's names:
`A->B.MirrorSourceConnector`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from heliograph.config.formats.connect_json import NamedConnector
from heliograph.config.formats.kubernetes import KubernetesObject, objects_in, resources_in
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.formats.strimzi_clusters import (
    PROVIDER,
    PROVIDER_CLASS,
    TARGET_FIELDS,
    Settings,
    StrimziClusters,
)
from heliograph.config.formats.strimzi_connectors import PATTERNS, SECTIONS, StrimziConnectors
from heliograph.config.formats.text.node import Document, Node
from heliograph.config.formats.text.yaml_text import parse_yaml
from heliograph.config.formats.wrong_command import not_a_mirror
from heliograph.config.options import OPTIONS, Scope
from heliograph.config.options.kafka_clients import client_option
from heliograph.config.options.values import BYTE_ARRAY_CONVERTER
from heliograph.config.resolve.near_match import near
from heliograph.errors import ConfigError

KIND = "KafkaMirrorMaker2"
_STORAGE = {
    "group.id": ("groupId", "mirrormaker2-cluster"),
    "config.storage.topic": ("configStorageTopic", "mirrormaker2-cluster-configs"),
    "offset.storage.topic": ("offsetStorageTopic", "mirrormaker2-cluster-offsets"),
    "status.storage.topic": ("statusStorageTopic", "mirrormaker2-cluster-status"),
}
#: Settings of the worker that are fields of the target, with the field.
STORAGE_FIELDS = {name: its_field for name, (its_field, _) in _STORAGE.items()}
_MIRROR_FIELDS = frozenset(
    {"source", "sourceCluster", "targetCluster", *SECTIONS}.union(*PATTERNS.values())
)
_SPEC_FIELDS = frozenset({"target", "clusters", "connectCluster", "mirrors", "replicas", "version"})
#: Fields about pods, without effect outside of Kubernetes.
_POD_FIELDS = frozenset(
    [
        "image",
        "resources",
        "livenessProbe",
        "readinessProbe",
        "jvmOptions",
        "jmxOptions",
        "logging",
        "clientRackInitImage",
        "rack",
        "metricsConfig",
        "tracing",
        "template",
        "externalConfiguration",
        "plugins",
        "build",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrimziMirror:
    """`worker` and `connectors` contain placeholders for Secrets; `secrets` are those in the same file."""

    name: str
    namespace: str
    worker: PropertiesFile
    connectors: tuple[NamedConnector, ...]
    secrets: tuple[KubernetesObject, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()


def parse_strimzi(text: str, name: str) -> StrimziMirror:
    """Reads the one KafkaMirrorMaker2 of a file. Raises ConfigError with every problem."""
    documents, warnings = parse_yaml(text, name)
    found: list[tuple[Document, Node]] = []
    others = []
    for document, resource in resources_in(documents):
        kind, its_name = _identity(document, resource)
        if kind == KIND:
            found.append((document, resource))
        elif kind not in ("Secret", "ConfigMap"):
            others.append(f"{kind} {its_name}".strip())
    if len(found) != 1:
        at = ", ".join(document.at(resource) for document, resource in found)
        instead = None if found else not_a_mirror(name, resources_in(documents))
        named = [each for each in others if each]
        raise ConfigError(
            instead
            or f"{name}: expected one resource of kind {KIND}, found {len(found) or 'none'}"
            + (f" ({at})" if at else f"{'; found ' + ', '.join(named[:5]) if named else ''}")
        )
    if others:
        warnings.append(f"{name}: ignored other resources: {', '.join(others)}")
    return _Reading(*found[0], warnings).mirror(tuple(objects_in(documents)))


def _identity(document: Document, resource: Node) -> tuple[str, str]:
    fields = document.mapping(resource, "")
    metadata = fields.get("metadata")
    inner = metadata.value if metadata is not None and isinstance(metadata.value, dict) else {}
    kind = fields["kind"].text if "kind" in fields else ""
    return kind, inner["name"].text if "name" in inner else ""


class _Reading:
    def __init__(self, document: Document, resource: Node, warnings: list[str]) -> None:
        self._document = document
        self._fields = document.mapping(resource, "")
        self._node = resource
        self._problems: list[str] = []
        self._warnings = warnings
        metadata = self._fields.get("metadata")
        its = metadata.value if metadata is not None and isinstance(metadata.value, dict) else {}
        self._name = its["name"].text if "name" in its else KIND
        self._namespace = its["namespace"].text if "namespace" in its else ""
        self._clusters = StrimziClusters(document, self._namespace, self._problems, self._warnings)

    def mirror(self, secrets: tuple[KubernetesObject, ...]) -> StrimziMirror:
        spec_node = self._fields.get("spec")
        if spec_node is None:
            raise ConfigError(f"spec: missing ({self._document.at(self._node)})")
        spec = self._document.mapping(spec_node, "spec")
        self._check_spec(spec)
        target = self._target(spec, spec_node)
        if target is None:
            raise ConfigError(self._problems)
        path, node = target
        self._clusters.check(node, path, TARGET_FIELDS)
        mirrors = self._mirrors(spec, spec_node, path, node)
        worker = self._worker(path, node)
        if self._problems:
            raise ConfigError(list(dict.fromkeys(self._problems)))
        return StrimziMirror(
            name=self._name,
            namespace=self._namespace,
            worker=worker,
            connectors=tuple(mirrors),
            secrets=secrets,
            warnings=tuple(dict.fromkeys(self._warnings)),
        )

    def _check_spec(self, spec: Mapping[str, Node]) -> None:
        self._clusters.unknown(spec, "spec", _SPEC_FIELDS | _POD_FIELDS)
        if pods := [name for name in spec if name in _POD_FIELDS]:
            self._warnings.append(
                f"{self._document.name}: without effect outside of Kubernetes: "
                f"{', '.join(f'spec.{name} (line {spec[name].line})' for name in pods)}"
            )

    # ── clusters ─────────────────────────────────────────────────────────────────────────────

    def _target(self, spec: Mapping[str, Node], node: Node) -> tuple[str, Node] | None:
        """Path in the document, and the node."""
        if "target" in spec:
            return "spec.target", spec["target"]
        clusters = self._declared(spec)
        if "connectCluster" not in spec or not clusters:
            self._problems.append(
                "spec: Either .spec.target or .spec.connectCluster and .spec.clusters have to be specified "
                f"({self._document.at(node)})"
            )
            return None
        alias = self._document.setting(spec["connectCluster"], "spec.connectCluster")
        if alias in clusters:
            return clusters[alias]
        targets = self._named_targets(spec)
        sentence = (
            f"spec.connectCluster: connectCluster with alias {alias} cannot be found in the list of clusters "
            f"at .spec.clusters"
        )
        at = self._document.at(spec["connectCluster"])
        if len(targets) == 1 and (only := next(iter(targets))) in clusters:
            self._warnings.append(f"{sentence}; Strimzi refuses this, here {only} is used ({at})")
            return clusters[only]
        self._problems.append(f"{sentence}; its aliases are {', '.join(clusters)} ({at})")
        return None

    def _declared(self, spec: Mapping[str, Node]) -> dict[str, tuple[str, Node]]:
        if "clusters" not in spec:
            return {}
        return {
            self._clusters.alias(node, path): (path, node)
            for path, node in self._document.items(spec["clusters"], "spec.clusters")
        }

    def _named_targets(self, spec: Mapping[str, Node]) -> set[str]:
        mirrors = spec.get("mirrors")
        nodes = mirrors.value if mirrors is not None and isinstance(mirrors.value, list) else []
        named = [each.value.get("targetCluster") for each in nodes if isinstance(each.value, dict)]
        return {each.text for each in named if each is not None}

    def _source(
        self, mirror: Mapping[str, Node], path: str, node: Node, spec: Mapping[str, Node]
    ) -> tuple[str, Node] | None:
        if "source" in mirror:
            return f"{path}.source", mirror["source"]
        if "sourceCluster" not in mirror:
            self._problems.append(
                f"{path}: Both .spec.mirrors[].source and .spec.mirrors[].sourceCluster are missing. Cannot "
                f"determine source cluster. ({self._document.at(node)})"
            )
            return None
        alias = self._document.setting(mirror["sourceCluster"], f"{path}.sourceCluster")
        found = self._declared(spec).get(alias)
        if found is None:
            self._problems.append(
                f"{path}.sourceCluster: .spec.mirrors[].sourceCluster is set to an non-existent alias. "
                f"Cannot determine source cluster. ({self._document.at(mirror['sourceCluster'])})"
            )
        return found

    def _worker(self, path: str, node: Node) -> PropertiesFile:
        """The settings of the Connect worker: how its own and the connectors' clients reach the target."""
        fields = self._document.mapping(node, path)
        config = self._clusters.config(node, path)
        settings: Settings = {}
        for name, (its_field, default) in _STORAGE.items():
            given = fields.get(its_field)
            if given is not None and given.value is not None:
                text = self._document.setting(given, f"{path}.{its_field}")
                settings[name] = Property(text, given.line)
            else:
                settings[name] = config.get(name, Property(default, node.line))
        for name, found in self._clusters.access(node, path).items():
            settings[name] = found
            if name != "bootstrap.servers":
                settings |= {f"{kind}.{name}": found for kind in ("producer", "consumer", "admin")}
        for kind in ("key", "value", "header"):
            settings[f"{kind}.converter"] = Property(BYTE_ARRAY_CONVERTER, node.line)
        settings |= _provider(node.line) | {n: f for n, f in config.items() if n not in _STORAGE}
        named = settings.get("config.providers", Property(PROVIDER, node.line))
        if PROVIDER not in named.value:
            settings["config.providers"] = Property(f"{named.value},{PROVIDER}", named.line)
        return PropertiesFile(name=self._document.name, properties=settings)

    # ── mirrors ──────────────────────────────────────────────────────────────────────────────

    def _mirrors(
        self, spec: Mapping[str, Node], spec_node: Node, target_path: str, target: Node
    ) -> Iterable[NamedConnector]:
        if "mirrors" not in spec or not spec["mirrors"].value:
            self._problems.append(
                f"spec.mirrors: .spec.mirrors section is required in KafkaMirrorMaker2 resource "
                f"({self._document.at(spec_node)})"
            )
            return []
        made: list[NamedConnector] = []
        target_alias = self._clusters.alias(target, target_path)
        aliases = [target_alias]
        version = self._fields.get("apiVersion")
        connectors = StrimziConnectors(self._clusters, "" if version is None else version.text)
        for path, node in self._document.items(spec["mirrors"], "spec.mirrors"):
            mirror = self._document.mapping(node, path)
            self._refuse_misspelt_patterns(mirror, path)
            self._clusters.unknown(mirror, path, _MIRROR_FIELDS)
            self._check_target(mirror, path, target_alias)
            source = self._source(mirror, path, node, spec)
            if source is None:
                continue
            source_path, source_node = source
            self._clusters.check(source_node, source_path)
            alias = self._clusters.alias(source_node, source_path)
            if alias in aliases:
                self._problems.append(
                    f"{source_path}.alias: The target and source cluster aliases must be unique. "
                    f"({self._document.at(source_node)})"
                )
            aliases.append(alias)
            base = self._side("source", source_path, source_node)
            base |= self._side("target", target_path, target)
            made += connectors.read(mirror, path, node, base, f"{alias}->{target_alias}")
        return made

    def _refuse_misspelt_patterns(self, mirror: Mapping[str, Node], path: str) -> None:
        """Strimzi would ignore them, and MM2 mirror all topics."""
        for name, node in mirror.items():
            meant = {"topics": "topicsPattern", "topics.exclude": "topicsExcludePattern"}.get(name)
            meant = meant or near(name, _MIRROR_FIELDS)
            if name not in _MIRROR_FIELDS and meant is not None and meant.startswith("topics"):
                self._problems.append(
                    f"{path}.{name}: refused, since without it topics would be mirrored that you did not "
                    f"choose: unknown field; did you mean {meant}? ({self._document.at(node)})"
                )

    def _check_target(self, mirror: Mapping[str, Node], path: str, alias: str) -> None:
        named = mirror.get("targetCluster")
        if named is not None and named.text != alias:
            self._problems.append(
                f"{path}.targetCluster: The .spec.mirrors[].targetCluster alias is not the same as the "
                f"actual target cluster alias. expected {alias!r}, found {named.text!r} "
                f"({self._document.at(named)})"
            )

    def _side(self, side: str, path: str, node: Node) -> Settings:
        """Of the target's config, only settings of clients: the rest belongs to the worker."""
        alias = Property(self._clusters.alias(node, path), node.line)
        config = self._clusters.config(node, path)
        if side == "target":
            config = {name: found for name, found in config.items() if _is_client(name)}
        its = {"alias": alias} | self._clusters.access(node, path) | config
        return {f"{side}.cluster.{name}": found for name, found in its.items()}


def _is_client(name: str) -> bool:
    kinds = (Scope.CONSUMER, Scope.PRODUCER, Scope.ADMIN)
    worker = OPTIONS.get((Scope.WORKER, name))
    return worker is None and any(client_option(kind, name) is not None for kind in kinds)


def _provider(line: int) -> Settings:
    return {
        "config.providers": Property(PROVIDER, line),
        f"config.providers.{PROVIDER}.class": Property(PROVIDER_CLASS, line),
    }
