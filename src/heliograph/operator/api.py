"""A client of Kubernetes' API server, for the few requests that the operator sends.

Within a pod: its service account. Elsewhere: the current context of $KUBECONFIG or ~/.kube/config, with a
token or a client certificate.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heliograph.errors import EnvironmentProblem, HeliographError
from heliograph.operator.objects import FIELD_MANAGER
from heliograph.operator.resource import Object

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_SECONDS = 30.0
_MERGE, _APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
_NOT_FOUND = 404
#: Paths of the kinds that the operator applies.
_PLURALS = {
    "ConfigMap": "configmaps",
    "Deployment": "deployments",
    "NetworkPolicy": "networkpolicies",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "Secret": "secrets",
    "Service": "services",
}


class ApiError(HeliographError):
    """What the API server or a worker refuses; the message is its own."""


@dataclass(frozen=True, slots=True)
class Access:
    url: str
    tls: ssl.SSLContext
    token_file: Path | None = None
    token: str = ""

    @property
    def bearer(self) -> str:
        """Read each time: tokens of service accounts are renewed."""
        return self.token if self.token_file is None else self.token_file.read_text().strip()


class KubernetesApi:
    def __init__(self, access: Access) -> None:
        self._access = access

    def get(self, path: str) -> Object | None:
        """None if it does not exist."""
        try:
            return self._request("GET", path)
        except _Missing:
            return None

    def apply(self, wanted: Object) -> None:
        """Server-side apply: fields that others set stay theirs, such as replicas of an autoscaler."""
        metadata = wanted["metadata"]
        path = path_of(
            wanted["apiVersion"], wanted["kind"], metadata["namespace"], metadata["name"]
        )
        self._request("PATCH", f"{path}?fieldManager={FIELD_MANAGER}&force=true", wanted, _APPLY)

    def patch(self, path: str, change: Mapping[str, Any]) -> None:
        self._request("PATCH", path, change, _MERGE)

    def delete(self, path: str) -> bool:
        """Whether it was there."""
        try:
            self._request("DELETE", path)
        except _Missing:
            return False
        return True

    def _request(
        self, method: str, path: str, body: object = None, media_type: str = "application/json"
    ) -> Object:
        request = urllib.request.Request(
            self._access.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._access.bearer}", "Content-Type": media_type},
        )
        try:
            with urllib.request.urlopen(
                request, timeout=_SECONDS, context=self._access.tls
            ) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as e:
            with e:
                message = _message(e.read())
            if e.code == _NOT_FOUND:
                raise _Missing(f"{method} {path}: {message}") from None
            raise ApiError(f"{method} {path}: {e.code}: {message}") from None
        except (OSError, http.client.HTTPException) as e:
            raise ApiError(f"{method} {path}: the API server does not answer: {e}") from None


class _Missing(ApiError):
    pass


def path_of(api_version: str, kind: str, namespace: str, name: str) -> str:
    root = "/api/v1" if api_version == "v1" else f"/apis/{api_version}"
    return f"{root}/namespaces/{namespace}/{_PLURALS[kind]}/{name}"


def find_access(environment: Mapping[str, str] = os.environ) -> Access:
    """Raises EnvironmentProblem."""
    if (_ACCOUNT / "token").exists() and "KUBERNETES_SERVICE_HOST" in environment:
        host = environment["KUBERNETES_SERVICE_HOST"]
        address = f"[{host}]" if ":" in host else host
        url = f"https://{address}:{environment.get('KUBERNETES_SERVICE_PORT', '443')}"
        tls = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))
        return Access(url, tls, token_file=_ACCOUNT / "token")
    file = Path(environment.get("KUBECONFIG") or "~/.kube/config").expanduser()
    try:
        return _of_kubeconfig(yaml.safe_load(file.read_text()))
    except (OSError, KeyError, StopIteration, ValueError, yaml.YAMLError) as e:
        raise EnvironmentProblem(
            f"{file}: expected a kubeconfig with a current context, found {type(e).__name__}: {e}; run the "
            "operator in a pod with a service account, or set KUBECONFIG"
        ) from None


def _of_kubeconfig(config: Mapping[str, Any]) -> Access:
    context = _named(config, "contexts", config["current-context"])["context"]
    cluster = _named(config, "clusters", context["cluster"])["cluster"]
    user = _named(config, "users", context["user"])["user"]
    data = cluster.get("certificate-authority-data")
    tls = ssl.create_default_context(
        cafile=cluster.get("certificate-authority"),
        cadata=None if data is None else base64.b64decode(data).decode(),
    )
    if "client-certificate-data" in user:
        with tempfile.NamedTemporaryFile("wb", suffix=".pem") as pair:
            for name in ("client-certificate-data", "client-key-data"):
                pair.write(base64.b64decode(user[name]) + b"\n")
            pair.flush()
            tls.load_cert_chain(pair.name)
    elif "client-certificate" in user:
        tls.load_cert_chain(user["client-certificate"], user.get("client-key"))
    return Access(cluster["server"].rstrip("/"), tls, token=user.get("token", ""))


def _named(config: Mapping[str, Any], kind: str, name: str) -> Mapping[str, Any]:
    return next(each for each in config[kind] if each["name"] == name)


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body[:300].decode(errors="replace")
