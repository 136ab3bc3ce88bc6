"""Definitions of resources that belong to other projects: Strimzi's KafkaMirrorMaker2, Prometheus' monitors.

Neither project's definitions can be had from a package index. These have the names, versions and subresources
of theirs, so that objects can be stored and scaled, and accept any field: typos in their specs are not found
here.
"""

from __future__ import annotations

from typing import Any

from heliograph.config.formats.strimzi import KIND

_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
#: As Strimzi's: kubectl scale, and a HorizontalPodAutoscaler, use it.
_SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.labelSelector",
}


def definition(
    group: str, kind: str, versions: tuple[str, ...], subresources: dict[str, Any]
) -> dict[str, Any]:
    """The last version is stored."""
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": _ANYTHING, "status": _ANYTHING},
                        }
                    },
                    "subresources": subresources,
                }
                for version in versions
            ],
        },
    }


STRIMZI = definition("kafka.strimzi.io", KIND, ("v1beta2", "v1"), {"status": {}, "scale": _SCALE})
MONITORS = (
    definition("monitoring.coreos.com", "PodMonitor", ("v1",), {}),
    definition("monitoring.coreos.com", "PrometheusRule", ("v1",), {}),
)
