"""What has to be asked of the workers' REST API so that their connectors are those of the resource.

wanted (resource)   found (GET /connectors?expand=info&expand=status)    ► calls
─────────────────   ─────────────────────────────────────────────────    ───────────────────────────────
RUNNING             missing, or with another configuration               PUT …/config
PAUSED              runs                                                 PUT …/pause
STOPPED             runs or is paused                                    PUT …/stop
RUNNING             paused or stopped                                    PUT …/resume
–                   there                                                DELETE
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from heliograph.config.formats.connect_json import PAUSED, RUNNING, STOPPED, NamedConnector
from heliograph.config.security.secrets import hidden

FAILED = "FAILED"
_TRANSIENT = ("UNASSIGNED", "RESTARTING")
_CHANGES = {PAUSED: "pause", STOPPED: "stop", RUNNING: "resume"}


@dataclass(frozen=True, slots=True)
class RestCall:
    method: str
    path: str
    body: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """`at`: the minute of the last one, since the epoch."""

    count: int = 0
    at: int = 0


def path_of(name: str, rest: str = "") -> str:
    return f"/connectors/{quote(name, safe='')}{rest}"


def calls(
    wanted: Iterable[NamedConnector], found: Mapping[str, Any], *, changed: bool = False
) -> list[RestCall]:
    """`found` is the answer of GET /connectors?expand=info&expand=status. `changed`: the resource is another
    one than at the last call. Workers hide passwords, so that nothing else would tell of a new one."""
    named = {each.name: each for each in wanted}
    made = [RestCall("DELETE", path_of(name)) for name in found if name not in named]
    for name, each in named.items():
        made += _calls_for(each, found.get(name), changed)
    return made


def _calls_for(
    wanted: NamedConnector, found: Mapping[str, Any] | None, changed: bool
) -> Iterator[RestCall]:
    config = {**wanted.config, "name": wanted.name}
    if found is None and wanted.state == RUNNING:
        # Not POST: a worker that has not read the newest configurations may not show the connector yet.
        yield RestCall("PUT", path_of(wanted.name, "/config"), config)
        return
    if found is None:
        body = {"name": wanted.name, "config": config, "initial_state": wanted.state}
        yield RestCall("POST", "/connectors", body)
        return
    shown = hidden(config)
    if hidden(found["info"]["config"]) != shown or (changed and shown != config):
        yield RestCall("PUT", path_of(wanted.name, "/config"), config)
    state = found["status"]["connector"]["state"]
    # One that has failed, restarts, or is not assigned yet, is to run as far as its target state goes.
    now = RUNNING if state in (FAILED, *_TRANSIENT) else state
    if now != wanted.state:
        yield RestCall("PUT", path_of(wanted.name, f"/{_CHANGES[wanted.state]}"))


def failed(found: Mapping[str, Any]) -> list[str]:
    """Names of the connectors that have failed themselves or have a failed task."""
    return [
        name
        for name, each in found.items()
        if any(state == FAILED for state in _states(each["status"]))
    ]


def _states(status: Mapping[str, Any]) -> Iterator[str]:
    yield status["connector"]["state"]
    for task in status["tasks"]:
        yield task["state"]


def restart_call(name: str) -> RestCall:
    return RestCall("POST", path_of(name, "/restart?includeTasks=true&onlyFailed=true"))


def due(restart: Restart, now: int, most: int | None) -> bool:
    """As Strimzi: the n-th automatic restart waits n·n + n minutes after the one before, an hour at most;
    the first is at once."""
    if most is not None and restart.count >= most:
        return False
    wait = min(restart.count**2 + restart.count, 60)
    return now >= restart.at + wait


def auto_restarts(
    found: Mapping[str, Any],
    enabled: Mapping[str, int | None],
    before: Mapping[str, Restart],
    now: int,
) -> tuple[list[RestCall], dict[str, Restart]]:
    """The restarts to ask for, and the counts afterwards. A connector that runs loses its count."""
    made, after = [], dict[str, Restart]()
    broken = failed(found)
    for name, most in enabled.items():
        if name not in broken:
            continue
        last = before.get(name, Restart())
        if due(last, now, most):
            made.append(restart_call(name))
            last = Restart(count=last.count + 1, at=now)
        after[name] = last
    return made, after
