"""Authorities and certificates, made within milliseconds."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from heliograph.machine.java import require_java

DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Identity:
    certificate: x509.Certificate
    private: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key(self, password: str | None = None) -> str:
        how = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()


class Authority:
    """Signs what it is asked to; `identity` is its own certificate."""

    def __init__(self, name: str) -> None:
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.identity = self._sign(self._name, self._key, (), 30 * DAY, authority=True)

    def issue(self, name: str, hosts: Sequence[str] = (), life: timedelta = 10 * DAY) -> Identity:
        """A negative `life` is over."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._sign(subject, ec.generate_private_key(ec.SECP256R1()), hosts, life)

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        hosts: Sequence[str],
        life: timedelta,
        *,
        authority: bool = False,
    ) -> Identity:
        end = datetime.now(UTC) + life
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(end, datetime.now(UTC)) - DAY)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if hosts:
            names = [_alternative(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return Identity(certificate=builder.sign(self._key, SHA256()), private=key)


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def keytool(*arguments: str | Path) -> None:
    tool = require_java().parent / "keytool"
    command = [str(tool), "-J-XX:TieredStopAtLevel=1", *map(str, arguments), "-noprompt"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
