"""The status of a KafkaMirrorMaker2, as Strimzi's users read it: conditions, connectors, scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from heliograph.operator.connectors import Restart, failed
from heliograph.operator.objects import REST_PORT, selector
from heliograph.operator.resource import Mirror

READY, NOT_READY, WARNING = "Ready", "NotReady", "Warning"
INVALID = "InvalidResourceException"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """`connectors`: the answer of GET /connectors?expand=info&expand=status; None: no worker answers.
    `problem`: what failed in this round."""

    replicas: int = 0
    ready: int = 0
    up_to_date: bool = False
    connectors: Mapping[str, Any] | None = None
    restarts: Mapping[str, Restart] = field(default_factory=dict)
    problem: str | None = None


def status_of(mirror: Mirror, observed: Observed, now: str) -> dict[str, Any]:
    """`now` is the time of the conditions, if they are new."""
    url = f"http://{mirror.full_name}-api.{mirror.namespace}.svc:{REST_PORT}"
    labels = ",".join(f"{name}={value}" for name, value in sorted(selector(mirror).items()))
    connectors = observed.connectors or {}
    found: dict[str, Any] = {
        "observedGeneration": mirror.generation,
        "conditions": _conditions(mirror, observed, now),
        "replicas": observed.replicas,
        "labelSelector": labels,
        "url": url,
        "connectors": [connectors[name]["status"] for name in sorted(connectors)],
    }
    if observed.restarts:
        found["autoRestartStatuses"] = [
            {"connectorName": name, "count": each.count, "lastRestartTimestamp": _minute(each.at)}
            for name, each in sorted(observed.restarts.items())
        ]
    return found


def refused_status(
    resource: Mapping[str, Any], problems: Sequence[str], now: str
) -> dict[str, Any]:
    """Of a resource that cannot be run: what runs already goes on as it is."""
    condition = _condition(NOT_READY, now, INVALID, "; ".join(problems))
    return {
        "observedGeneration": resource["metadata"].get("generation", 0),
        "conditions": [condition],
    }


def with_times_kept(status: dict[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Conditions that have not changed keep their time, so that an unchanged status is equal to the last."""
    old = {_key(each): each for each in (before or {}).get("conditions", ())}
    kept = [old.get(_key(each), each) for each in status["conditions"]]
    return {**status, "conditions": kept}


def _conditions(mirror: Mirror, observed: Observed, now: str) -> list[dict[str, str]]:
    warnings = [_condition(WARNING, now, "UnsupportedOrIgnored", text) for text in mirror.warnings]
    waits = _waits_for(mirror, observed)
    if waits is None:
        return [_condition(READY, now), *warnings]
    reason, message = waits
    return [_condition(NOT_READY, now, reason, message), *warnings]


def _waits_for(mirror: Mirror, observed: Observed) -> tuple[str, str] | None:
    """Why the mirror is not ready: reason and message. One that is scaled to zero is ready: nothing is to
    run."""
    if observed.problem is not None:
        return "ReconciliationFailed", observed.problem
    if mirror.replicas == 0:
        return None
    if not observed.up_to_date or observed.ready < mirror.replicas:
        return "Creating", f"{observed.ready} of {mirror.replicas} pods are ready"
    if observed.connectors is None:
        return "Creating", "no worker answers yet"
    missing = {each.name for each in mirror.connectors} - observed.connectors.keys()
    if missing:
        return "Creating", f"connectors are being created: {', '.join(sorted(missing))}"
    if broken := failed(observed.connectors):
        return "Throwable", (
            f"The following connectors have failed or have failed tasks: {', '.join(broken)}"
        )
    return None


def _condition(type: str, now: str, reason: str = "", message: str = "") -> dict[str, str]:
    found = {"type": type, "status": "True", "lastTransitionTime": now}
    if reason:
        found |= {"reason": reason, "message": message}
    return found


def _key(condition: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(condition.get(name) for name in ("type", "status", "reason", "message"))


def _minute(at: int) -> str:
    """`at` is in minutes since the epoch."""
    return datetime.fromtimestamp(at * 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
