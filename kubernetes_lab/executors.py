"""Spark on Kubernetes: a mirror whose tasks run in executor pods, one of which is deleted under load."""

from __future__ import annotations

import json
import time

from confluent_kafka.admin import NewTopic

from containers.counting import NumberedLoad, count
from containers.errors import LabError
from harness.cluster_side import LogEnds
from harness.mirrors import mirror_properties
from heliograph.embedded.properties import render_properties
from kubernetes_lab.kubectl import Kubectl, wait_for
from kubernetes_lab.lab import Lab
from kubernetes_lab.manifests import CHART

RELEASE, TOPIC = "executors", "executor-orders"
_DRIVERS = f"app.kubernetes.io/name=heliograph,app.kubernetes.io/instance={RELEASE}"
_EXECUTORS = "spark-role=executor"
_PARTITIONS, _RATE, _WANTED = 4, 500.0, 2
_CALM_SECONDS = 5


def check(lab: Lab) -> dict[str, object]:
    lab.here.create_topics([NewTopic(TOPIC, _PARTITIONS, 1)])
    file = lab.folder / "executors.json"
    file.write_text(json.dumps(_values(lab)))
    kubectl = lab.kubectl
    kubectl.helm("install", RELEASE, CHART, "-f", file)
    wait_for("the driver is ready", lambda: kubectl.settled(_DRIVERS, 1))
    wait_for("executors run", lambda: kubectl.running(_EXECUTORS, _WANTED))
    load = NumberedLoad(lab.source.bootstrap_servers, TOPIC, _PARTITIONS, _RATE)
    load.start()
    ends = LogEnds(lab.there, f"source.{TOPIC}")
    wait_for("records arrive", ends.total)
    time.sleep(_CALM_SECONDS)
    _delete_one(kubectl)
    before = ends.total()
    wait_for("records arrive again", lambda: ends.total() > before + _RATE * _CALM_SECONDS)
    found = count(lab.there, lab.target.bootstrap_servers, f"source.{TOPIC}", load.stop())
    kubectl.helm("uninstall", RELEASE, "--wait")
    wait_for("executors have ended", lambda: not kubectl.pods(_EXECUTORS))
    if not found.exact:
        raise LabError(f"executors: {found.lost} records lost, {found.doubled} doubled")
    return {"written": found.written, "lost": found.lost, "doubled": found.doubled}


def _delete_one(kubectl: Kubectl) -> None:
    gone = kubectl.pods(_EXECUTORS)[0].name
    kubectl("delete", "pod", gone, "--grace-period=0", "--force")
    wait_for(
        "a new executor runs",
        lambda: kubectl.running(_EXECUTORS, _WANTED, without=gone),
    )


def _values(lab: Lab) -> dict[str, object]:
    addresses = ("source", lab.source.bootstrap_servers), ("target", lab.target.bootstrap_servers)
    properties = mirror_properties(*addresses, TOPIC, replicas=1)
    small = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
    spark = {
        "enabled": True,
        "master": f"k8s://{lab.url}",
        "executors": _WANTED,
        "conf": {"spark.kubernetes.executor.request.cores": "100m"},
    }
    return {
        "image": {"repository": "localhost/heliograph", "tag": "local", "pullPolicy": "Never"},
        "replicas": 1,
        "config": {"files": {"mm2.properties": render_properties(properties)}},
        "resources": small,
        "spark": {"kubernetes": spark},
    }
