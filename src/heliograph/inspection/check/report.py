"""What `heliograph check` found, as values; `-o json` prints them as they are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from heliograph.client.security.certificates import Certificate


class Outcome(StrEnum):
    """`WARNING`: the mirror runs all the same. `UNKNOWN`: cannot be told without a change."""

    OK = "ok"
    WARNING = "warning"
    UNKNOWN = "unknown"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`detail` is what was found, `remedy` what to do about it."""

    name: str
    outcome: Outcome
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginCheck:
    """The way to one cluster, as the `clients` that share a login. `certificate`: the broker's."""

    cluster: str
    clients: tuple[str, ...]
    bootstrap_servers: tuple[str, ...]
    login: str
    steps: tuple[Step, ...]
    certificate: Certificate | None = None

    @property
    def well(self) -> bool:
        return not any(step.outcome is Outcome.FAILED for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class RightCheck:
    """The right to do `operations` on some `resource` of a cluster, as one kind of client."""

    cluster: str
    client: str
    resource: str
    names: tuple[str, ...]
    operations: tuple[str, ...]
    purpose: str
    outcome: Outcome
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCheck:
    """The rights of a flow, of heartbeats or of a worker. `unknown`: why they could not be read."""

    name: str
    rights: tuple[RightCheck, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorCheck:
    """`changed`: what a check with --write has created, written and removed."""

    logins: tuple[LoginCheck, ...]
    flows: tuple[FlowCheck, ...]
    warnings: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def failures(self) -> int:
        steps = [step.outcome for login in self.logins for step in login.steps]
        rights = [right.outcome for flow in self.flows for right in flow.rights]
        return (steps + rights).count(Outcome.FAILED)
