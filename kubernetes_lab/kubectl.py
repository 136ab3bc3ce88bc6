"""kubectl and helm against the lab's cluster, and the questions that the scenarios ask."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from containers.errors import LabError
from containers.shell import run

_TICK_SECONDS = 0.3
_PATIENCE_SECONDS = 300.0
METRICS_PORT = 9404


Found = TypeVar("Found")


def wait_for(
    what: str, ask: Callable[[], Found | None], seconds: float = _PATIENCE_SECONDS
) -> Found:
    """The first answer that is not None or False. Raises LabError."""
    deadline = time.monotonic() + seconds
    while True:
        found = ask()
        if found:
            return found
        if time.monotonic() > deadline:
            raise LabError(f"{what}: not after {seconds:.0f} s")
        time.sleep(_TICK_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    name: str
    node: str
    address: str
    ready: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class Kubectl:
    programs: Path
    kubeconfig: Path

    def __call__(self, *arguments: str, given: str | None = None) -> str:
        """Raises LabError."""
        return run(
            [self.programs / "kubectl", "--kubeconfig", self.kubeconfig, *arguments], given=given
        )

    def get(self, *arguments: str) -> dict[str, Any]:
        return dict(json.loads(self("get", *arguments, "-o", "json")))

    def refusal(self, *arguments: str, given: str | None = None) -> str:
        """What the API server says against it. Raises LabError if it accepts it."""
        try:
            self(*arguments, given=given)
        except LabError as e:
            return str(e)
        raise LabError(f"kubectl {' '.join(arguments)}: accepted, expected a refusal")

    def apply(self, *objects: dict[str, Any]) -> None:
        self(
            "apply",
            "-f",
            "-",
            given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}),
        )

    def helm(self, *arguments: str | Path) -> str:
        return run([self.programs / "helm", "--kubeconfig", self.kubeconfig, *arguments])

    def pods(self, selector: str) -> list[Pod]:
        return [_pod(each) for each in self.get("pods", "-l", selector)["items"]]

    def settled(self, selector: str, count: int) -> list[Pod] | None:
        """The pods, if there are exactly so many and all are ready."""
        found = self.pods(selector)
        good = len(found) == count and all(each.ready and not each.ends for each in found)
        return found if good else None

    def running(self, selector: str, count: int, without: str = "") -> bool:
        """Whether at least so many pods have started, by their containers: executors have no probes."""
        return sum(each.ready and each.name != without for each in self.pods(selector)) >= count

    def leader(self, selector: str) -> Pod | None:
        """The pod that runs the flows, by its own /health."""
        alive = (each for each in self.pods(selector) if each.ready and not each.ends)
        return next((each for each in alive if "running" in roles(each)), None)


def roles(pod: Pod) -> Sequence[str]:
    """Its places in the groups of workers, such as running or standby; none while it does not answer."""
    try:
        with urllib.request.urlopen(
            f"http://{pod.address}:{METRICS_PORT}/health", timeout=5
        ) as answer:
            return list(json.load(answer)["groups"].values())
    except (OSError, urllib.error.HTTPError):
        return []


def _pod(found: dict[str, Any]) -> Pod:
    conditions = {c["type"]: c["status"] for c in found["status"].get("conditions", ())}
    return Pod(
        name=found["metadata"]["name"],
        node=found["spec"].get("nodeName", ""),
        address=found["status"].get("podIP", ""),
        ready=conditions.get("Ready") == "True",
        ends="deletionTimestamp" in found["metadata"],
    )
