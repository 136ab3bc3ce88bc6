"""One request of the sequence, and the condition that its answer must meet before it counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

JSON = {"Content-Type": "application/json"}

#: A condition on the JSON of an answer.
Condition = Callable[[Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`name` is its key in the golden answers. `$source` and `$target` in a body are bootstrap servers.

    `until`: the request is repeated until the JSON of its answer meets the condition. `quiet`: only the
    status is compared, since the step only waits for a state.
    """

    name: str
    method: str
    path: str
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    until: Condition | None = None
    quiet: bool = False

    def payload(self, clusters: Mapping[str, str]) -> bytes | None:
        if self.body is None:
            return None
        return Template(self.body).safe_substitute(clusters).encode()


def get(name: str, path: str, until: Condition | None = None, **headers: str) -> Step:
    return Step(name=name, method="GET", path=path, until=until, headers=_dashed(headers))


def send(name: str, method: str, path: str, content: object = None, **headers: str) -> Step:
    """`content` is written as JSON; None sends no body."""
    body = None if content is None else json.dumps(content)
    declared = JSON if content is not None else {}
    return Step(
        name=name, method=method, path=path, body=body, headers={**declared, **_dashed(headers)}
    )


def raw(
    name: str, method: str, path: str, body: str, content_type: str | None = "application/json"
) -> Step:
    """A body as text, such as broken JSON."""
    headers = {} if content_type is None else {"Content-Type": content_type}
    return Step(name=name, method=method, path=path, body=body, headers=headers)


def wait(name: str, path: str, until: Condition) -> Step:
    return Step(name=name, method="GET", path=path, until=until, quiet=True)


def _dashed(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def running(tasks: int) -> Condition:
    """The connector and all of its `tasks` tasks are RUNNING."""
    return in_state("RUNNING", tasks)


def in_state(state: str, tasks: int) -> Condition:
    def reached(status: Any) -> bool:
        return (
            isinstance(status, dict)
            and status.get("connector", {}).get("state") == state
            and [task["state"] for task in status["tasks"]] == [state] * tasks
        )

    return reached
