"""Reads JKS, Java's key store format up to JDK 8 (`sun.security.provider.JavaKeyStore`).

    magic FEEDFEED · INT32 version · INT32 entries · entry… · SHA-1 of it all

    entry  INT32 tag · UTF alias · INT64 date · key (tag 1): INT32 size, bytes · INT32 certificates
                                                certificate (tag 2)
    certificate  [UTF type] · INT32 size · bytes            the type from version 2 on

A key is a PKCS #8 EncryptedPrivateKeyInfo around Sun's own cipher: a stream of SHA-1 sums.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass

MAGIC = b"\xfe\xed\xfe\xed"
_SALT = b"Mighty Aphrodite"
#: DER of 1.3.6.1.4.1.42.2.17.1.1, Sun's key protector.
_PROTECTOR = bytes.fromhex("060a2b060104012a02110101")
_DIGEST = hashlib.sha1(usedforsecurity=False).digest_size
_KEY, _CERTIFICATE = 1, 2


class WrongPassword(ValueError):
    """The checksum does not match: another password, or altered bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JksEntry:
    """DER. `key` is still protected; a trusted certificate has none and a chain of one."""

    chain: tuple[bytes, ...]
    key: bytes | None = None


def read_jks(data: bytes, password: str | None) -> list[JksEntry]:
    """Raises WrongPassword, or ValueError for bytes that are not JKS. As in Java, the checksum is not
    verified without a password."""
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if password is not None and not hmac.compare_digest(_digest(password, _SALT + body), digest):
        raise WrongPassword("wrong password, or the file was altered")
    try:
        return _Reader(body).entries()
    except (struct.error, IndexError) as e:
        raise ValueError("truncated, or not JKS") from e


def unprotect(protected: bytes, password: str) -> bytes:
    """The PKCS #8 key in a key entry. Raises WrongPassword, or ValueError for another cipher."""
    at = protected.find(_PROTECTOR)
    if not 0 <= at < 32:
        raise ValueError("the key is not protected as in a JKS")
    sealed = _octets(protected, at + len(_PROTECTOR) + 2)  # behind the NULL parameters
    iv, cipher, check = sealed[:_DIGEST], sealed[_DIGEST:-_DIGEST], sealed[-_DIGEST:]
    stream, plain = iv, bytearray()
    for start in range(0, len(cipher), _DIGEST):
        stream = _digest(password, stream)
        part = cipher[start : start + _DIGEST]
        plain += bytes(a ^ b for a, b in zip(part, stream, strict=False))
    if not hmac.compare_digest(_digest(password, bytes(plain)), check):
        raise WrongPassword("wrong password of the key")
    return bytes(plain)


def _digest(password: str, data: bytes) -> bytes:
    return hashlib.sha1(password.encode("utf-16-be") + data, usedforsecurity=False).digest()


def _octets(der: bytes, at: int) -> bytes:
    """The content of the DER octet string at `at`."""
    if der[at] != 4:
        raise ValueError("the key is not protected as in a JKS")
    size, at = der[at + 1], at + 2
    if size & 0x80:
        length = size & 0x7F
        size, at = int.from_bytes(der[at : at + length], "big"), at + length
    return der[at : at + size]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = len(MAGIC)
        self._version = self._int()

    def entries(self) -> list[JksEntry]:
        if self._data[: len(MAGIC)] != MAGIC or self._version not in (1, 2):
            raise ValueError("not a JKS of version 1 or 2")
        return [self._entry() for _ in range(self._int())]

    def _entry(self) -> JksEntry:
        tag = self._int()
        self._utf()
        self._take(8)
        if tag == _CERTIFICATE:
            return JksEntry(chain=(self._certificate(),))
        if tag != _KEY:
            raise ValueError(f"an entry of unknown type {tag}")
        key = self._take(self._int())
        return JksEntry(key=key, chain=tuple(self._certificate() for _ in range(self._int())))

    def _certificate(self) -> bytes:
        if self._version == 2:
            self._utf()
        return self._take(self._int())

    def _utf(self) -> bytes:
        (size,) = struct.unpack_from(">H", self._data, self._at)
        self._at += 2
        return self._take(size)

    def _int(self) -> int:
        (value,) = struct.unpack_from(">i", self._data, self._at)
        self._at += 4
        return int(value)

    def _take(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._data):
            raise IndexError(self._at)
        self._at += size
        return self._data[self._at - size : self._at]
