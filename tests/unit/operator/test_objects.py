from __future__ import annotations

from typing import Any

from heliograph.operator.objects import wanted_objects
from heliograph.operator.resource import read_mirror
from support.strimzi_resources import mirror_resource


def _objects(resource: dict[str, Any], digest: str = "d") -> dict[str, dict[str, Any]]:
    found = wanted_objects(read_mirror(resource), "heliograph:1", digest)
    return {each["kind"]: each for each in found}


def _digest(objects: dict[str, dict[str, Any]]) -> str:
    metadata = objects["Deployment"]["spec"]["template"]["metadata"]
    return str(metadata["annotations"]["heliograph.io/configuration"])


def test_a_mirror_is_a_deployment_with_strimzis_labels_and_its_owner() -> None:
    found = _objects(mirror_resource())

    assert found.keys() == {
        *("ConfigMap", "Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget")
    }
    for each in found.values():
        (owner,) = each["metadata"]["ownerReferences"]
        assert (owner["name"], owner["uid"], owner["controller"]) == ("mm2", "5c1", True)
        assert each["metadata"]["labels"]["strimzi.io/cluster"] == "mm2"
    assert found["Deployment"]["spec"]["replicas"] == 2
    assert found["Service"]["metadata"]["name"] == "mm2-mirrormaker2-api"


def test_the_workers_file_has_the_resources_settings_and_an_open_listener() -> None:
    text = _objects(mirror_resource())["ConfigMap"]["data"]["worker.properties"]

    assert "group.id = b-group\n" in text
    assert "listeners = http://0.0.0.0:8083\n" in text


def test_pods_are_restricted() -> None:
    pod = _objects(mirror_resource())["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_secrets_are_mounted_as_folders_of_their_names() -> None:
    resource = mirror_resource()
    resource["spec"]["target"]["tls"] = {
        "trustedCertificates": [{"secretName": "b-ca", "certificate": "ca.crt"}]
    }
    pod = _objects(resource)["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert container["args"][-2:] == ["--secrets", "/etc/heliograph-secrets"]
    assert "/etc/heliograph-secrets/b-ca" in [m["mountPath"] for m in container["volumeMounts"]]
    assert {"secretName": "b-ca", "defaultMode": 0o440} in [v.get("secret") for v in pod["volumes"]]


def test_another_secret_or_another_setting_replaces_the_pods_and_nothing_else_does() -> None:
    other = mirror_resource()
    other["spec"]["target"]["config"] = {"offset.flush.interval.ms": 500}
    again = mirror_resource()
    again["metadata"]["generation"] = 8

    first = _digest(_objects(mirror_resource()))

    assert _digest(_objects(again)) == first
    assert _digest(_objects(mirror_resource(), digest="e")) != first
    assert _digest(_objects(other)) != first


def test_fields_about_pods_are_taken_from_the_resource() -> None:
    labels = {"team": "data"}
    template = {"pod": {"metadata": {"labels": labels}, "priorityClassName": "high"}}
    resources = {"limits": {"memory": "2Gi"}}
    deployment = _objects(mirror_resource(template=template, resources=resources))["Deployment"]
    pod = deployment["spec"]["template"]

    assert pod["metadata"]["labels"]["team"] == "data"
    assert pod["spec"]["priorityClassName"] == "high"
    assert pod["spec"]["containers"][0]["resources"] == resources
