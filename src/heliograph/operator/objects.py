"""What runs a mirror in Kubernetes: ConfigMap, Deployment, Service, NetworkPolicy, PodDisruptionBudget.

All belong to the resource (ownerReferences), so that Kubernetes removes them with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from heliograph.config.formats.convert.to_connect import properties_text
from heliograph.operator.resource import Mirror, Object

REST_PORT, METRICS_PORT = 8083, 9404
FIELD_MANAGER = "heliograph-operator"
_FOLDER, _SECRETS, _CACHE = "/etc/heliograph", "/etc/heliograph-secrets", "/var/cache/heliograph"
_MEMORY = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
_OWN_SETTINGS = {
    "listeners": f"http://0.0.0.0:{REST_PORT}",
    "rest.allowed.hosts": "*",
}


def selector(mirror: Mirror) -> dict[str, str]:
    """Strimzi's labels, which users' dashboards and policies select by, and ours, so that Strimzi's operator
    does not take these pods for its own."""
    return {
        "strimzi.io/cluster": mirror.name,
        "strimzi.io/kind": "KafkaMirrorMaker2",
        "strimzi.io/name": mirror.full_name,
        "app.kubernetes.io/managed-by": FIELD_MANAGER,
    }


def wanted_objects(mirror: Mirror, image: str, secrets_digest: str) -> list[Object]:
    """`secrets_digest` stands for the content of the Secrets: with another one, pods are replaced."""
    config = _config_map(mirror)
    digest = hashlib.sha256(f"{json.dumps(config['data'])} {secrets_digest}".encode()).hexdigest()
    return [
        config,
        _deployment(mirror, image, digest[:16]),
        _service(mirror),
        _network_policy(mirror),
        _disruption_budget(mirror),
    ]


def _head(mirror: Mirror, api_version: str, kind: str, name: str) -> Object:
    owner = {
        "apiVersion": mirror.api_version,
        "kind": "KafkaMirrorMaker2",
        "name": mirror.name,
        "uid": mirror.uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": mirror.namespace,
            "labels": selector(mirror),
            "ownerReferences": [owner],
        },
    }


def _config_map(mirror: Mirror) -> Object:
    settings = {name: found.value for name, found in mirror.worker.properties.items()}
    text = properties_text({**settings, **_OWN_SETTINGS})
    return {
        **_head(mirror, "v1", "ConfigMap", mirror.full_name),
        "data": {"worker.properties": text},
    }


def _deployment(mirror: Mirror, image: str, digest: str) -> Object:
    labels = selector(mirror)
    template = (mirror.spec.get("template") or {}).get("pod") or {}
    users = template.get("metadata") or {}
    annotations = {**(users.get("annotations") or {}), "heliograph.io/configuration": digest}
    return {
        **_head(mirror, "apps/v1", "Deployment", mirror.full_name),
        "spec": {
            "replicas": mirror.replicas,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
            },
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {
                    "labels": {**(users.get("labels") or {}), **labels},
                    "annotations": annotations,
                },
                "spec": _pod(mirror, image, template),
            },
        },
    }


def _pod(mirror: Mirror, image: str, template: Mapping[str, Any]) -> Object:
    users = {
        name: template[name]
        for name in ("affinity", "tolerations", "imagePullSecrets", "priorityClassName")
        if name in template
    }
    return {
        **users,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": template.get("terminationGracePeriodSeconds", 60),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(mirror, image)],
        "volumes": [
            {"name": "config", "configMap": {"name": mirror.full_name}},
            {"name": "tmp", "emptyDir": {}},
            {"name": "cache", "emptyDir": {"sizeLimit": "64Mi"}},
            *(
                {"name": f"secret-{n}", "secret": {"secretName": name, "defaultMode": 0o440}}
                for n, name in enumerate(mirror.secrets)
            ),
            *(
                {"name": f"map-{n}", "configMap": {"name": name}}
                for n, name in enumerate(mirror.config_maps)
            ),
        ],
    }


def _container(mirror: Mirror, image: str) -> Object:
    names = [("secret", mirror.secrets), ("map", mirror.config_maps)]
    mounted = [
        {"name": f"{kind}-{n}", "mountPath": f"{_SECRETS}/{name}", "readOnly": True}
        for kind, found in names
        for n, name in enumerate(found)
    ]
    args = ["serve", f"{_FOLDER}/worker.properties"]
    address = {"fieldRef": {"fieldPath": "status.podIP"}}
    labels = f"strimzi_io_kind=KafkaMirrorMaker2,strimzi_io_cluster={mirror.name}"
    return {
        "name": "heliograph",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [*args, "--secrets", _SECRETS] if mounted else args,
        "env": [
            {"name": "CONNECT_REST_ADVERTISED_HOST_NAME", "valueFrom": address},
            {"name": "HELIOGRAPH_CACHE", "value": _CACHE},
            {"name": "HELIOGRAPH_METRICS_LABELS", "value": labels},
        ],
        "ports": [
            {"name": "rest-api", "containerPort": REST_PORT, "protocol": "TCP"},
            {"name": "tcp-prometheus", "containerPort": METRICS_PORT, "protocol": "TCP"},
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": mirror.spec.get("resources") or _MEMORY,
        "startupProbe": _probe("/health", period=2, failures=60),
        "readinessProbe": _probe("/health", period=5, failures=3),
        "livenessProbe": _probe("/metrics", period=20, failures=6),
        "volumeMounts": [
            {"name": "config", "mountPath": _FOLDER, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "cache", "mountPath": _CACHE},
            *mounted,
        ],
    }


def _probe(path: str, *, period: int, failures: int) -> Object:
    return {
        "httpGet": {"path": path, "port": METRICS_PORT},
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def _service(mirror: Mirror) -> Object:
    ports = [{"name": "rest-api", "port": REST_PORT, "targetPort": "rest-api", "protocol": "TCP"}]
    return {
        **_head(mirror, "v1", "Service", f"{mirror.full_name}-api"),
        "spec": {"selector": selector(mirror), "ports": ports},
    }


def _network_policy(mirror: Mirror) -> Object:
    """REST has no login, as with Strimzi: only the workers themselves and the operator reach it."""
    workers = {"podSelector": {"matchLabels": selector(mirror)}}
    operator = {
        "podSelector": {"matchLabels": {"app.kubernetes.io/component": FIELD_MANAGER}},
        "namespaceSelector": {},
    }
    return {
        **_head(mirror, "networking.k8s.io/v1", "NetworkPolicy", mirror.full_name),
        "spec": {
            "podSelector": {"matchLabels": selector(mirror)},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [workers, operator], "ports": [{"port": REST_PORT, "protocol": "TCP"}]},
                {"ports": [{"port": METRICS_PORT, "protocol": "TCP"}]},
            ],
        },
    }


def _disruption_budget(mirror: Mirror) -> Object:
    return {
        **_head(mirror, "policy/v1", "PodDisruptionBudget", mirror.full_name),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(mirror)}},
    }
