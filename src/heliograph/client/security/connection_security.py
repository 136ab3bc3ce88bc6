"""Sets up TLS and logins for the connections of one client."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable

from heliograph.client.net.transport import BareTransport, Transport
from heliograph.client.security.certificates import chain_ends
from heliograph.client.security.key_stores import Stamps, stamps, with_material
from heliograph.client.security.sasl import Mechanism, new_mechanism
from heliograph.client.security.tls import new_context, shake_hands
from heliograph.errors import SecurityFailed
from heliograph.security import PLAINTEXT, Security

log = logging.getLogger(__name__)


class ConnectionSecurity:
    """Files are read for the first connection, and again after they have changed. `subject`, the cluster, is
    named in errors."""

    def __init__(self, security: Security = PLAINTEXT, subject: str = "") -> None:
        self.security = security
        self.prefix = f"{subject}: " if subject else ""
        self._context: ssl.SSLContext | None = None
        self._stamps: Stamps = {}
        #: When this client's own certificate expires, in seconds since 1970; None: it has none.
        self.certificate_ends: float | None = None

    @property
    def logs_in(self) -> bool:
        return self.security.sasl is not None

    def transport(
        self,
        connected: socket.socket,
        *,
        host: str,
        address: str,
        timeout: float,
        stopped: Callable[[], bool],
    ) -> Transport:
        """A transport over a connected socket that does not block; closes the socket if that fails.
        Raises SecurityFailed, ConnectionLost."""
        if self.security.tls is None:
            return BareTransport(connected)
        try:
            context = self._current()
        except SecurityFailed as e:
            connected.close()
            raise type(e)(f"{self.prefix}{e}") from e
        return shake_hands(
            connected,
            context,
            self.security,
            host=host,
            address=address,
            prefix=self.prefix,
            timeout=timeout,
            stopped=stopped,
        )

    def _current(self) -> ssl.SSLContext:
        found = stamps(self.security)
        if self._context is None:
            self._context = self._new()
        elif found != self._stamps:
            try:
                self._context = self._new()
            except SecurityFailed as e:  # perhaps half written; otherwise the login will fail
                log.info("%s; still using the files as read before", e)
        self._stamps = found
        return self._context

    def _new(self) -> ssl.SSLContext:
        security = with_material(self.security)
        context = new_context(security)
        keystore = None if security.tls is None else security.tls.keystore
        chain = None if keystore is None else keystore.certificates
        self.certificate_ends = None if chain is None else chain_ends(chain)
        return context

    def mechanism(self, host: str) -> Mechanism:
        """A mechanism for one login at this broker."""
        return new_mechanism(self.security, host)

    def reread(self) -> None:
        """Read the files again for the next connection, after a failure, so that their errors are
        reported."""
        self._context = None
