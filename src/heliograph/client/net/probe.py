"""Opens a connection step by step, for `heliograph check`: how far it gets, and why no further.

Nothing is sent but ApiVersions, which brokers answer before a login.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from heliograph.client.net.connection import Connection
from heliograph.client.net.transport import BareTransport, Transport, connect
from heliograph.client.security.certificates import TlsSession
from heliograph.client.security.connection_security import ConnectionSecurity
from heliograph.client.security.key_stores import with_material
from heliograph.client.security.tls import TlsTransport, new_context, shake_hands
from heliograph.errors import BadKeyMaterial, ClientError, TlsFailed
from heliograph.security import PLAINTEXT, Security, Tls
from heliograph.wire import messages

_CLIENT_ID = "heliograph-check"


class Stage(StrEnum):
    RESOLVE = "resolve"
    CONNECT = "connect"
    TLS = "tls"
    VERSIONS = "versions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """`failed` is the stage that `error` ended; None: all are done. `shown`: the session of a second
    handshake without verification, after the first one failed. `is_plaintext`, `is_tls`: what the listener
    speaks instead of the protocol that is configured."""

    server: str
    addresses: tuple[str, ...] = ()
    connect_ms: int = -1
    tls: TlsSession | None = None
    shown: TlsSession | None = None
    version: tuple[int, ...] = ()
    features: Mapping[str, int] = field(default_factory=dict)
    failed: Stage | None = None
    error: ClientError | None = None
    is_plaintext: bool = False
    is_tls: bool = False


def probe(
    server: str, security: Security, *, timeout: float, on_stage: Callable[[Stage], None]
) -> Probe:
    """Raises no ClientError."""
    return _Prober(server, replace(security, sasl=None), timeout, on_stage).run()


class _Prober:
    def __init__(
        self, server: str, security: Security, timeout: float, on_stage: Callable[[Stage], None]
    ) -> None:
        host, _, port = server.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self._security = security
        self._timeout = timeout
        self._on_stage = on_stage
        self._stage = Stage.RESOLVE
        self._found = Probe(server=server)

    def run(self) -> Probe:
        try:
            self._run()
        except ClientError as e:
            # With TLS 1.3 a broker refuses our certificate after the handshake.
            stage = Stage.TLS if isinstance(e, TlsFailed) else self._stage
            self._note(failed=stage, error=e)
            self._look_closer(stage, e)
        return self._found

    def _run(self) -> None:
        self._enter(Stage.RESOLVE)
        self._note(addresses=_resolve(self._host, self._port))
        self._enter(Stage.CONNECT)
        started = time.monotonic()
        connected = connect(self._host, self._port, self._timeout)
        self._note(connect_ms=round((time.monotonic() - started) * 1000))
        self._enter(Stage.TLS)
        transport = self._secured(connected)
        if isinstance(transport, TlsTransport):
            self._note(tls=transport.session)
        self._enter(Stage.VERSIONS)
        opened = self._speak(transport)
        try:
            version = messages.broker_version(opened.versions)
            self._note(version=version, features=dict(opened.features))
        finally:
            opened.close()

    def _enter(self, stage: Stage) -> None:
        self._stage = stage
        self._on_stage(stage)

    def _note(self, **news: object) -> None:
        self._found = replace(self._found, **news)  # type: ignore[arg-type]

    def _secured(self, connected: socket.socket) -> Transport:
        return ConnectionSecurity(self._security).transport(
            connected,
            host=self._host,
            address=self._found.server,
            timeout=self._timeout,
            stopped=lambda: False,
        )

    def _speak(self, transport: Transport) -> Connection:
        return Connection(
            self._host, self._port, client_id=_CLIENT_ID, timeout=self._timeout, transport=transport
        )

    def _look_closer(self, stage: Stage, error: ClientError) -> None:
        """Finds out what the listener speaks instead, and which certificate it has."""
        if (
            stage is Stage.TLS
            and self._security.tls is not None
            and not isinstance(error, BadKeyMaterial)
        ):
            shown = self._handshake_without_verification(self._security)
            self._note(shown=shown)
            if shown is None:
                self._note(is_plaintext=self._answers_in_plaintext())
        elif stage is Stage.VERSIONS and self._security.tls is None:
            shown = self._handshake_without_verification(replace(PLAINTEXT, tls=Tls()))
            self._note(shown=shown, is_tls=shown is not None)

    def _handshake_without_verification(self, security: Security) -> TlsSession | None:
        try:
            context = new_context(with_material(security))
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            transport = shake_hands(
                connect(self._host, self._port, self._timeout),
                context,
                security,
                host=self._host,
                address=self._found.server,
                timeout=self._timeout,
                stopped=lambda: False,
            )
        except ClientError:
            return None  # it has no TLS, or is gone: the first error says so
        found = transport.session
        transport.close()
        return found

    def _answers_in_plaintext(self) -> bool:
        try:
            bare = BareTransport(connect(self._host, self._port, self._timeout))
            self._speak(bare).close()
        except ClientError:
            return False
        return True


def reach(
    host: str, port: int, security: Security, *, subject: str, timeout: float
) -> ClientError | None:
    """Connects and logs in to one broker; the error, if that fails."""
    access = ConnectionSecurity(security, subject)
    try:
        Connection(host, port, client_id=_CLIENT_ID, timeout=timeout, access=access).close()
    except ClientError as e:
        return e
    return None


class Unresolved(ClientError):
    """A host name without an address."""


def _resolve(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as e:
        why = getattr(e, "strerror", None) or e
        raise Unresolved(f"{host}: {why}") from e
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))
