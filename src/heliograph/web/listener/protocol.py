"""uvicorn's protocol of one connection, with time limits that uvicorn lacks.

made ──────────── head complete ── answer ──────────── head complete …
     head_seconds                        head_seconds
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any, NamedTuple

import uvicorn
from cryptography import x509
from cryptography.x509.oid import NameOID
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from heliograph.web.listener.connections import Connections, Held
from heliograph.web.listener.limits import Limits

_log = logging.getLogger(__name__)

#: The key of the `Peer` in `state` of a request's scope.
PEER = "peer"
_ABORT_SECONDS = 1.0


class Peer(NamedTuple):
    """The client: its address as limits count it, and the name of its certificate, if it sent one."""

    address: str = ""
    subject: str | None = None
    common_name: str | None = None


class GuardedProtocol(H11Protocol):
    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        held: Held,
        connections: Connections,
        limits: Limits,
    ) -> None:
        super().__init__(config, server_state, {})
        self._held = held
        self._admitted = connections
        self._limits = limits
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._held.drop = transport.abort
        self.app_state = {PEER: _peer(self._held.address, transport.get_extra_info("ssl_object"))}
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_busy()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # may begin a request that has arrived already
        self._update_busy()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._write_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._admitted.release(self._held)
        _cancel(self._head_timer)
        _cancel(self._write_timer)

    def _update_busy(self) -> None:
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy == self._held.busy:
            return
        self._admitted.set_busy(self._held, busy)
        if busy:
            _cancel(self._head_timer)
        else:
            self._expect_head()

    def _expect_head(self) -> None:
        """The rest of a body that was not read must arrive within that time, too."""
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self._too_late)

    def _too_late(self) -> None:
        self.transport.close()  # waits until the client has read all responses,
        self.loop.call_later(_ABORT_SECONDS, self.transport.abort)  # but not for long


def _peer(address: str, tls: ssl.SSLObject | None) -> Peer:
    certificate = None if tls is None else tls.getpeercert(binary_form=True)
    if certificate is None:
        return Peer(address)
    try:
        subject = x509.load_der_x509_certificate(certificate).subject
    except ValueError as e:  # OpenSSL is less strict
        _log.warning("client certificate from %s: its subject cannot be parsed: %s", address, e)
        return Peer(address)
    names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return Peer(address, subject.rfc4514_string(), names[0] if len(names) == 1 else None)


def peer_of(scope: Any) -> Peer:
    """The peer of a request; only its address for a connection of another server, as in tests."""
    known = (scope.get("state") or {}).get(PEER)
    if isinstance(known, Peer):
        return known
    return Peer(str((scope.get("client") or ("",))[0]))


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
