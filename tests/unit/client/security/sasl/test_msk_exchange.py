"""AWS_MSK_IAM over a real connection: TLS, handshake, login, and a verifier that knows the key.

No broker at hand speaks this mechanism; what stands in for one checks the signature as MSK does, with
botocore's arithmetic.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from kafka.protocol.metadata import ApiVersionsResponse
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from harness.certificates import Authority
from heliograph.client.net.connection import Connection
from heliograph.client.security.connection_security import ConnectionSecurity
from heliograph.config.security.connection import read_security
from heliograph.errors import LoginFailed
from support.waiting import PATIENCE_SECONDS

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
_API_VERSIONS, _HANDSHAKE, _AUTHENTICATE = 18, 17, 36


class Verifier(threading.Thread):
    """Takes one connection after the other, and logs in who has signed with SECRET."""

    def __init__(self, keystore: Path) -> None:
        super().__init__(daemon=True)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(keystore)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.accepted: list[str] = []

    def run(self) -> None:
        while True:
            try:
                connected, _ = self._listener.accept()
            except OSError:
                return
            with self._context.wrap_socket(connected, server_side=True) as wrapped:
                self._serve(wrapped)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self, line: ssl.SSLSocket) -> None:
        while head := line.recv(4):
            (size,) = struct.unpack(">i", head)
            request = b""
            while len(request) < size:
                request += line.recv(size - len(request))
            key, version, correlation = struct.unpack_from(">hhi", request)
            body = self._answer(key, version, request)
            frame = struct.pack(">i", correlation) + body
            line.sendall(struct.pack(">i", len(frame)) + frame)

    def _answer(self, key: int, version: int, request: bytes) -> bytes:
        if key == _API_VERSIONS:
            entry = ApiVersionsResponse.ApiVersion
            keys = [
                entry(api_key=k, min_version=0, max_version=v, version=3)
                for k, v in ((_API_VERSIONS, 3), (_HANDSHAKE, 1), (_AUTHENTICATE, 1))
            ]
            return bytes(ApiVersionsResponse(error_code=0, api_keys=keys, version=3).encode())
        client_id = struct.unpack_from(">h", request, 8)[0]
        body = request[10 + client_id :]
        if key == _HANDSHAKE:
            asked = SaslHandshakeRequest.decode(body, version=version).mechanism
            code = 0 if asked == "AWS_MSK_IAM" else 33
            answer = SaslHandshakeResponse(
                error_code=code, mechanisms=["AWS_MSK_IAM"], version=version
            )
            return bytes(answer.encode())
        said = json.loads(SaslAuthenticateRequest.decode(body, version=version).auth_bytes)
        code, words, confirmed = 58, "Access denied", b""
        if _signature(said) == said["x-amz-signature"]:
            self.accepted.append(said["x-amz-credential"])
            code, words, confirmed = 0, None, b'{"version":"2020_10_22","request-id":"1"}'
        return bytes(
            SaslAuthenticateResponse(
                error_code=code,
                error_message=words,
                auth_bytes=confirmed,
                session_lifetime_ms=0,
                version=version,
            ).encode()
        )


def _signature(said: dict[str, str]) -> str:
    """What botocore signs for the host and moment that the client names."""
    moment = datetime.strptime(said["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    region = said["x-amz-credential"].split("/")[2]
    signer = SigV4QueryAuth(Credentials(KEY, SECRET), "kafka-cluster", region, expires=900)
    request = AWSRequest("GET", f"https://{said['host']}/?Action=kafka-cluster%3AConnect")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("botocore.auth.get_current_datetime", lambda *_, **__: moment)
        signer.add_auth(request)
    return dict(parse_qsl(urlsplit(request.url).query))["X-Amz-Signature"]


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ours")


@pytest.fixture(scope="module")
def verifier(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verifier]:
    identity = authority.issue("msk", ["localhost"])
    keystore = tmp_path_factory.mktemp("msk") / "server.pem"
    keystore.write_text(identity.key() + identity.pem)
    verifier = Verifier(keystore)
    verifier.start()
    yield verifier
    verifier.close()
    verifier.join(PATIENCE_SECONDS)


def log_in(verifier: Verifier, authority: Authority) -> None:
    """With the lines of MSK's guides."""
    settings = {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": authority.identity.pem,
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
        "sasl.client.callback.handler.class": (
            "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
        ),
    }
    security, problems = read_security(settings)
    assert problems == []
    connection = Connection(
        "localhost",
        verifier.port,
        client_id="test",
        access=ConnectionSecurity(security),
        timeout=PATIENCE_SECONDS,
    )
    connection.close()


def test_a_signed_login_is_accepted(
    verifier: Verifier, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)

    log_in(verifier, authority)

    (credential,) = verifier.accepted
    assert credential.startswith(f"{KEY}/")
    assert credential.endswith("/eu-central-1/kafka-cluster/aws4_request")


def test_another_key_is_refused(
    verifier: Verifier, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")

    with pytest.raises(LoginFailed, match="refuses the login by AWS_MSK_IAM: Access denied"):
        log_in(verifier, authority)
