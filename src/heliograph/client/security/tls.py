"""TLS for connections to brokers and for our own listeners: contexts, the handshake, error messages."""

from __future__ import annotations

import re
import select
import socket
import ssl
import time
from collections.abc import Callable, Sequence

from heliograph.client.security.certificates import TlsSession, read_certificate
from heliograph.client.security.key_files import KEYSTORE, key_file
from heliograph.errors import BadKeyMaterial, ConnectionLost, Interrupted, TlsFailed
from heliograph.security import Security, Store, Tls

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
#: The most that is passed to OpenSSL at a time; smaller pieces are joined up to the second size.
_CHUNK_BYTES = 256 << 10
_JOIN_BYTES = 16 << 10
_STOP_CHECK_SECONDS = 0.2

#: X509_V_ERR_…
_EXPIRED, _NOT_YET_VALID = 10, 9
_UNTRUSTED = frozenset({2, 18, 19, 20, 21})
_SELF_SIGNED = 18
_WRONG_HOST = frozenset({62, 64})


def new_context(security: Security) -> ssl.SSLContext:
    """Stores must have been read. Raises BadKeyMaterial."""
    tls = security.tls
    assert tls is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.verify_host
    # As in Java: a certificate in a truststore is trusted even if it is not an authority.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    _limit(context, tls, security)
    _trust(context, tls.truststore, security)
    if tls.keystore is not None:
        _identify(context, tls.keystore, security)
    return context


def new_server_context(security: Security, client_certificates: ssl.VerifyMode) -> ssl.SSLContext:
    """For a listener of ours. Stores must have been read. Raises BadKeyMaterial."""
    tls = security.tls
    assert tls is not None
    if tls.keystore is None:
        raise BadKeyMaterial(
            f"{security.key('ssl.keystore.location')}: missing; a listener needs a key and its certificate"
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    _limit(context, tls, security)
    _identify(context, tls.keystore, security)
    if client_certificates is not ssl.CERT_NONE:
        _trust(context, tls.truststore, security)
        context.verify_mode = client_certificates
    return context


def _limit(context: ssl.SSLContext, tls: Tls, security: Security) -> None:
    versions = _versions(tls)
    context.minimum_version, context.maximum_version = versions[0], versions[-1]
    _set_ciphers(context, tls, security)


def _versions(tls: Tls) -> list[ssl.TLSVersion]:
    """As in Java, a version without any of the configured suites is not offered."""
    allowed = [_VERSIONS[each] for each in tls.protocols]
    if tls.cipher_suites:
        modern = [_is_modern(each) for each in tls.cipher_suites]
        useless = set()
        if not any(modern):
            useless.add(ssl.TLSVersion.TLSv1_3)
        if all(modern):
            useless.add(ssl.TLSVersion.TLSv1_2)
        allowed = [each for each in allowed if each not in useless] or allowed
    return allowed


def _is_modern(suite: str) -> bool:
    """Whether it is a suite of TLS 1.3. All of those are secure, and Python cannot select among them."""
    return "_WITH_" not in suite


def _set_ciphers(context: ssl.SSLContext, tls: Tls, security: Security) -> None:
    names = [openssl_name(suite) for suite in tls.cipher_suites if not _is_modern(suite)]
    if not names:
        return
    try:
        context.set_ciphers(":".join(names))
    except (ssl.SSLError, ValueError):  # a null character
        raise TlsFailed(
            f"{security.key('ssl.cipher.suites')}: expected names such as "
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, found none that this machine's OpenSSL knows"
        ) from None


def openssl_name(suite: str) -> str:
    """Java's name of a cipher suite, as OpenSSL has it: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is
    ECDHE-RSA-AES128-GCM-SHA256. RSA key exchange is left out in OpenSSL's names."""
    exchange, middle, cipher = suite.removeprefix("TLS_").rpartition("_WITH_")
    if not suite.startswith("TLS_") or not middle or not exchange or not cipher:
        return suite
    cipher = re.sub(r"AES_(128|256)(_CBC)?", r"AES\1", cipher).replace("_", "-")
    cipher = cipher.replace("POLY1305-SHA256", "POLY1305")
    exchange = exchange.replace("_", "-")
    return cipher if exchange == "RSA" else f"{exchange}-{cipher}"


def _trust(context: ssl.SSLContext, store: Store | None, security: Security) -> None:
    if store is None:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(cadata=store.certificates)
    except ssl.SSLError:
        raise BadKeyMaterial(
            f"{where(store, security)}: the certificates in it cannot be parsed"
        ) from None


def _identify(context: ssl.SSLContext, store: Store, security: Security) -> None:
    """Load the key; OpenSSL reads it from a file only."""
    with key_file(KEYSTORE, f"{store.key}\n{store.certificates}".encode()) as path:
        try:
            context.load_cert_chain(path, password=store.key_password or "")
        except ssl.SSLError as e:
            mismatch = "MISMATCH" in (e.reason or "")
            why = "is not that of its certificate" if mismatch else "cannot be read"
            hint = "" if mismatch else f"; check {security.key('ssl.key.password')}"
            raise BadKeyMaterial(f"{where(store, security)}: the key {why}{hint}") from None


def where(store: Store, security: Security) -> str:
    """The setting that names a store, and the file."""
    if store.location is not None:
        return f"{security.key(f'ssl.{store.name}.location')}: {store.location}"
    inline = "certificates" if store.name == "truststore" else "certificate.chain"
    return security.key(f"ssl.{store.name}.{inline}")


class TlsTransport:
    """A socket under TLS, after its handshake. `session` says what was agreed on."""

    def __init__(
        self, wrapped: ssl.SSLSocket, explain: Callable[[ssl.SSLError], Exception]
    ) -> None:
        self.wants_write = False
        self._socket = wrapped
        self._explain = explain
        self._unsent: memoryview | bytes | None = None
        self.fileno = wrapped.fileno
        self.close = wrapped.close

    @property
    def session(self) -> TlsSession:
        cipher = self._socket.cipher()
        return TlsSession(
            protocol=self._socket.version() or "",
            cipher=cipher[0] if cipher else "",
            certificate=read_certificate(self._socket.getpeercert(binary_form=True)),
        )

    @property
    def certificate_ends(self) -> float | None:
        found = read_certificate(self._socket.getpeercert(binary_form=True))
        return None if found is None else found.expires_ms / 1000

    def receive(self, buffer: memoryview) -> int | None:
        self.wants_write = False
        try:
            return self._socket.recv_into(buffer)
        except ssl.SSLWantReadError:
            return None
        except ssl.SSLWantWriteError:
            self.wants_write = True
            return None
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return 0
        except ssl.SSLError as e:
            raise self._explain(e) from e

    def send(self, pieces: Sequence[memoryview]) -> int | None:
        # OpenSSL requires the same data again after an incomplete send.
        data = self._unsent if self._unsent is not None else _joined(pieces)
        self._unsent = data
        try:
            sent = self._socket.send(data)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return None
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as e:
            raise ConnectionResetError("closed") from e
        except ssl.SSLError as e:
            raise self._explain(e) from e
        self._unsent = None
        return sent


def _joined(pieces: Sequence[memoryview]) -> memoryview | bytes:
    if len(pieces[0]) >= _JOIN_BYTES or len(pieces) == 1:
        return pieces[0][:_CHUNK_BYTES]
    small, size = [], 0
    for piece in pieces:
        small.append(piece)
        size += len(piece)
        if size >= _JOIN_BYTES:
            break
    return b"".join(small) if size <= _CHUNK_BYTES else b"".join(small[:-1])


def shake_hands(
    connected: socket.socket,
    context: ssl.SSLContext,
    security: Security,
    *,
    host: str,
    address: str,
    prefix: str = "",
    timeout: float,
    stopped: Callable[[], bool],
) -> TlsTransport:
    """TLS over a connected socket that does not block. Raises TlsFailed, or ConnectionLost."""

    def explain(error: ssl.SSLError) -> Exception:
        failed = TlsFailed(f"{prefix}{address}: {_reason(error, security, host)}")
        if isinstance(error, ssl.SSLCertVerificationError):
            failed.verify_code = error.verify_code
        return failed

    wrapped = context.wrap_socket(connected, server_hostname=host, do_handshake_on_connect=False)
    try:
        _finish_handshake(wrapped, address, time.monotonic() + timeout, stopped)
    except ssl.SSLError as e:
        wrapped.close()
        raise explain(e) from e
    except BaseException:
        wrapped.close()
        raise
    return TlsTransport(wrapped, explain)


def _finish_handshake(
    wrapped: ssl.SSLSocket, address: str, deadline: float, stopped: Callable[[], bool]
) -> None:
    poller = select.poll()
    while True:
        try:
            wrapped.do_handshake()
            return
        except ssl.SSLWantReadError:
            poller.register(wrapped, select.POLLIN)
        except ssl.SSLWantWriteError:
            poller.register(wrapped, select.POLLOUT)
        except ssl.SSLEOFError:
            raise _gone(address) from None
        except ssl.SSLError:
            raise
        except OSError:
            raise _gone(address) from None
        poller.poll(_STOP_CHECK_SECONDS * 1000)
        if stopped():
            raise Interrupted(f"{address}: stopped during the TLS handshake")
        if time.monotonic() > deadline:
            raise ConnectionLost(f"{address}: accepts connections, but the TLS handshake timed out")


def _gone(address: str) -> ConnectionLost:
    return ConnectionLost(
        f"{address}: the connection was closed during the TLS handshake; the broker may be stopping, or the "
        "listener has no TLS"
    )


def _reason(error: ssl.SSLError, security: Security, host: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _distrust(error, security, host)
    reason = (error.reason or str(error)).upper()
    if reason in (
        "WRONG_VERSION_NUMBER",
        "HTTP_REQUEST",
        "PACKET_LENGTH_TOO_LONG",
        "RECORD_LAYER_FAILURE",
    ):
        without = "PLAINTEXT" if security.sasl is None else "SASL_PLAINTEXT"
        return (
            f"expected TLS, as {security.key('security.protocol')} says, found a listener without it; use a "
            f"port with TLS, or {without} (Strimzi: leave tls out)"
        )
    if "PROTOCOL" in reason:
        return (
            f"no version of TLS in common ({reason}); check {security.key('ssl.enabled.protocols')}"
        )
    if "CERTIFICATE" in reason or "UNKNOWN_CA" in reason:
        return _refused(reason, security)
    if "HANDSHAKE_FAILURE" in reason or "CIPHER" in reason:
        return (
            f"the TLS handshake failed ({reason}): no cipher suite in common "
            f"({security.key('ssl.cipher.suites')}), or the broker wants a certificate "
            f"({security.key('ssl.keystore.location')})"
        )
    return f"TLS failed: {reason}"


def _refused(reason: str, security: Security) -> str:
    keystore = security.tls.keystore if security.tls is not None else None
    if keystore is None:
        return (
            f"the broker wants a certificate of this client ({reason}); set "
            f"{security.key('ssl.keystore.location')}"
        )
    return f"the broker refuses the certificate of {where(keystore, security)} ({reason})"


def _distrust(error: ssl.SSLCertVerificationError, security: Security, host: str) -> str:
    truststore = security.tls.truststore if security.tls is not None else None
    trusted = (
        f"what this machine trusts; set {security.key('ssl.truststore.location')}"
        if truststore is None
        else where(truststore, security)
    )
    code = error.verify_code
    if code in _WRONG_HOST:
        setting = security.key("ssl.endpoint.identification.algorithm")
        return (
            f"the broker's certificate is not for {host!r} ({setting}=https): use a name that "
            "is in the certificate, in bootstrap.servers and the brokers' advertised.listeners"
        )
    if code == _EXPIRED:
        return "the broker's certificate, or one above it, has expired; renew it on the broker"
    if code == _NOT_YET_VALID:
        return "the broker's certificate is not valid yet; check this machine's clock"
    if code in _UNTRUSTED:
        kind = "is self-signed and not" if code == _SELF_SIGNED else "is signed by no authority"
        return f"the broker's certificate {kind} in {trusted}"
    return f"the broker's certificate is not trusted: {error.verify_message} ({trusted})"
