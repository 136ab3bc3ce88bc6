"""Reads truststores and keystores (JKS, PKCS12, PEM) and converts them to PEM.

The driver reads them and ships the PEM with the configuration, so that executors on other machines need no
file. JKS and PKCS12 are distinguished by the file's content, as in Java since version 9: keytool writes
PKCS12 to files named .jks.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

from heliograph.client.security import jks
from heliograph.client.security.key_derivation import TooMuchWork, check_encrypted_key, check_pkcs12
from heliograph.client.security.opening import read_file
from heliograph.client.security.pem import pem_block, pem_blocks, pem_content
from heliograph.errors import BadKeyMaterial
from heliograph.security import JAAS, Kerberos, Secret, Security, Store, Tls, TokenEndpoint

_PKCS12_VERSION = b"\x02\x01\x03"
_JCEKS_MAGIC = b"\xce\xce\xce\xce"


def with_material(security: Security) -> Security:
    """The same security with its files read. Raises BadKeyMaterial."""
    if security.tls is None:
        return security
    return replace(security, tls=_with_stores(security.tls, security))


def shippable(security: Security) -> Security:
    """The same security with the content of all files that other machines may lack: stores, those of a token
    endpoint, and a keytab.

    Not the file of a token, which is renewed in place. Raises BadKeyMaterial.
    """
    security = with_material(security)
    sasl = security.sasl
    if sasl is None:
        return security
    credentials = sasl.credentials
    if isinstance(credentials, TokenEndpoint):
        credentials = replace(credentials, tls=_with_stores(credentials.tls, security))
    elif isinstance(credentials, Kerberos) and credentials.keytab is not None:
        content = read_file(credentials.keytab, f"{security.key(JAAS)}: keyTab", security)
        encoded = Secret(base64.b64encode(content).decode())
        credentials = replace(credentials, keytab_content=encoded)
    return replace(security, sasl=replace(sasl, credentials=credentials))


#: Modification time, size and inode of files, by path; None: there is no such file.
Stamps = Mapping[str, tuple[int, int, int] | None]


def stamps(security: Security) -> Stamps:
    """Shows whether a file was replaced. Leaves out files whose content was read already."""
    sasl = security.sasl
    credentials = None if sasl is None else sasl.credentials
    tls = [security.tls]
    paths = []
    if isinstance(credentials, TokenEndpoint):
        tls.append(credentials.tls)
    elif isinstance(credentials, Kerberos) and credentials.keytab_content is None:
        paths.append(credentials.keytab)
    for each in tls:
        stores = () if each is None else (each.truststore, each.keystore)
        paths += [store.location for store in stores if store is not None and not store.is_read]
    return {path: _stamp(path) for path in paths if path is not None}


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None  # reading it reports why
    return found.st_mtime_ns, found.st_size, found.st_ino


def _with_stores(tls: Tls, security: Security) -> Tls:
    return replace(
        tls,
        truststore=_read(tls.truststore, security),
        keystore=_read(tls.keystore, security),
    )


def _read(store: Store | None, security: Security) -> Store | None:
    if store is None:
        return None
    return _StoreReader(store, security).read()


class _StoreReader:
    def __init__(self, store: Store, security: Security) -> None:
        self._store = store
        self._security = security
        self._where = self._setting("location")
        if store.location is not None:
            self._where = f"{self._where}: {store.location}"

    def read(self) -> Store:
        store = self._store
        if store.is_read:
            if store.location is not None:
                return store  # the driver has read it
            self._where = self._setting("certificates")
            return self._of_pem(f"{store.key or ''}\n{store.certificates}")
        assert store.location is not None
        data = read_file(store.location, self._setting("location"), self._security)
        found = _format(data)
        expected = ("PEM",) if store.type == "PEM" else ("JKS", "PKCS12")
        if found not in expected:
            raise BadKeyMaterial(
                f"{self._where}: expected {' or '.join(expected)}, as {self._setting('type')} is "
                f"{store.type}, found {found}"
            )
        if found == "PEM":
            return self._of_pem(data.decode("ascii", errors="replace"))
        return self._of_jks(data) if found == "JKS" else self._of_pkcs12(data)

    # ── formats ──────────────────────────────────────────────────────────────────────────────

    def _of_pem(self, text: str) -> Store:
        blocks = pem_blocks(text)
        certificates = [block for label, block in blocks if label.endswith("CERTIFICATE")]
        keys = [block for label, block in blocks if label.endswith("PRIVATE KEY")]
        self._bound_work(block for label, block in blocks if label == "ENCRYPTED PRIVATE KEY")
        return self._result(certificates, keys[0] if keys else None, self._store.key_password)

    def _bound_work(self, keys: Iterable[str]) -> None:
        for key in keys:
            try:
                check_encrypted_key(pem_content(key))
            except TooMuchWork as e:
                raise BadKeyMaterial(f"{self._where}: the key {e}") from None
            except ValueError:
                raise BadKeyMaterial(f"{self._where}: the key in it is broken") from None

    def _of_jks(self, data: bytes) -> Store:
        try:
            entries = jks.read_jks(data, self._store.password)
        except jks.WrongPassword:
            raise self._wrong_password() from None
        except ValueError as e:
            raise BadKeyMaterial(f"{self._where}: not a valid JKS: {e}") from None
        if self._store.name == "truststore":
            return self._result([_certificate(entry.chain[0]) for entry in entries if entry.chain])
        for entry in entries:
            if entry.key is not None:
                key = _pem("PRIVATE KEY", self._unprotected(entry.key))
                return self._result(map(_certificate, entry.chain), key)
        raise self._lacks("a key")

    def _unprotected(self, protected: bytes) -> bytes:
        password = self._store.key_password or self._store.password or ""
        try:
            return jks.unprotect(protected, password)
        except ValueError as e:
            setting = self._setting("key.password", prefix="ssl.")
            raise BadKeyMaterial(
                f"{self._where}: the key cannot be read: {e}; check {setting}"
            ) from None

    def _of_pkcs12(self, data: bytes) -> Store:
        password = self._store.password
        try:
            check_pkcs12(data)
        except TooMuchWork as e:
            raise BadKeyMaterial(f"{self._where}: the store {e}") from None
        try:
            found = load_pkcs12(data, None if password is None else password.encode())
        except ValueError:
            raise self._wrong_password() from None
        others = [each.certificate for each in found.additional_certs]
        own = [found.cert.certificate] if found.cert is not None else []
        if self._store.name == "truststore":
            return self._result(map(_x509_pem, [*own, *others]))
        if found.key is None or not own:
            raise self._lacks("a key")
        key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return self._result(map(_x509_pem, _chain(own[0], others)), key)

    # ── results and errors ────────────────────────────────────────────────────────────────────────────────

    def _result(
        self,
        certificates: Iterable[str],
        key: str | None = None,
        key_password: Secret | None = None,
    ) -> Store:
        text = "".join(certificates)
        if not text:
            raise self._lacks("a certificate")
        if self._store.name == "keystore" and key is None:
            raise self._lacks("a key")
        return replace(
            self._store,
            certificates=Secret(text),
            key=None if key is None else Secret(key),
            key_password=key_password,
        )

    def _lacks(self, what: str) -> BadKeyMaterial:
        return BadKeyMaterial(
            f"{self._where}: expected {what} in this {self._store.name}, found none"
        )

    def _wrong_password(self) -> BadKeyMaterial:
        setting = self._setting("password")
        wrong = "is not its password" if self._store.password is not None else "is missing"
        return BadKeyMaterial(f"{self._where}: cannot be opened: {setting} {wrong}")

    def _setting(self, name: str, prefix: str | None = None) -> str:
        if name == "certificates" and self._store.name == "keystore":
            name = "certificate.chain"
        return self._security.key(f"{prefix or f'ssl.{self._store.name}.'}{name}")


def _format(data: bytes) -> str:
    if data.startswith(jks.MAGIC):
        return "JKS"
    if data.startswith(_JCEKS_MAGIC):
        return "JCEKS"
    if data[:1] == b"\x30":
        return "PKCS12" if _PKCS12_VERSION in data[2:9] else "DER, such as a single certificate"
    return "PEM" if b"-----BEGIN " in data else "none of JKS, PKCS12 and PEM"


def _chain(leaf: x509.Certificate, others: list[x509.Certificate]) -> list[x509.Certificate]:
    """The chain from the leaf upwards; a PKCS12 file has no order."""
    chain = [leaf]
    while chain[-1].issuer != chain[-1].subject:
        above = [each for each in others if each.subject == chain[-1].issuer and each not in chain]
        if not above:
            break
        chain.append(above[0])
    return chain


def _x509_pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _certificate(der: bytes) -> str:
    return ssl.DER_cert_to_PEM_cert(der)


def _pem(label: str, der: bytes) -> str:
    return pem_block(label, base64.b64encode(der).decode())
