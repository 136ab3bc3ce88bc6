"""Limits the work that an encrypted key or store demands before its password can be tried.

The file says how often the password is hashed (PBKDF2, RFC 8018; PKCS12, RFC 7292; scrypt, RFC 7914), up to
days of CPU. The libraries that decrypt obey, so the number is checked before.

    EncryptedPrivateKeyInfo ::= SEQUENCE { AlgorithmIdentifier, OCTET STRING }
    AlgorithmIdentifier     ::= SEQUENCE { OID, SEQUENCE { OCTET STRING salt, INTEGER iterations, … } }
    PFX                     ::= SEQUENCE { INTEGER, authSafe, SEQUENCE { DigestInfo, OCTET STRING, INTEGER } }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

#: keytool uses 10,000, OpenSSL 2,048, password managers up to a million. This many take about two seconds.
MOST_ITERATIONS = 2_000_000
#: Of scrypt: cost, block size and parallelization, multiplied; OpenSSL uses 2^17.
_MOST_SCRYPT = 1 << 21

_INTEGER, _OCTETS, _OID, _SEQUENCE = 0x02, 0x04, 0x06, 0x30
_SCRYPT = bytes.fromhex("2b06010401da47040b")
_PBE = (bytes.fromhex("2a864886f70d0105"), bytes.fromhex("2a864886f70d010c01"))
_DEEPEST = 32


class TooMuchWork(ValueError):
    """The message completes a sentence that begins with "the key" or "the store"."""


class _Element(NamedTuple):
    tag: int
    content: bytes


def check_encrypted_key(der: bytes) -> None:
    """Check an encrypted PKCS8 key. Raises TooMuchWork; ValueError if it is not DER."""
    outer = list(_elements(der))
    if len(outer) != 1 or outer[0].tag != _SEQUENCE:
        raise ValueError("not an encrypted key")
    algorithm = next(_elements(outer[0].content), None)
    if algorithm is None or algorithm.tag != _SEQUENCE:
        raise ValueError("not an encrypted key")
    _check(algorithm.content, 0)


def check_pkcs12(der: bytes) -> None:
    """Check the unencrypted part of a store. Raises TooMuchWork; the caller's parser reports broken DER."""
    try:
        (store,) = _elements(der)
        parts = list(_elements(store.content))
        _check(der, 0)
        mac = list(_elements(parts[2].content)) if len(parts) > 2 else []
    except TooMuchWork:
        raise
    except ValueError:
        return
    if len(mac) > 2 and mac[2].tag == _INTEGER:
        _check_iterations(mac[2])


def _check(content: bytes, depth: int) -> None:
    """Check every algorithm in `content`, also inside octet strings that hold DER, as in stores."""
    if depth > _DEEPEST:
        raise TooMuchWork("is nested too deeply")
    elements = list(_elements(content))
    for at, element in enumerate(elements):
        if element.tag == _OID and at + 1 < len(elements):
            _check_algorithm(element.content, elements[at + 1])
        if element.tag & 0x20:
            _check(element.content, depth + 1)
        elif element.tag == _OCTETS and element.content[:1] == bytes([_SEQUENCE]):
            try:
                _check(element.content, depth + 1)
            except TooMuchWork:
                raise
            except ValueError:
                continue  # not DER: encrypted, for example


def _check_algorithm(oid: bytes, parameters: _Element) -> None:
    if parameters.tag != _SEQUENCE or not (oid == _SCRYPT or oid.startswith(_PBE)):
        return
    numbers = [each for each in _elements(parameters.content) if each.tag == _INTEGER]
    if oid == _SCRYPT:
        work = 1
        for each in numbers[:3]:
            work *= _number(each)
        if work > _MOST_SCRYPT:
            raise TooMuchWork("demands more work by scrypt than any password needs")
    elif numbers:
        _check_iterations(numbers[0])


def _check_iterations(element: _Element) -> None:
    if _number(element) > MOST_ITERATIONS:
        raise TooMuchWork(f"has its password hashed more than {MOST_ITERATIONS:,} times")


def _number(element: _Element) -> int:
    if len(element.content) > 16:
        raise TooMuchWork("demands more work than any password needs")
    return int.from_bytes(element.content, "big")  # a negative one counts as large


def _elements(data: bytes) -> Iterator[_Element]:
    """Definite lengths only, as DER has them. Raises ValueError."""
    at = 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1] if at + 1 < len(data) else 0x80, at + 2
        if tag & 0x1F == 0x1F or length == 0x80:
            raise ValueError("not DER")
        if length > 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(data[at : at + size], "big"), at + size
        if length > len(data) - at:
            raise ValueError("not DER: truncated")
        yield _Element(tag, data[at : at + length])
        at += length
