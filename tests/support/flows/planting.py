"""Recognisable secrets for every setting that can hold one, and a REST client that keeps all answers."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from heliograph.config.options import OPTIONS, Scope
from support.flows.services import Service
from support.waiting import PATIENCE_SECONDS, eventually

PACKAGE = "org.apache.kafka.connect.mirror."
USER, USERS_PASSWORD = "operator", "planted in the users file"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def passwords() -> list[str]:
    """Every client setting that is declared to be a secret."""
    return sorted(
        name
        for (scope, name), option in OPTIONS.items()
        if scope is Scope.CLIENT and option.type.name == "PASSWORD"
    )


def planted(name: str, number: int) -> tuple[str, str]:
    """A value that the setting may have, and the secret in it."""
    secret = f"planted-{number}-in-{name.replace('.', '-')}"
    if name.endswith("sasl.jaas.config"):
        return f'{_PLAIN} required username="u" password="{secret}";', secret
    return secret, secret


class Sent:
    """Settings that hold secrets, and the secrets in them."""

    def __init__(self) -> None:
        self.secrets: list[str] = []

    def plant(self, name: str) -> dict[str, str]:
        value, secret = planted(name, len(self.secrets))
        self.secrets.append(secret)
        return {name: value}


class Asking:
    """REST with the users file's password; keeps every answer."""

    def __init__(self, worker: Service) -> None:
        self._port = worker.rest.port
        self.answers: dict[str, str] = {}

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        login = base64.b64encode(f"{USER}:{USERS_PASSWORD}".encode()).decode()
        headers = {"Content-Type": "application/json", "Authorization": f"Basic {login}"}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()
        self.answers[f"{method} {path} {len(self.answers)}"] = f"{answer.getheaders()} {text}"
        return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    def create(self, name: str, config: Mapping[str, str], state: str = "RUNNING") -> int:
        body = {"name": name, "config": config, "initial_state": state}
        return eventually(
            lambda: self.ask("POST", "/connectors", body)[0],
            lambda status: status != 409,  # while the group has no leader
        )

    def read_everything(self, *connectors: str) -> None:
        """GET of each path of the API, with all that these connectors have behind it."""
        self.ask("GET", "/connectors?expand=info&expand=status")  # of each connector
        document = self.ask("GET", "/openapi.json")[1]
        found = {
            "connector": connectors,
            "task": ["0"],
            "logger": ["root", "heliograph"],
            "plugin": [f"{PACKAGE}MirrorSourceConnector"],
        }
        gets = [path for path, methods in document["paths"].items() if "get" in methods]
        for path in [filled for each in gets for filled in _filled(each, found)]:
            assert self.ask("GET", path)[0] in (200, 404, 500), path


def _filled(path: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    head, brace, rest = path.partition("{")
    if not brace:
        yield path
        return
    name, _, tail = rest.partition("}")
    for value in values[name]:
        yield from _filled(f"{head}{quote(value)}{tail}", values)
