"""An encrypted key that demands days of work is refused before any of it is done."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from harness.certificates import Authority
from heliograph.client.security.key_derivation import (
    MOST_ITERATIONS,
    TooMuchWork,
    check_encrypted_key,
    check_pkcs12,
)
from heliograph.client.security.key_stores import with_material
from heliograph.client.security.tls import new_context
from heliograph.errors import BadKeyMaterial
from heliograph.security import Secret, Security, Store, Tls

PBES2, PBKDF2, SCRYPT = "2a864886f70d01050d", "2a864886f70d01050c", "2b06010401da47040b"
SHA1_3DES = "2a864886f70d010c0103"
AES_256_CBC = "60864801650304012a"
FOREVER = 2**31 - 1


def der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


def oid(hexadecimal: str) -> bytes:
    return der(0x06, bytes.fromhex(hexadecimal))


def integer(number: int) -> bytes:
    return der(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def sequence(*parts: bytes) -> bytes:
    return der(0x30, *parts)


def octets(content: bytes) -> bytes:
    return der(0x04, content)


def encrypted(derivation: str, *numbers: int) -> bytes:
    kdf = sequence(oid(derivation), sequence(octets(b"saltsalt"), *map(integer, numbers)))
    scheme = sequence(oid(PBES2), sequence(kdf, sequence(oid(AES_256_CBC), octets(bytes(16)))))
    return sequence(scheme, octets(bytes(64)))


@pytest.fixture(scope="module")
def key() -> PrivateKeyTypes:
    return Authority("ours").identity.private


@pytest.mark.parametrize(
    "data",
    [
        encrypted(PBKDF2, FOREVER),
        encrypted(PBKDF2, 2**200),
        encrypted(SCRYPT, 2**14, 8, 2**20),
        sequence(
            sequence(oid(SHA1_3DES), sequence(octets(b"salt"), integer(FOREVER))), octets(b"x")
        ),
    ],
)
def test_a_key_that_asks_for_too_much_is_refused(data: bytes) -> None:
    with pytest.raises(TooMuchWork):
        check_encrypted_key(data)

    pem = base64.b64encode(data).decode()
    store = Store(
        name="keystore",
        type="PEM",
        key=Secret(
            f"-----BEGIN ENCRYPTED PRIVATE KEY-----{pem}-----END ENCRYPTED PRIVATE KEY-----"
        ),
        certificates=Secret(Authority("ours").identity.pem),
        key_password=Secret("x"),
    )
    with pytest.raises(
        BadKeyMaterial, match=r"the key (has its password hashed|demands more work)"
    ):
        new_context(with_material(Security(tls=Tls(keystore=store))))


def test_a_length_that_der_does_not_have_hides_nothing() -> None:
    """OpenSSL reads BER, too, where lengths may be left open."""
    content = encrypted(PBKDF2, FOREVER)[4:]
    with pytest.raises(ValueError, match="not DER"):
        check_encrypted_key(b"\x30\x80" + content + b"\0\0")


def test_keys_and_stores_as_they_are_made_are_taken(key: PrivateKeyTypes) -> None:
    protection = BestAvailableEncryption(b"hush")
    check_encrypted_key(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, protection))
    check_encrypted_key(encrypted(PBKDF2, MOST_ITERATIONS))
    check_encrypted_key(encrypted(SCRYPT, 2**14, 8, 1))
    check_pkcs12(serialize_key_and_certificates(b"a", key, None, None, protection))  # type: ignore[arg-type]


def test_a_store_that_asks_for_too_much_is_refused(key: PrivateKeyTypes) -> None:
    rounds = PrivateFormat.PKCS12.encryption_builder().kdf_rounds(20_000)
    usual = serialize_key_and_certificates(b"a", key, None, None, rounds.build(b"hush"))  # type: ignore[arg-type]
    count, most = (20_000).to_bytes(2, "big"), (2**15).to_bytes(2, "big")
    assert usual.count(b"\x02\x02" + count) >= 1

    check_pkcs12(usual)
    check_pkcs12(usual.replace(count, most))
    mac = sequence(
        integer(3),
        sequence(oid("2a864886f70d010701")),
        sequence(sequence(), octets(b"salt"), integer(FOREVER)),
    )
    for endless in (mac, sequence(integer(3), octets(encrypted(PBKDF2, FOREVER)))):
        with pytest.raises(TooMuchWork):
            check_pkcs12(endless)
