"""TLS of the REST API's own listeners, and towards the leading worker."""

from __future__ import annotations

import ssl

from heliograph.client.security.key_stores import with_material
from heliograph.client.security.tls import new_context, new_server_context
from heliograph.config.connectors.rest import ListenerTls

_CLIENT_CERTIFICATES = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def server_context(tls: ListenerTls) -> ssl.SSLContext:
    """Raises BadKeyMaterial."""
    return new_server_context(with_material(tls.security), _CLIENT_CERTIFICATES[tls.client_auth])


def client_context(tls: ListenerTls | None) -> ssl.SSLContext:
    """Other workers have the same settings: what this one shows, they trust. Raises BadKeyMaterial."""
    return ssl.create_default_context() if tls is None else new_context(with_material(tls.security))
