from __future__ import annotations

import hashlib
import os
import select
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.certificates import Authority
from heliograph.client.security.connection_security import ConnectionSecurity
from heliograph.client.security.key_stores import with_material
from heliograph.client.security.tls import TlsTransport, new_context, openssl_name, shake_hands
from heliograph.errors import BadKeyMaterial, ConnectionLost, TlsFailed
from heliograph.security import Secret, Security, Store, Tls
from support.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", "ECDHE-ECDSA-AES256-SHA384"),
        ("TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", "DHE-RSA-AES256-GCM-SHA384"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
    ],
)
def test_cipher_suites_have_other_names_in_java(java: str, openssl: str) -> None:
    assert openssl_name(java) == openssl
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers(openssl)


def test_suites_decide_which_versions_are_offered() -> None:
    old, new = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"
    for suites, least, most in (
        ((old,), ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2),
        ((new,), ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
        ((old, new), ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
    ):
        context = new_context(Security(tls=Tls(cipher_suites=suites)))
        assert (context.minimum_version, context.maximum_version) == (least, most)
    with pytest.raises(TlsFailed, match=r"ssl\.cipher\.suites: expected names such as"):
        new_context(Security(tls=Tls(cipher_suites=("TLS_ODD_WITH_ODDITIES",))))


class Echo(threading.Thread):
    """Reads `size` bytes under TLS, once `begin` is set, then sends as many of its own."""

    def __init__(self, keystore: Path, size: int) -> None:
        super().__init__(daemon=True)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(keystore)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._size = size
        self.address = self._listener.getsockname()
        self.answer = os.urandom(size)
        self.read = hashlib.sha256()
        self.begin = threading.Event()

    def run(self) -> None:
        with self._listener, self._listener.accept()[0] as connected:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
            with self._context.wrap_socket(connected, server_side=True) as line:
                self.begin.wait(PATIENCE_SECONDS)
                left = self._size
                while left:
                    data = line.recv(min(left, 100_000))
                    self.read.update(data)
                    left -= len(data)
                line.sendall(self.answer)


def test_nothing_is_lost_where_the_other_end_reads_slowly(tmp_path: Path) -> None:
    authority = Authority("ours")
    identity = authority.issue("server", ["localhost"])
    (tmp_path / "server.pem").write_text(identity.key() + identity.pem)
    pieces = [os.urandom(size) for size in (50, 900_000, 10, 20, 16_384, 3, 5_000_000, 70_000, 1)]
    echo = Echo(tmp_path / "server.pem", sum(map(len, pieces)))
    echo.start()
    store = Store(name="truststore", type="PEM", certificates=Secret(authority.identity.pem))
    security = Security(tls=Tls(truststore=store))
    connected = socket.create_connection(echo.address)
    connected.setblocking(False)
    transport = shake_hands(
        connected,
        new_context(with_material(security)),
        security,
        host="localhost",
        address="here",
        timeout=PATIENCE_SECONDS,
        stopped=lambda: False,
    )
    try:
        assert transport.certificate_ends == identity.certificate.not_valid_after_utc.timestamp()
        _send(transport, pieces, echo.begin.set)
        received = _receive(transport, len(echo.answer))
    finally:
        transport.close()
    echo.join(PATIENCE_SECONDS)

    assert echo.begin.is_set()
    assert echo.read.digest() == hashlib.sha256(b"".join(pieces)).digest()
    assert received == echo.answer


def _send(transport: TlsTransport, pieces: list[bytes], on_wait: Callable[[], None]) -> None:
    """As a connection does."""
    outgoing = deque(map(memoryview, pieces))
    poller = select.poll()
    poller.register(transport.fileno(), select.POLLOUT)
    while outgoing:
        sent = transport.send(list(outgoing))
        if sent is None:
            on_wait()
            poller.poll(1000)
            continue
        while outgoing and sent >= len(outgoing[0]):
            sent -= len(outgoing.popleft())
        if sent:
            outgoing[0] = outgoing[0][sent:]


def _receive(transport: TlsTransport, size: int) -> bytes:
    buffer, filled = memoryview(bytearray(size)), 0
    poller = select.poll()
    poller.register(transport.fileno(), select.POLLIN)
    while filled < size:
        received = transport.receive(buffer[filled:])
        if received is None:
            poller.poll(1000)
            continue
        assert received
        filled += received
    return bytes(buffer)


class Host(threading.Thread):
    """Accepts TLS handshakes of one client after the other, as `identity`; unknown clients are refused.
    `met` are their names."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        super().__init__(daemon=True)
        identity = authority.issue("server", ["localhost"])
        keystore, truststore = folder / "host.pem", folder / "host-trust.pem"
        keystore.write_text(identity.key() + identity.pem)
        truststore.write_text(authority.identity.pem)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(keystore)
        self._context.load_verify_locations(truststore)
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.met: dict[object, str] = {}

    def run(self) -> None:
        while True:
            connected, address = self._listener.accept()
            try:
                with self._context.wrap_socket(connected, server_side=True) as line:
                    subject = dict(each[0] for each in (line.getpeercert() or {})["subject"])  # type: ignore[misc]
                    self.met[address] = subject["commonName"]
                    line.sendall(b"!")
            except (ssl.SSLError, OSError):
                self.met[address] = "nobody"

    def meet(self, access: ConnectionSecurity) -> str:
        """Whom it takes a new connection for."""
        connected = socket.create_connection(self._listener.getsockname())
        connected.setblocking(False)
        address = connected.getsockname()
        transport = access.transport(
            connected,
            host="localhost",
            address="here",
            timeout=PATIENCE_SECONDS,
            stopped=lambda: False,
        )
        try:
            _receive(transport, 1)  # type: ignore[arg-type]
        finally:
            transport.close()
        return self.met[address]


def test_a_certificate_that_is_renewed_on_disk_is_that_of_the_next_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    authority = Authority("ours")
    host = Host(tmp_path, authority)
    host.start()
    keystore = tmp_path / "client.pem"

    def renew(name: str) -> None:
        identity = authority.issue(name)
        fresh = tmp_path / f"{name}.pem"
        fresh.write_text(identity.key() + identity.pem)
        fresh.rename(keystore)  # at once, as those do who renew certificates

    renew("old")
    trusted = Store(name="truststore", type="PEM", certificates=Secret(authority.identity.pem))
    ours = Store(name="keystore", type="PEM", location=str(keystore))
    access = ConnectionSecurity(Security(tls=Tls(truststore=trusted, keystore=ours)))

    assert [host.meet(access), host.meet(access)] == ["old", "old"]
    renew("new")
    assert host.meet(access) == "new"
    keystore.write_text("-----BEGIN PRIVATE KEY-----")
    assert host.meet(access) == "new"
    said = [
        r.getMessage()
        for r in caplog.records
        if r.name == "heliograph.client.security.connection_security"
    ]
    assert said == [
        f"ssl.keystore.location: {keystore}: expected a certificate in this keystore, found none; still "
        "using the files as read before"
    ]
    access.reread()
    with pytest.raises(BadKeyMaterial):
        host.meet(access)
    renew("newest")
    assert host.meet(access) == "newest"


def test_a_client_knows_when_the_first_certificate_of_its_own_chain_expires(tmp_path: Path) -> None:
    authority = Authority("ours")
    identity = authority.issue("client")
    store = Store(
        name="keystore",
        type="PEM",
        certificates=Secret(identity.pem + authority.identity.pem),
        key=Secret(identity.key()),
    )
    trust = Store(name="truststore", type="PEM", certificates=Secret(authority.identity.pem))
    access = ConnectionSecurity(Security(tls=Tls(truststore=trust, keystore=store)))
    assert access.certificate_ends is None
    here, there = socket.socketpair()
    with here, there:
        there.close()
        with pytest.raises(ConnectionLost):
            access.transport(
                here, host="localhost", address="here", timeout=5, stopped=lambda: False
            )
    assert access.certificate_ends == identity.certificate.not_valid_after_utc.timestamp()
