"""Carries out what the pure half decides for one resource: objects, connectors, annotations, status."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from heliograph.errors import ConfigError, HeliographError
from heliograph.operator.annotations import (
    ALTER,
    CONNECTOR,
    LIST,
    OFFSETS,
    OffsetsRequest,
    offsets_request,
    restarts,
    without,
)
from heliograph.operator.api import KubernetesApi, path_of
from heliograph.operator.connectors import Restart, auto_restarts, calls
from heliograph.operator.objects import FIELD_MANAGER, selector, wanted_objects
from heliograph.operator.resource import GROUP, PLURAL, Mirror, Object, read_mirror
from heliograph.operator.resource import auto_restarts as wants_restarts
from heliograph.operator.rest import WorkerRest
from heliograph.operator.status import Observed, refused_status, status_of, with_times_kept

log = logging.getLogger(__name__)


class Reconciler:
    """`now`: seconds since the epoch; `time`: the same as the API server writes it."""

    def __init__(
        self,
        api: KubernetesApi,
        image: str,
        now: Callable[[], float],
        time: Callable[[], str],
        rest: Callable[[str], WorkerRest] = WorkerRest,
    ) -> None:
        self._api, self._image = api, image
        self._now, self._time, self._rest = now, time, rest
        self._restarts: dict[str, dict[str, Restart]] = {}
        self._generations: dict[str, int] = {}
        self._logged: dict[str, str] = {}

    def reconcile(self, resource: Object) -> dict[str, Any]:
        """The new status, which has been written. Raises HeliographError if the API server does not take
        it."""
        try:
            mirror = read_mirror(resource)
        except ConfigError as e:
            self._log(resource, "; ".join(e.problems))
            status = refused_status(resource, e.problems, self._time())
        else:
            status = status_of(mirror, self._observed(mirror), self._time())
        before = resource.get("status")
        status = with_times_kept(status, before)
        if status != before:
            self._api.patch(
                f"{path_of_resource(resource)}/status", {"status": _replaced(status, before)}
            )
        return status

    def release(self, resource: Object) -> bool:
        """Ends what runs for a resource that is another operator's now. Whether there was something.

        The pods end in order, and what they have stored stays in Kafka: Strimzi's go on from there."""
        metadata = resource["metadata"]
        name, namespace = f"{metadata['name']}-mirrormaker2", metadata["namespace"]
        path = path_of("apps/v1", "Deployment", namespace, name)
        found = self._api.get(path)
        if found is None or not is_ours(found):
            return False
        for version, kind, its_name in (
            ("apps/v1", "Deployment", name),
            ("policy/v1", "PodDisruptionBudget", name),
            ("networking.k8s.io/v1", "NetworkPolicy", name),
            ("v1", "Service", f"{name}-api"),
            ("v1", "ConfigMap", name),
        ):
            self._api.delete(path_of(version, kind, namespace, its_name))
        log.info("%s/%s: released to another operator; its pods end", namespace, metadata["name"])
        return True

    def _observed(self, mirror: Mirror) -> Observed:
        observed = Observed()
        try:
            for wanted in wanted_objects(mirror, self._image, self._secrets_digest(mirror)):
                self._api.apply(wanted)
            observed = self._deployment(mirror)
            rest = self._worker(mirror)
            if rest is not None:
                observed = self._with_connectors(mirror, rest, observed)
        except ConfigError as e:
            observed = replace(observed, problem="; ".join(e.problems))
        except HeliographError as e:
            observed = replace(observed, problem=str(e))
        if observed.problem is not None:
            self._log(
                {"metadata": {"namespace": mirror.namespace, "name": mirror.name}}, observed.problem
            )
        return observed

    def _deployment(self, mirror: Mirror) -> Observed:
        found = self._api.get(path_of("apps/v1", "Deployment", mirror.namespace, mirror.full_name))
        status = (found or {}).get("status", {})
        seen = status.get("observedGeneration", 0) >= (found or {})["metadata"]["generation"]
        updated = status.get("updatedReplicas", 0) == status.get("replicas", 0)
        return Observed(
            replicas=status.get("replicas", 0),
            ready=status.get("readyReplicas", 0),
            up_to_date=seen and updated,
        )

    def _worker(self, mirror: Mirror) -> WorkerRest | None:
        labels = ",".join(f"{name}%3D{value}" for name, value in selector(mirror).items())
        found = self._api.get(
            f"/api/v1/namespaces/{mirror.namespace}/pods?labelSelector={labels.replace('/', '%2F')}"
        )
        for pod in (found or {}).get("items", ()):
            conditions = {c["type"]: c["status"] for c in pod["status"].get("conditions", ())}
            if conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]:
                return self._rest(pod["status"]["podIP"])
        return None

    def _with_connectors(self, mirror: Mirror, rest: WorkerRest, observed: Observed) -> Observed:
        found = rest.connectors()
        changed = self._generations.get(mirror.uid) != mirror.generation
        for call in calls(mirror.connectors, found, changed=changed):
            log.info("%s/%s: %s", mirror.namespace, mirror.name, call)
            rest.send(call)
        self._generations[mirror.uid] = mirror.generation
        self._carry_out_annotations(mirror, rest)
        minute = int(self._now() // 60)
        before = self._restarts.get(mirror.uid, {})
        made, after = auto_restarts(found, wants_restarts(mirror), before, minute)
        for call in made:
            log.warning("%s/%s: automatic restart: %s", mirror.namespace, mirror.name, call)
            rest.send(call)
        self._restarts[mirror.uid] = after
        return replace(observed, connectors=rest.connectors(), restarts=after)

    def _carry_out_annotations(self, mirror: Mirror, rest: WorkerRest) -> None:
        """Once each: the annotation is removed after the call, whatever its result was, which `status`
        shows."""
        path = f"/apis/{mirror.api_version}/namespaces/{mirror.namespace}/{PLURAL}/{mirror.name}"
        for annotation, call in restarts(mirror.annotations).items():
            self._api.patch(path, without(mirror, annotation))
            rest.send(call)
        if OFFSETS in mirror.annotations:
            self._api.patch(path, without(mirror, OFFSETS, CONNECTOR))
            request = offsets_request(mirror)
            assert request is not None
            self._offsets(mirror, rest, request)

    def _offsets(self, mirror: Mirror, rest: WorkerRest, request: OffsetsRequest) -> None:
        text = None
        if request.action == ALTER:
            place = path_of("v1", "ConfigMap", mirror.namespace, request.config_map)
            text = ((self._api.get(place) or {}).get("data") or {}).get(request.key)
        answer = rest.send(request.call(text))
        if request.action == LIST:
            self._api.apply(_offsets_map(mirror, request, json.dumps(answer, indent=2)))

    def _secrets_digest(self, mirror: Mirror) -> str:
        """Of the content of all Secrets and ConfigMaps that pods mount. Raises ConfigError if one is missing:
        pods would wait for it without a word."""
        content, missing = [], []
        for kind, names in (("Secret", mirror.secrets), ("ConfigMap", mirror.config_maps)):
            for name in names:
                found = self._api.get(path_of("v1", kind, mirror.namespace, name))
                if found is None:
                    missing.append(
                        f"{kind} {name}: not found in namespace {mirror.namespace}; create it"
                    )
                else:
                    content.append(found.get("data"))
        if missing:
            raise ConfigError(missing)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def _log(self, resource: Mapping[str, Any], problem: str) -> None:
        """Once for each problem, not in every round."""
        name = f"{resource['metadata']['namespace']}/{resource['metadata']['name']}"
        if self._logged.get(name) != problem:
            self._logged[name] = problem
            log.error("%s: %s", name, problem)


def path_of_resource(resource: Object) -> str:
    metadata = resource["metadata"]
    version = resource["apiVersion"].removeprefix(f"{GROUP}/")
    return f"/apis/{GROUP}/{version}/namespaces/{metadata['namespace']}/{PLURAL}/{metadata['name']}"


def is_ours(found: Object) -> bool:
    labels = found["metadata"].get("labels") or {}
    return bool(labels.get("app.kubernetes.io/managed-by") == FIELD_MANAGER)


def _replaced(status: dict[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """A merge patch keeps what it does not name."""
    return {**dict.fromkeys(before or ()), **status}


def _offsets_map(mirror: Mirror, request: OffsetsRequest, text: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": request.config_map, "namespace": mirror.namespace},
        "data": {request.key: text},
    }
