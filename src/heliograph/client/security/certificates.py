"""What a TLS session agreed on, and the broker's certificate, as `openssl s_client` prints them."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography import x509


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """`expires_ms` and `begins_ms` are in milliseconds since 1970; `names` are those that a client may use
    for the host: DNS names and IP addresses."""

    subject: str
    issuer: str
    begins_ms: int
    expires_ms: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSession:
    protocol: str
    cipher: str
    certificate: Certificate | None


def read_certificate(der: bytes | None) -> Certificate | None:
    """None if there is none, or if it cannot be parsed: it was accepted or refused before."""
    if not der:
        return None
    try:
        found = x509.load_der_x509_certificate(der)
        return Certificate(
            subject=found.subject.rfc4514_string(),
            issuer=found.issuer.rfc4514_string(),
            begins_ms=int(found.not_valid_before_utc.timestamp() * 1000),
            expires_ms=int(found.not_valid_after_utc.timestamp() * 1000),
            names=_names(found),
        )
    except ValueError:
        return None


def chain_ends(pem: str) -> float | None:
    """When the first certificate of a chain expires, in seconds since 1970; None if there is none, or if they
    cannot be parsed: OpenSSL judges them."""
    try:
        chain = x509.load_pem_x509_certificates(pem.encode())
    except ValueError:
        return None
    return min(each.not_valid_after_utc.timestamp() for each in chain)


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        kind = x509.SubjectAlternativeName
        extension = certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return ()
    addresses = extension.get_values_for_type(x509.IPAddress)
    return (*extension.get_values_for_type(x509.DNSName), *map(str, addresses))
