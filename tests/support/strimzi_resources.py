"""KafkaMirrorMaker2 resources as the API server answers them."""

from __future__ import annotations

from typing import Any


def mirror_resource(**spec: Any) -> dict[str, Any]:
    """A v1 resource with one mirror from a to b."""
    target = {
        "alias": "b",
        "bootstrapServers": "b:9092",
        "groupId": "b-group",
        "configStorageTopic": "b-configs",
        "offsetStorageTopic": "b-offsets",
        "statusStorageTopic": "b-status",
    }
    mirror = {
        "source": {"alias": "a", "bootstrapServers": "a:9092"},
        "sourceConnector": {"tasksMax": 4, "config": {"replication.factor": 1}},
        "checkpointConnector": {},
        "topicsPattern": "orders",
    }
    return {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaMirrorMaker2",
        "metadata": {
            "name": "mm2",
            "namespace": "kafka",
            "uid": "5c1",
            "generation": 7,
            "annotations": {},
            "managedFields": [{"manager": "kubectl"}],
        },
        "spec": {"replicas": 2, "target": target, "mirrors": [mirror], **spec},
    }


def annotated(resource: dict[str, Any], **annotations: str) -> dict[str, Any]:
    """Annotations of strimzi.io; `_` stands for a hyphen."""
    named = {f"strimzi.io/{name.replace('_', '-')}": text for name, text in annotations.items()}
    return {**resource, "metadata": {**resource["metadata"], "annotations": named}}


def running(
    name: str, config: dict[str, str], state: str = "RUNNING", task: str = "RUNNING"
) -> Any:
    """A connector in the answer of GET /connectors?expand=info&expand=status."""
    return {
        "info": {"name": name, "config": config, "tasks": [], "type": "source"},
        "status": {
            "name": name,
            "connector": {"state": state, "worker_id": "10.0.0.1:8083"},
            "tasks": [{"id": 0, "state": task, "worker_id": "10.0.0.1:8083"}],
            "type": "source",
        },
    }
