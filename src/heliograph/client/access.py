"""How the connections of one client come about: bare or under TLS, with or without a login."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

from heliograph.client.key_stores import with_material
from heliograph.client.sasl import Mechanism, new_mechanism
from heliograph.client.tls import new_context, shake_hands
from heliograph.client.transport import BareTransport, Transport
from heliograph.security import PLAINTEXT, Security


class Access:
    """Files are read with the first connection, and again after `reread`."""

    def __init__(self, security: Security = PLAINTEXT) -> None:
        self.security = security
        self._context: ssl.SSLContext | None = None

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
            if self._context is None:
                self._context = new_context(with_material(self.security))
        except BaseException:
            connected.close()
            raise
        return shake_hands(
            connected,
            self._context,
            self.security,
            host=host,
            address=address,
            timeout=timeout,
            stopped=stopped,
        )

    def mechanism(self, host: str) -> Mechanism:
        """For one login at this broker."""
        return new_mechanism(self.security, host)

    def reread(self) -> None:
        """Somebody may have put other files in place."""
        self._context = None
