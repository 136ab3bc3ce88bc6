"""TLS contexts of the REST API's listeners and of requests to the leading worker; renewed with their
files."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Callable

from heliograph.client.security.key_stores import stamps, with_material
from heliograph.client.security.tls import new_context, new_server_context
from heliograph.config.connectors.rest import ListenerTls
from heliograph.errors import BadKeyMaterial, TlsFailed

_log = logging.getLogger(__name__)

_CLIENT_CERTIFICATES = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


class _Renewed:
    """A context that is created again after one of its files has changed."""

    def __init__(self, tls: ListenerTls, make: Callable[[ListenerTls], ssl.SSLContext]) -> None:
        """Raises BadKeyMaterial."""
        self._tls = tls
        self._make = make
        self._lock = threading.Lock()
        self._stamps = stamps(
            tls.security
        )  # taken before the files are read, so that a later change is noticed
        self._context = make(tls)

    def current(self) -> ssl.SSLContext:
        return self._context

    def refresh(self) -> None:
        """Reads changed files. A file that cannot be used is ignored until its next change."""
        with self._lock:
            found = stamps(self._tls.security)
            if found == self._stamps:
                return
            self._stamps = found
            try:
                self._context = self._make(self._tls)
            except (BadKeyMaterial, TlsFailed) as e:
                _log.warning("%s; the REST API keeps using its previous certificate", e)
                return
        _log.info("REST API: certificates reloaded: %s", ", ".join(found))


class ServerContext(_Renewed):
    def __init__(self, tls: ListenerTls) -> None:
        super().__init__(tls, _server_context)


class ClientContext(_Renewed):
    """All workers have the same settings, so the other workers trust this one's certificate."""

    def __init__(self, tls: ListenerTls) -> None:
        super().__init__(tls, _client_context)


def _server_context(tls: ListenerTls) -> ssl.SSLContext:
    return new_server_context(with_material(tls.security), _CLIENT_CERTIFICATES[tls.client_auth])


def _client_context(tls: ListenerTls) -> ssl.SSLContext:
    return new_context(with_material(tls.security))
