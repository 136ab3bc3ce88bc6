"""GSSAPI (RFC 4752): a Kerberos ticket says who we are. Needs the extra `kerberos`.

With a keytab tickets are taken as needed; without one, those of this user's cache (kinit) serve.
"""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import Any

from heliograph.errors import BadKeyMaterial, LoginFailed
from heliograph.security import Kerberos, Security

#: No security layer: TLS, if any, is below us. The size is that of a layer which is not there.
_NO_LAYER = b"\x01\x00\x00\x00"


class Gssapi:
    def __init__(self, credentials: Kerberos, host: str, security: Security) -> None:
        self._credentials = credentials
        self._host = host
        self._security = security
        self._gssapi = _library()
        self._context: Any = None
        self._said = False

    def start(self) -> bytes:
        gssapi = self._gssapi
        try:
            name = gssapi.Name(
                f"{self._credentials.service}@{self._host}", gssapi.NameType.hostbased_service
            )
            self._context = gssapi.SecurityContext(
                name=name,
                creds=self._credential(),
                usage="initiate",
                mech=gssapi.MechType.kerberos,
                flags=gssapi.RequirementFlag.mutual_authentication,
            )
            return bytes(self._context.step() or b"")
        except gssapi.exceptions.GSSError as e:
            raise self._failed(e) from e

    def answer(self, challenge: bytes) -> bytes | None:
        try:
            if self._said:
                return None
            if not self._context.complete:
                return bytes(self._context.step(challenge) or b"")
            self._context.unwrap(challenge)  # the layers the broker offers; it must offer none
            self._said = True
            principal = str(self._context.initiator_name)
            return bytes(self._context.wrap(_NO_LAYER + principal.encode(), False).message)
        except self._gssapi.exceptions.GSSError as e:
            raise self._failed(e) from e

    def _credential(self) -> Any:
        gssapi, given = self._gssapi, self._credentials
        name = None
        if given.principal is not None:
            name = gssapi.Name(given.principal, gssapi.NameType.kerberos_principal)
        if given.keytab is None:
            return gssapi.Credentials(name=name, usage="initiate") if name is not None else None
        if given.keytab_content is None:
            return self._from_keytab(name, given.keytab)
        with tempfile.TemporaryDirectory(prefix="heliograph-") as folder:
            path = Path(folder, "keytab")
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(base64.b64decode(given.keytab_content))
            return self._from_keytab(name, str(path))

    def _from_keytab(self, name: Any, path: str) -> Any:
        if not Path(path).is_file():
            setting = self._security.key("sasl.jaas.config")
            raise BadKeyMaterial(f"{setting}: keyTab {path}: no such file")
        store = {"client_keytab": path, "ccache": "MEMORY:heliograph"}
        return self._gssapi.Credentials(name=name, usage="initiate", store=store)

    def _failed(self, error: Exception) -> LoginFailed:
        words = " ".join(str(error).split())
        return LoginFailed(f"GSSAPI: {self._credentials.service}@{self._host}: {words}")


def _library() -> Any:
    try:
        import gssapi
        import gssapi.exceptions
    except (ImportError, OSError):
        raise LoginFailed(
            "GSSAPI needs python-gssapi and Kerberos' own library; install heliograph[kerberos]"
        ) from None
    return gssapi
