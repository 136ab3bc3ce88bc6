"""Stores as Java's keytool and OpenSSL make them."""

from __future__ import annotations

import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from harness.certificates import Authority, Identity, keytool
from heliograph.client.security.key_stores import shippable, with_material
from heliograph.client.security.tls import new_context
from heliograph.errors import BadKeyMaterial
from heliograph.security import Kerberos, Sasl, Secret, Security, Store, Tls

PASSWORD = Secret("hush hush")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ours")


@pytest.fixture(scope="module")
def identity(authority: Authority) -> Identity:
    return authority.issue("mirror")


@pytest.fixture(scope="module")
def stores(
    authority: Authority, identity: Identity, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """ca.pem, trust.jks, trust.p12, key.p12, key.jks, all of the same authority and identity."""
    folder = tmp_path_factory.mktemp("stores")
    (folder / "ca.pem").write_text(authority.identity.pem)
    (folder / "key.pem").write_text(identity.key() + identity.pem + authority.identity.pem)
    key = serialize_key_and_certificates(
        b"mirror",
        identity.private,
        identity.certificate,
        [authority.identity.certificate],
        BestAvailableEncryption(PASSWORD.encode()),
    )
    (folder / "key.p12").write_bytes(key)
    for kind, name in (("JKS", "trust.jks"), ("PKCS12", "trust.p12")):
        keytool(
            *("-importcert", "-alias", "ca", "-file", folder / "ca.pem", "-storetype", kind),
            *("-keystore", folder / name, "-storepass", PASSWORD),
        )
    keytool(
        *("-importkeystore", "-srckeystore", folder / "key.p12", "-srcstoretype", "PKCS12"),
        *("-srcstorepass", PASSWORD, "-destkeystore", folder / "key.jks"),
        *("-deststoretype", "JKS", "-deststorepass", PASSWORD, "-destkeypass", "another"),
    )
    return folder


def trusting(store: Store) -> Security:
    keys = (("ssl.truststore.location", "eu.ssl.truststore.location"),)
    return Security(tls=Tls(truststore=store), keys=keys)


def showing(store: Store) -> Security:
    return Security(tls=Tls(keystore=store))


def truststore(path: Path, kind: str, password: Secret | None = None) -> Store:
    return Store(name="truststore", type=kind, location=str(path), password=password)


def keystore(path: Path, kind: str, **more: Secret) -> Store:
    return Store(name="keystore", type=kind, location=str(path), **more)


@pytest.mark.parametrize(
    ("name", "kind", "password"),
    [
        ("ca.pem", "PEM", None),
        ("trust.jks", "JKS", PASSWORD),
        ("trust.jks", "JKS", None),
        ("trust.p12", "PKCS12", PASSWORD),
        ("trust.p12", "JKS", PASSWORD),
    ],
)
def test_a_truststore_of_any_format_gives_its_certificates(
    stores: Path, authority: Authority, name: str, kind: str, password: Secret | None
) -> None:
    """keytool writes PKCS12 under any name: JKS and PKCS12 are told apart by content, as in Java."""
    security = with_material(trusting(truststore(stores / name, kind, password)))

    assert security.tls is not None
    assert security.tls.truststore is not None
    assert security.tls.truststore.certificates == authority.identity.pem
    (found,) = new_context(security).get_ca_certs()
    assert found["subject"] == ((("commonName", "ours"),),)


@pytest.mark.parametrize(
    ("name", "kind", "passwords"),
    [
        ("key.pem", "PEM", {}),
        ("key.p12", "PKCS12", {"password": PASSWORD}),
        ("key.jks", "JKS", {"password": PASSWORD, "key_password": Secret("another")}),
    ],
)
def test_a_keystore_of_any_format_gives_its_key_and_chain(
    stores: Path, authority: Authority, identity: Identity, name: str, kind: str,
    passwords: dict[str, Secret],
) -> None:  # fmt: skip
    security = with_material(showing(keystore(stores / name, kind, **passwords)))

    assert security.tls is not None
    store = security.tls.keystore
    assert store is not None
    assert store.certificates == identity.pem + authority.identity.pem
    assert store.key == identity.key()
    new_context(security)
    assert "PRIVATE" not in repr(security)


def test_pem_in_the_configuration_may_have_lost_its_line_breaks(
    authority: Authority, identity: Identity
) -> None:
    trust = Store(
        name="truststore",
        type="PEM",
        certificates=Secret(authority.identity.pem.replace("\n", " ").strip()),
    )
    own = Store(
        name="keystore",
        type="PEM",
        certificates=Secret(identity.pem.replace("\n", " ")),
        key=Secret(identity.key(PASSWORD)),
        key_password=PASSWORD,
    )

    context = new_context(with_material(Security(tls=Tls(truststore=trust, keystore=own))))

    assert len(context.get_ca_certs()) == 1


def test_a_key_leaves_nothing_on_the_disk(
    stores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file, where it needs one: test_key_files.py."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    new_context(with_material(showing(keystore(stores / "key.pem", "PEM"))))

    assert list(tmp_path.iterdir()) == []


def test_what_travels_to_executors_needs_no_file(stores: Path, tmp_path: Path) -> None:
    keytab = tmp_path / "keytab"
    keytab.write_bytes(b"\x05\x02")
    copy = tmp_path / "trust.jks"
    copy.write_bytes((stores / "trust.jks").read_bytes())
    kerberos = Sasl(mechanism="GSSAPI", credentials=Kerberos(service="k", keytab=str(keytab)))

    security = shippable(replace(trusting(truststore(copy, "JKS")), sasl=kerberos))
    copy.unlink()
    keytab.unlink()

    assert len(new_context(with_material(security)).get_ca_certs()) == 1
    assert security.sasl is not None
    assert isinstance(security.sasl.credentials, Kerberos)
    assert security.sasl.credentials.keytab_content == "BQI="


@pytest.mark.parametrize(
    ("name", "kind", "password", "sentence"),
    [
        ("trust.jks", "JKS", Secret("guess"),
         "cannot be opened: ssl.truststore.password is not its password"),
        ("trust.p12", "JKS", Secret("guess"),
         "cannot be opened: ssl.truststore.password is not its password"),
        ("trust.p12", "JKS", None, "cannot be opened: ssl.truststore.password is missing"),
        ("ca.pem", "JKS", None,
         "expected JKS or PKCS12, as ssl.truststore.type is JKS, found PEM"),
        ("trust.jks", "PEM", None, "expected PEM, as ssl.truststore.type is PEM, found JKS"),
        ("ca.der", "JKS", None, "expected JKS or PKCS12, as ssl.truststore.type is JKS, found DER, "
         "such as a single certificate"),
        ("text", "PEM", None, "expected PEM, as ssl.truststore.type is PEM, found none of JKS, "
         "PKCS12 and PEM"),
        ("cut.jks", "JKS", None, "not a valid JKS: truncated, or not JKS"),
        ("broken.pem", "PEM", None, "the certificates in it cannot be parsed"),
        ("only-key.pem", "PEM", None, "expected a certificate in this truststore, found none"),
        ("nowhere", "JKS", None, "no such file"),
    ],
)  # fmt: skip
def test_a_truststore_that_cannot_be_used_is_named_with_its_setting(
    stores: Path, authority: Authority, identity: Identity, name: str, kind: str,
    password: Secret | None, sentence: str,
) -> None:  # fmt: skip
    (stores / "ca.der").write_bytes(ssl.PEM_cert_to_DER_cert(authority.identity.pem))
    (stores / "text").write_text("hello")
    (stores / "cut.jks").write_bytes((stores / "trust.jks").read_bytes()[:100])
    (stores / "broken.pem").write_text(
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"
    )
    (stores / "only-key.pem").write_text(identity.key())

    with pytest.raises(BadKeyMaterial) as caught:
        new_context(with_material(trusting(truststore(stores / name, kind, password))))

    path = stores / name
    assert str(caught.value) == f"eu.ssl.truststore.location: {path}: {sentence}"


@pytest.mark.parametrize(
    ("name", "kind", "passwords", "sentence"),
    [
        ("key.jks", "JKS", {"password": PASSWORD},
         "the key cannot be read: wrong password of the key; check ssl.key.password"),
        ("secret.pem", "PEM", {"key_password": Secret("guess")},
         "the key cannot be read; check ssl.key.password"),
        ("secret.pem", "PEM", {}, "the key cannot be read; check ssl.key.password"),
        ("other.pem", "PEM", {}, "the key is not that of its certificate"),
        ("trust.jks", "JKS", {}, "expected a key in this keystore, found none"),
        ("trust.p12", "PKCS12", {"password": PASSWORD}, "expected a key in this keystore, found none"),
        ("ca.pem", "PEM", {}, "expected a key in this keystore, found none"),
    ],
)  # fmt: skip
def test_a_key_that_cannot_be_used_is_named_with_its_setting(
    stores: Path, authority: Authority, identity: Identity, name: str, kind: str,
    passwords: dict[str, Secret], sentence: str,
) -> None:  # fmt: skip
    (stores / "secret.pem").write_text(identity.key(PASSWORD) + identity.pem)
    (stores / "other.pem").write_text(identity.key() + authority.identity.pem)

    with pytest.raises(BadKeyMaterial) as caught:
        new_context(with_material(showing(keystore(stores / name, kind, **passwords))))

    assert str(caught.value) == f"ssl.keystore.location: {stores / name}: {sentence}"
