"""Reads Secrets and ConfigMaps of Kubernetes from files.

Either exported (`kubectl get secret x -o yaml`), or as folders of files, as a pod mounts them:

    secrets.yaml                     Secret, ConfigMap, List; any number of documents
    secrets/x.yaml                   a folder of such files
    secrets/my-cluster-ca/ca.crt     a folder named after the Secret, with a file for each key
    my-cluster-ca/ca.crt             such a folder itself
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from heliograph.config.formats.text.files import read_text
from heliograph.config.formats.text.node import Document, Node
from heliograph.config.formats.text.yaml_text import parse_yaml
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.config.resolve.providers import Unavailable
from heliograph.errors import ConfigError
from heliograph.permitted import Permitted

SECRET, CONFIG_MAP = "Secret", "ConfigMap"
_YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class KubernetesObject:
    """A Secret or a ConfigMap; `kind` and `namespace` are empty if it was read from a folder."""

    kind: str
    namespace: str
    name: str
    data: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class KubernetesSecrets:
    """All Secrets and ConfigMaps given with --secrets or in the resource's own file."""

    given: tuple[KubernetesObject, ...] = ()

    def provider(self, kind: str) -> KubernetesProvider:
        return KubernetesProvider(self, kind)

    def find(self, kind: str, namespace: str, name: str) -> KubernetesObject | None:
        """If several have the name, the one in `namespace` takes precedence."""
        found = [each for each in self.given if each.name == name and each.kind in (kind, "")]
        same = [each for each in found if namespace and each.namespace == namespace]
        return next(iter(same or found), None)


@dataclass(frozen=True, slots=True)
class KubernetesProvider:
    """As `io.strimzi.kafka.KubernetesSecretConfigProvider`: ${name:namespace/secret:key}.

    A key may be a pattern, `*.crt`: all values whose keys match, in the order of their keys.
    """

    secrets: KubernetesSecrets
    kind: str

    def get(self, path: str, key: str, permitted: Permitted | None = None) -> str:
        """`permitted` is not needed: only Secrets and ConfigMaps given to this process can be read."""
        namespace, _, name = path.rpartition("/")
        found = self.secrets.find(self.kind, namespace, name)
        if found is None:
            names = {each.name for each in self.secrets.given if each.kind in (self.kind, "")}
            raise Unavailable(
                f"the {self.kind} {name!r} was not given; export it (kubectl get {self.kind.lower()} {name} "
                f"-o yaml) and pass the file with --secrets{did_you_mean(name, names)}"
            )
        matching = [found.data[each] for each in sorted(found.data) if fnmatchcase(each, key)]
        if not matching:
            has = ", ".join(sorted(found.data)) or "none"
            raise Unavailable(f"the {self.kind} {name!r} has no key {key!r}; its keys are: {has}")
        return "\n".join(matching)


def read_kubernetes(paths: Iterable[Path]) -> KubernetesSecrets:
    """Raises ConfigError."""
    found: list[KubernetesObject] = []
    for path in paths:
        found += _folder(path) if path.is_dir() else objects_in(_documents(path))
    return KubernetesSecrets(tuple(found))


def _folder(path: Path) -> Iterator[KubernetesObject]:
    entries = sorted(each for each in path.iterdir() if not each.name.startswith("."))
    files = [each for each in entries if each.is_file()]
    if any(each.suffix not in _YAML for each in files):
        yield _mounted(path, files)
        return
    for each in files:
        yield from objects_in(_documents(each))
    for each in entries:
        if each.is_dir():
            inner = sorted(e for e in each.iterdir() if e.is_file() and not e.name.startswith("."))
            yield _mounted(each, inner)


def _mounted(folder: Path, files: Sequence[Path]) -> KubernetesObject:
    """Without a final line end, which editors add to a password."""
    data = {each.name: read_text(each).removesuffix("\n") for each in files}
    return KubernetesObject("", "", folder.resolve().name, data)


def _documents(path: Path) -> list[Document]:
    documents, _ = parse_yaml(read_text(path), path.name)
    return documents


def objects_in(documents: Iterable[Document]) -> Iterator[KubernetesObject]:
    """The Secrets and ConfigMaps among the resources."""
    for document, resource in resources_in(documents):
        fields = document.mapping(resource, "")
        kind = fields["kind"].text if "kind" in fields else ""
        if kind in (SECRET, CONFIG_MAP):
            yield _object(document, kind, fields)


def resources_in(documents: Iterable[Document]) -> Iterator[tuple[Document, Node]]:
    """Every resource; a List gives its items one by one. Raises ConfigError."""
    for document in documents:
        fields = document.mapping(document.root, "")
        if "kind" in fields and fields["kind"].text.endswith("List") and "items" in fields:
            for _, item in document.items(fields["items"], "items"):
                yield document, item
        else:
            yield document, document.root


def _object(document: Document, kind: str, fields: Mapping[str, Node]) -> KubernetesObject:
    metadata = document.mapping(fields["metadata"], "metadata") if "metadata" in fields else {}
    if "name" not in metadata:
        raise ConfigError(
            f"metadata.name: missing; expected the name of the {kind} ({document.name})"
        )
    data: dict[str, str] = {}
    for field, encoded in (
        ("data", kind == SECRET),
        ("binaryData", True),
        ("stringData", False),
    ):
        its = fields.get(field)
        if its is None or its.value is None:
            continue
        for key, node in document.mapping(its, field).items():
            text = document.setting(node, f"{field}.{key}")
            data[key] = _decoded(document, node, f"{field}.{key}", text) if encoded else text
    namespace = metadata["namespace"].text if "namespace" in metadata else ""
    return KubernetesObject(
        kind, namespace, document.setting(metadata["name"], "metadata.name"), data
    )


def _decoded(document: Document, node: Node, path: str, text: str) -> str:
    """Binary data (a PKCS12 store) becomes empty, since it cannot be the value of a setting."""
    try:
        return base64.b64decode(text, validate=True).decode("utf-8")
    except binascii.Error:
        raise ConfigError(f"{path}: expected base64 ({document.at(node)})") from None
    except UnicodeDecodeError:
        return ""
