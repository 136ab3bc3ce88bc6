"""`heliograph operator` against the real API server: resources of Strimzi become Ready, scale, and move.

The operator runs beside the API server with the rights of the chart's Role: a service account's token.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import yaml
from confluent_kafka.admin import NewTopic

from containers.counting import NumberedLoad, count
from containers.errors import LabError
from containers.images import ROOT, TAG
from harness.processes import stop
from heliograph.embedded.child_process import ChildProcess
from kubernetes_lab.definitions import STRIMZI
from kubernetes_lab.kubectl import Kubectl, wait_for
from kubernetes_lab.lab import Lab
from kubernetes_lab.manifests import render

KIND = "kafkamirrormaker2s.kafka.strimzi.io"
LABEL = "heliograph.io/runs-with"
_DOCUMENT = ROOT / "examples" / "on_premises_to_cloud" / "files" / "kafka-to-es-mm2-corrected.yml"
_ACCOUNT, _TOPIC = "form-heliograph", "operated"
_PODS = "strimzi.io/cluster=mm2"
_SECRET = "mm2-tuning"
_SMALL = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
_RATE, _PARTITIONS = 500.0, 2


def check(lab: Lab) -> dict[str, object]:
    kubectl = lab.kubectl
    kubectl.apply(STRIMZI)
    wait_for("KafkaMirrorMaker2 is served", lambda: KIND.partition(".")[0] in _served(kubectl))
    lab.here.create_topics([NewTopic(_TOPIC, _PARTITIONS, 1)])
    with operator(lab):
        _refused(kubectl)
        _missing_secret(kubectl, lab)
        found = _ready(kubectl, lab)
        _restart_and_offsets(kubectl)
        _secret_changes(kubectl)
        _scale(kubectl)
        _moved(kubectl)
        _document(kubectl, lab)
    return found


@contextmanager
def operator(lab: Lab) -> Iterator[None]:
    """As a process of this machine, with the chart's service account: its Role is what it may do."""
    objects = render(lab, "operator.enabled=true", "image.repository=localhost/heliograph")
    lab.kubectl("apply", "-f", "-", given=objects)
    lab.kubectl("scale", f"deployment/{_ACCOUNT}", "--replicas=0")
    config = json.loads(lab.kubectl.kubeconfig.read_text())
    token = lab.kubectl("create", "token", _ACCOUNT, "--duration=2h").strip()
    config["users"] = [{"name": "admin", "user": {"token": token}}]
    file = lab.folder / "operator.kubeconfig"
    file.write_text(json.dumps(config))
    command = ["env", f"KUBECONFIG={file}", sys.executable, "-m", "heliograph", "operator"]
    command += ["--image", TAG, "--namespaces", "default"]
    process = ChildProcess(command, output=lab.folder / "operator.log", scratch=None)
    try:
        yield
        text = (lab.folder / "operator.log").read_text()
        if "403" in text or "Traceback" in text:
            raise LabError(f"operator: its log has an error:\n{text[-3000:]}")
    except LabError as e:
        text = (lab.folder / "operator.log").read_text()
        raise LabError(f"{e}\nthe operator logged:\n{text[-3000:]}") from e
    finally:
        stop(process)


def _served(kubectl: Kubectl) -> str:
    return kubectl("api-resources", "--api-group=kafka.strimzi.io")


def resource(lab: Lab, name: str, **changed: Any) -> dict[str, Any]:
    """Of the API's current version."""
    target = {
        "alias": f"{name}-target",
        "bootstrapServers": lab.target.bootstrap_servers,
        "groupId": f"{name}-group",
        **{f"{kind}StorageTopic": f"{name}-{kind}" for kind in ("config", "offset", "status")},
        "config": {
            f"{kind}.storage.replication.factor": 1 for kind in ("config", "offset", "status")
        },
    }
    source = {"alias": f"{name}-source", "bootstrapServers": lab.source.bootstrap_servers}
    factors = {"replication.factor": 1, "offset-syncs.topic.replication.factor": 1}
    mirror = {
        "source": source,
        "topicsPattern": _TOPIC,
        "groupsPattern": ".*",
        "sourceConnector": {
            "tasksMax": 2,
            "config": {
                **factors,
                "sync.topic.acls.enabled": "false",
                "config.properties.exclude": f"${{strimzisecrets:default/{_SECRET}:excluded}}",
            },
            "autoRestart": {"enabled": True},
            "listOffsets": {"toConfigMap": {"name": f"{name}-offsets"}},
        },
        "checkpointConnector": {"config": {"checkpoints.topic.replication.factor": 1}},
    }
    spec = {"replicas": 2, "resources": _SMALL, "target": target, "mirrors": [mirror], **changed}
    return {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaMirrorMaker2",
        "metadata": {"name": name, "namespace": "default", "labels": {LABEL: "heliograph"}},
        "spec": spec,
    }


def condition(kubectl: Kubectl, name: str) -> Mapping[str, str]:
    status = kubectl.get(f"{KIND}/{name}").get("status") or {}
    return next(iter(status.get("conditions") or [{}]))


def _wait_for_condition(kubectl: Kubectl, name: str, type: str, words: str = "") -> None:
    def holds() -> bool:
        found = condition(kubectl, name)
        return found.get("type") == type and words in found.get("message", "")

    try:
        wait_for(f"{name} {type} {words}", holds)
    except LabError as e:
        raise LabError(f"{e}; its condition is {dict(condition(kubectl, name))}") from e
    print(f"{name}: {type} {condition(kubectl, name).get('message', '')}".rstrip(), flush=True)


def _refused(kubectl: Kubectl) -> None:
    wrong: dict[str, Any] = {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaMirrorMaker2",
        "metadata": {"name": "wrong", "labels": {LABEL: "heliograph"}},
        "spec": {"target": {"alias": "b", "bootstrapServers": "b:9092"}, "mirrors": []},
    }
    kubectl.apply(wrong)
    _wait_for_condition(kubectl, "wrong", "NotReady", "spec.mirrors")
    kubectl("delete", f"{KIND}/wrong")


def _missing_secret(kubectl: Kubectl, lab: Lab) -> None:
    found = resource(lab, "keyless")
    found["spec"]["target"]["tls"] = {
        "trustedCertificates": [{"secretName": "nowhere", "certificate": "ca.crt"}]
    }
    kubectl.apply(found)
    _wait_for_condition(kubectl, "keyless", "NotReady", "Secret nowhere: not found")
    kubectl("delete", f"{KIND}/keyless")


def _ready(kubectl: Kubectl, lab: Lab) -> dict[str, object]:
    """A v1 resource mirrors under load, and has the status that Strimzi's users read."""
    load = NumberedLoad(lab.source.bootstrap_servers, _TOPIC, _PARTITIONS, _RATE)
    load.start()
    kubectl.apply(_secret("min\\.insync\\.replicas"), resource(lab, "mm2"))
    _wait_for_condition(kubectl, "mm2", "Ready")
    status = kubectl.get(f"{KIND}/mm2")["status"]
    names = [each["name"] for each in status["connectors"]]
    states = {each["connector"]["state"] for each in status["connectors"]}
    expected = [
        f"mm2-source->mm2-target.Mirror{kind}Connector" for kind in ("Checkpoint", "Source")
    ]
    if names != expected or states != {"RUNNING"}:
        raise LabError(f"status.connectors: expected {expected} RUNNING, found {names} {states}")
    written = load.stop()
    found = count(lab.there, lab.target.bootstrap_servers, f"mm2-source.{_TOPIC}", written)
    if not found.exact:
        raise LabError(f"operator: {found.lost} records lost, {found.doubled} doubled")
    return {"written": found.written, "lost": found.lost, "doubled": found.doubled}


def _secret(names: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": _SECRET, "namespace": "default"},
        "stringData": {"excluded": names},
    }


def _secret_changes(kubectl: Kubectl) -> None:
    """Another content of a Secret that pods mount replaces them."""
    before = {each.name for each in kubectl.pods(_PODS)}
    kubectl.apply(_secret("unclean\\..*"))
    wait_for(
        "pods with the new secret",
        lambda: (
            not before & {each.name for each in kubectl.settled(_PODS, 2) or kubectl.pods(_PODS)}
        ),
    )
    _wait_for_condition(kubectl, "mm2", "Ready")
    print("secret: pods replaced", flush=True)


def _restart_and_offsets(kubectl: Kubectl) -> None:
    name = "mm2-source->mm2-target.MirrorSourceConnector"
    kubectl("annotate", f"{KIND}/mm2", f"strimzi.io/restart-connector={name}")
    wait_for("the restart is asked for", lambda: not _annotations(kubectl))
    kubectl(
        *("annotate", f"{KIND}/mm2", "strimzi.io/connector-offsets=list"),
        f"strimzi.io/mirrormaker-connector={name}",
    )
    wait_for("offsets are listed", lambda: _listed(kubectl))
    print("offsets: listed", flush=True)


def _annotations(kubectl: Kubectl) -> list[str]:
    found = kubectl.get(f"{KIND}/mm2")["metadata"].get("annotations") or {}
    return [each for each in found if each.startswith("strimzi.io/")]


def _listed(kubectl: Kubectl) -> bool:
    maps = kubectl.get("configmaps")["items"]
    data = next((m.get("data") or {} for m in maps if m["metadata"]["name"] == "mm2-offsets"), {})
    text = data.get("mm2-source--mm2-target.MirrorSourceConnector.json", "{}")
    return bool(json.loads(text).get("offsets"))


def _scale(kubectl: Kubectl) -> None:
    """The scale subresource, as kubectl and autoscalers use it."""
    kubectl("scale", f"{KIND}/mm2", "--replicas=1")
    wait_for("one replica", lambda: kubectl.get(f"{KIND}/mm2")["status"]["replicas"] == 1)
    _wait_for_condition(kubectl, "mm2", "Ready")


def _moved(kubectl: Kubectl) -> None:
    """Another label: the resource is another operator's, and nothing of ours runs for it. And back."""
    kubectl("label", f"{KIND}/mm2", f"{LABEL}=strimzi", "--overwrite")
    wait_for("its pods have ended", lambda: not kubectl.pods(_PODS))
    kubectl("label", f"{KIND}/mm2", f"{LABEL}=heliograph", "--overwrite")
    wait_for("its pods run again", lambda: kubectl.settled(_PODS, 1))
    _wait_for_condition(kubectl, "mm2", "Ready")
    kubectl("delete", f"{KIND}/mm2")
    wait_for("its pods have ended", lambda: not kubectl.pods(_PODS))


def _document(kubectl: Kubectl, lab: Lab) -> None:
    """The guide's kafka-to-es-mm2.yml, repaired, in a version that is served, with this lab's brokers."""
    found = yaml.safe_load(_DOCUMENT.read_text())
    found["apiVersion"] = "kafka.strimzi.io/v1beta2"
    found["metadata"] |= {"namespace": "default", "labels": {LABEL: "heliograph"}}
    spec = found["spec"]
    source, target = spec["clusters"]
    for cluster, brokers in ((source, lab.source), (target, lab.target)):
        cluster["bootstrapServers"] = brokers.bootstrap_servers
        cluster.pop("tls", None)
        cluster.pop("authentication", None)
    spec["resources"] = _SMALL
    kubectl.apply(found)
    _wait_for_condition(kubectl, found["metadata"]["name"], "Ready")
