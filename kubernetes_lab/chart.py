"""The chart under load: installed, its leading pod deleted and killed, a node drained, upgraded, removed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from confluent_kafka.admin import NewTopic

from containers.counting import NumberedLoad, count
from containers.errors import LabError
from harness.cluster_side import LogEnds
from harness.mirrors import mirror_properties
from heliograph.embedded.properties import render_properties
from kubernetes_lab.kubectl import Kubectl, Pod, wait_for
from kubernetes_lab.lab import UPGRADED, Lab
from kubernetes_lab.manifests import CHART

RELEASE, TOPIC = "mirror", "chart-orders"
SELECTOR = f"app.kubernetes.io/instance={RELEASE}"
_PARTITIONS, _RATE, _REPLICAS = 4, 1000.0, 2
#: Between two disturbances, so that the pause of each can be told from the next.
_CALM_SECONDS = 6
_LOOK_SECONDS = 0.2


class PauseWatch:
    """The longest time without a new record on the target, since the last `reset`."""

    def __init__(self, ends: LogEnds) -> None:
        self._ends = ends
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="pauses", daemon=True)
        self.longest = 0.0
        self._last = time.monotonic()

    def reset(self) -> None:
        self.longest, self._last = 0.0, time.monotonic()

    @contextmanager
    def running(self) -> Iterator[PauseWatch]:
        self._thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            self._thread.join()

    def _watch(self) -> None:
        before = -1
        while not self._stop.wait(_LOOK_SECONDS):
            now, total = time.monotonic(), self._ends.total()
            self.longest = max(self.longest, now - self._last)
            if total != before:
                before, self._last = total, now


def check(lab: Lab) -> dict[str, object]:
    lab.here.create_topics([NewTopic(TOPIC, _PARTITIONS, 1)])
    _install(lab)
    kubectl = lab.kubectl
    leader = wait_for("a pod leads", lambda: kubectl.leader(SELECTOR))
    load = NumberedLoad(lab.source.bootstrap_servers, TOPIC, _PARTITIONS, _RATE)
    load.start()
    ends = LogEnds(lab.there, f"source.{TOPIC}")
    wait_for("records arrive", ends.total)
    disturbances: dict[str, Callable[[], None]] = {
        "delete_leader": partial(_delete, kubectl, leader),
        "kill_leader": partial(_kill, kubectl),
        "drain_node": partial(_drain, kubectl),
        "upgrade": partial(_upgrade, lab),
    }
    pauses: dict[str, object] = {}
    with PauseWatch(ends).running() as watch:
        for name, disturb in disturbances.items():
            time.sleep(_CALM_SECONDS)
            watch.reset()
            disturb()
            _wait_until_whole(kubectl)
            time.sleep(_CALM_SECONDS)
            pauses[f"{name}_pause_s"] = round(watch.longest, 1)
            print(f"{name}: longest pause {watch.longest:.1f} s", flush=True)
    found = count(lab.there, lab.target.bootstrap_servers, f"source.{TOPIC}", load.stop())
    _uninstall(kubectl)
    if not found.exact:
        raise LabError(f"chart: {found.lost} records lost, {found.doubled} doubled; {pauses}")
    return {"written": found.written, "lost": found.lost, "doubled": found.doubled, **pauses}


def _values(lab: Lab) -> dict[str, object]:
    addresses = ("source", lab.source.bootstrap_servers), ("target", lab.target.bootstrap_servers)
    properties = mirror_properties(*addresses, TOPIC, replicas=1)
    return {
        "image": {"repository": "localhost/heliograph", "tag": "local", "pullPolicy": "Never"},
        "replicas": _REPLICAS,
        "config": {"files": {"mm2.properties": render_properties(properties)}},
        # The lab's machine is small: what is asked for is what must be free.
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
    }


def _install(lab: Lab) -> None:
    file = lab.folder / "values.json"
    file.write_text(json.dumps(_values(lab)))
    lab.kubectl.helm("install", RELEASE, CHART, "-f", file)
    _wait_until_whole(lab.kubectl)


def _wait_until_whole(kubectl: Kubectl) -> None:
    """All pods are ready, and one of them leads."""
    wait_for("pods ready", lambda: kubectl.settled(SELECTOR, _REPLICAS))
    wait_for("a pod leads", lambda: kubectl.leader(SELECTOR))


def _delete(kubectl: Kubectl, pod: Pod) -> None:
    kubectl("delete", "pod", pod.name)


def _kill(kubectl: Kubectl) -> None:
    """Without a grace period: SIGKILL, as when a machine fails."""
    leader = wait_for("a pod leads", lambda: kubectl.leader(SELECTOR))
    kubectl("delete", "pod", leader.name, "--grace-period=0", "--force")
    wait_for("the killed pod is gone", lambda: leader.name not in _names(kubectl))


def _names(kubectl: Kubectl) -> list[str]:
    return [each.name for each in kubectl.pods(SELECTOR)]


def _nodes(kubectl: Kubectl) -> list[str]:
    return [each.node for each in kubectl.pods(SELECTOR)]


def _drain(kubectl: Kubectl) -> None:
    leader = wait_for("a pod leads", lambda: kubectl.leader(SELECTOR))
    kubectl("drain", leader.node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=180s")
    wait_for("pods have left the node", lambda: leader.node not in _nodes(kubectl))
    _wait_until_whole(kubectl)
    kubectl("uncordon", leader.node)


def _upgrade(lab: Lab) -> None:
    before = set(_names(lab.kubectl))
    tag = UPGRADED.rpartition(":")[2]
    lab.kubectl.helm("upgrade", RELEASE, CHART, "--reuse-values", "--set", f"image.tag={tag}")
    wait_for("no old pod is left", lambda: not before & set(_names(lab.kubectl)))


def _uninstall(kubectl: Kubectl) -> None:
    kubectl.helm("uninstall", RELEASE, "--wait")
    wait_for("all pods have ended", lambda: not kubectl.pods(SELECTOR))
    kinds = "deployments,services,configmaps,secrets,serviceaccounts,networkpolicies,poddisruptionbudgets"
    left = kubectl.get(kinds, "-l", SELECTOR)["items"]
    if left:
        names = ", ".join(f"{each['kind']} {each['metadata']['name']}" for each in left)
        raise LabError(f"helm uninstall: left behind: {names}")
