"""Recognisable secrets for every setting that can hold one, and a REST client that keeps all answers."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from harness.certificates import Authority, Identity, keytool
from heliograph.config.options import OPTIONS, Scope
from heliograph.embedded.ports import free_port
from support.flows.services import Service
from support.waiting import PATIENCE_SECONDS

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

    def secret(self, name: str) -> str:
        """For a setting whose value is the secret itself."""
        return self.plant(name)[name]


class HttpsListener:
    """A listener of REST by https whose every password and key is a planted secret, on a port of its own.

    `prefix` is `listeners.https.` or `admin.listeners.https.`: the first has stores in files, the second a
    PEM key in the setting itself."""

    def __init__(self, prefix: str, folder: Path, sent: Sent) -> None:
        self.address = f"https://localhost:{free_port()}"
        self._authority = Authority("planted")
        identity = self._authority.issue("worker", ["localhost"])
        if prefix.startswith("admin"):
            its = self._pem(prefix, identity, sent)
        else:
            its = self._stores(prefix, identity, folder, sent)
        self.settings = {f"{prefix}{name}": value for name, value in its.items()}

    def _stores(self, prefix: str, identity: Identity, folder: Path, sent: Sent) -> dict[str, str]:
        keys, trust = folder / "listener.p12", folder / "listener-trust.p12"
        (folder / "listener-ca.pem").write_text(self._authority.identity.pem)
        key_password = sent.secret(f"{prefix}ssl.keystore.password")
        trust_password = sent.secret(f"{prefix}ssl.truststore.password")
        secret = BestAvailableEncryption(key_password.encode())
        keys.write_bytes(
            serialize_key_and_certificates(
                b"worker", identity.private, identity.certificate, None, secret
            )
        )
        keytool(
            *("-importcert", "-alias", "ca", "-file", folder / "listener-ca.pem"),
            *("-storetype", "PKCS12", "-keystore", trust, "-storepass", trust_password),
        )
        return {
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(keys),
            "ssl.keystore.password": key_password,
            "ssl.key.password": key_password,  # one for both, as Java's PKCS12 has it
            "ssl.truststore.type": "PKCS12",
            "ssl.truststore.location": str(trust),
            "ssl.truststore.password": trust_password,
        }

    def _pem(self, prefix: str, identity: Identity, sent: Sent) -> dict[str, str]:
        password = sent.secret(f"{prefix}ssl.key.password")
        key = identity.key(password)
        sent.secrets += [line for text in (key, identity.key()) for line in lines_of_key(text)]
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": key,
            "ssl.keystore.certificate.chain": identity.pem,
            "ssl.key.password": password,
        }

    def ask(self, path: str) -> int:
        """The status of a GET without a login."""
        url = urlsplit(self.address)
        context = ssl.create_default_context(cadata=self._authority.identity.pem)
        connection = http.client.HTTPSConnection(
            url.hostname or "", url.port, timeout=PATIENCE_SECONDS, context=context
        )
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()


def lines_of_key(pem: str) -> list[str]:
    """Of a private key, those that could be no other text."""
    return [line for line in pem.splitlines() if len(line) > 40]


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
        return self.ask("POST", "/connectors", body)[0]

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
