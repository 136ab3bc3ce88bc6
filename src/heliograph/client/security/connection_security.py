"""How the connections of one client come about: bare or under TLS, with or without a login."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable

from heliograph.client.net.transport import BareTransport, Transport
from heliograph.client.security.key_stores import Stamps, stamps, with_material
from heliograph.client.security.sasl import Mechanism, new_mechanism
from heliograph.client.security.tls import new_context, shake_hands
from heliograph.errors import SecurityFailed
from heliograph.security import PLAINTEXT, Security

log = logging.getLogger(__name__)


class ConnectionSecurity:
    """Files are read with the first connection, and again with those after they have changed.

    What fails says so of `subject`, the cluster.
    """

    def __init__(self, security: Security = PLAINTEXT, subject: str = "") -> None:
        self.security = security
        self.prefix = f"{subject}: " if subject else ""
        self._context: ssl.SSLContext | None = None
        self._stamps: Stamps = {}

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
        """Over a socket that is connected and does not block, and is closed if there is no transport.
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
            self._context = new_context(with_material(self.security))
        elif found != self._stamps:
            try:
                self._context = new_context(with_material(self.security))
            except SecurityFailed as e:  # perhaps half written; if not, a refusal will show it
                log.info("%s; what was read before serves on", e)
        self._stamps = found
        return self._context

    def mechanism(self, host: str) -> Mechanism:
        """For one login at this broker."""
        return new_mechanism(self.security, host)

    def reread(self) -> None:
        """After a refusal: whatever is wrong with the files is to be said."""
        self._context = None
