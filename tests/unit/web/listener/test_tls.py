"""The API over https: certificates of listeners and clients, and forwarding to the leader."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from harness.certificates import Authority, Identity
from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.errors import BadKeyMaterial
from heliograph.web.listener import server as rest_server
from heliograph.web.listener.server import RestServer
from support.rest.asking import JSON_BODY
from support.rest.listening import PATIENCE
from support.rest.memory_herder import Follower, MemoryHerder
from support.waiting import PATIENCE_SECONDS, eventually

AUTHORITY = Authority("rest authority")
WORKER = AUTHORITY.issue("worker", ["localhost"])
HTTPS = "listeners.https.ssl"


def keystore(identity: Identity) -> dict[str, str]:
    return {
        f"{HTTPS}.keystore.type": "PEM",
        f"{HTTPS}.keystore.key": identity.key(),
        f"{HTTPS}.keystore.certificate.chain": identity.pem,
        f"{HTTPS}.truststore.type": "PEM",
        f"{HTTPS}.truststore.certificates": AUTHORITY.identity.pem,
    }


@contextmanager
def serving(settings: Mapping[str, str], herder: MemoryHerder | None = None) -> Iterator[int]:
    levels = LoggerLevels(lambda: 0)
    config = read_rest_config({"listeners": "https://localhost:0", **settings}, {})
    server = RestServer(config, herder or MemoryHerder(), levels, levels.set)
    server.start()
    try:
        yield server.port
    finally:
        server.stop()


def get(port: int, context: ssl.SSLContext) -> int:
    connection = http.client.HTTPSConnection(
        "localhost", port, timeout=PATIENCE_SECONDS, context=context
    )
    try:
        connection.request("GET", "/connectors")
        return connection.getresponse().status
    finally:
        connection.close()


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.identity.pem)


def test_clients_that_trust_its_authority_are_answered() -> None:
    with serving(keystore(WORKER)) as port:
        assert get(port, trusting(AUTHORITY)) == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            get(port, trusting(Authority("another")))


def test_a_client_must_show_a_certificate_if_one_is_required(tmp_path: Path) -> None:
    settings = {**keystore(WORKER), f"{HTTPS}.client.auth": "required"}
    known = trusting(AUTHORITY)
    client = AUTHORITY.issue("client")
    file = tmp_path / "client.pem"
    file.write_text(client.key() + client.pem)
    known.load_cert_chain(file)

    with serving(settings) as port:
        assert get(port, known) == 200
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            get(port, trusting(AUTHORITY))


def test_a_key_that_is_not_its_certificates_is_named_with_its_setting() -> None:
    other = AUTHORITY.issue("other")
    settings = {**keystore(WORKER), f"{HTTPS}.keystore.key": other.key()}

    with (
        pytest.raises(BadKeyMaterial, match=r"keystore.*is not that of its certificate"),
        serving(settings),
    ):
        pass


def test_a_leader_is_reached_by_https_as_well() -> None:
    leader = MemoryHerder()
    with serving(keystore(WORKER), leader) as port:
        follower = Follower(f"https://localhost:{port}/")
        with serving(keystore(WORKER), follower) as other:
            connection = http.client.HTTPSConnection(
                "localhost", other, timeout=PATIENCE_SECONDS, context=trusting(AUTHORITY)
            )
            body = '{"connector.class": "MirrorHeartbeatConnector", "source.cluster.alias": "A"}'
            connection.request("PUT", "/connectors/c/config", body, JSON_BODY)
            status = connection.getresponse().status
            connection.close()

    assert status == 201
    assert leader.connectors() == ["c"]


def shown(port: int) -> bytes:
    """The certificate that the listener shows now."""
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection,
        unchecked.wrap_socket(connection) as wrapped,
    ):
        return wrapped.getpeercert(binary_form=True) or b""


@pytest.fixture
def _renewed_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_server, "_RENEW_SECONDS", 0.1)


@pytest.mark.usefixtures("_renewed_often")
def test_a_certificate_that_is_replaced_is_shown_without_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def put(text: str) -> None:
        new = tmp_path / "new.pem"
        new.write_text(text)
        new.rename(file)

    file = tmp_path / "worker.pem"
    first, second = (AUTHORITY.issue("worker", ["localhost"]) for _ in range(2))
    put(first.key() + first.pem)
    settings = {f"{HTTPS}.keystore.type": "PEM", f"{HTTPS}.keystore.location": str(file)}
    with serving(settings) as port:
        assert shown(port) == first.certificate.public_bytes(Encoding.DER)

        put("-----BEGIN nothing")
        kept = "the REST API keeps using its previous certificate"
        eventually(lambda: caplog.text, lambda logged: kept in logged)
        assert shown(port) == first.certificate.public_bytes(Encoding.DER)

        put(second.key() + second.pem)
        eventually(lambda: shown(port), second.certificate.public_bytes(Encoding.DER).__eq__)


@pytest.mark.usefixtures("_renewed_often")
def test_clients_that_are_trusted_no_more_are_refused_without_a_restart(tmp_path: Path) -> None:
    other = Authority("another")
    trusted, file = tmp_path / "trusted.pem", tmp_path / "client.pem"
    trusted.write_text(AUTHORITY.identity.pem)
    client = AUTHORITY.issue("client")
    file.write_text(client.key() + client.pem)
    context = trusting(AUTHORITY)
    context.load_cert_chain(file)
    settings = keystore(WORKER) | {f"{HTTPS}.client.auth": "required"}
    del settings[f"{HTTPS}.truststore.certificates"]
    with serving(settings | {f"{HTTPS}.truststore.location": str(trusted)}) as port:
        assert get(port, context) == 200
        trusted.write_text(other.identity.pem)

        def refused() -> bool:
            try:
                return get(port, context) != 200
            except (ssl.SSLError, ConnectionError, http.client.HTTPException):
                return True

        eventually(refused, bool)
        assert refused()
