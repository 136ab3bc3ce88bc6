"""SASL mechanisms.

A mechanism object serves one login. It raises LoginFailed if credentials cannot be obtained, or if the
broker does not prove its identity.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from heliograph.client.security.opening import allow, allowed_file
from heliograph.client.security.sasl.aws import AwsMskIam
from heliograph.client.security.sasl.kerberos import Gssapi
from heliograph.client.security.sasl.oauthbearer import OAuthBearer
from heliograph.client.security.sasl.plain import Plain
from heliograph.client.security.sasl.scram import Scram
from heliograph.security import JAAS, AwsIam, Kerberos, Password, Security, locations


class Mechanism(Protocol):
    def start(self) -> bytes:
        """The client's first message."""
        ...

    def answer(self, challenge: bytes) -> bytes | None:
        """The client's next message; None if the exchange is complete."""
        ...


def new_mechanism(security: Security, host: str) -> Mechanism:
    """A mechanism for a login at the broker `host`. Raises BadKeyMaterial if the worker does not permit
    it."""
    sasl = security.sasl
    assert sasl is not None
    credentials = sasl.credentials
    for location in locations(replace(security, tls=None)):
        allow(location, security)
    if isinstance(credentials, Password):
        if sasl.mechanism == "PLAIN":
            return Plain(credentials)
        return Scram(sasl.mechanism, credentials)
    if isinstance(credentials, Kerberos):
        if credentials.keytab is not None and credentials.keytab_content is None:
            setting = f"{security.key(JAAS)}: keyTab"
            keytab = allowed_file(credentials.keytab, setting, security)
            credentials = replace(credentials, keytab=keytab)
        return Gssapi(credentials, host)
    if isinstance(credentials, AwsIam) and sasl.mechanism == "AWS_MSK_IAM":
        return AwsMskIam(credentials, host)
    return OAuthBearer(credentials, host, security)
