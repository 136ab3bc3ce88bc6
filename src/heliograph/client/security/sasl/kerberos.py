"""GSSAPI (RFC 4752): login with a Kerberos ticket. Needs the extra `kerberos`.

With a keytab, tickets are requested as needed; without one, the user's ticket cache (kinit) is used.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from heliograph.client.security.key_files import KEYTAB, key_file
from heliograph.errors import BadKeyMaterial, LoginFailed
from heliograph.security import Kerberos

#: No security layer, maximum message size 0: TLS, if any, is below.
_NO_LAYER = b"\x01\x00\x00\x00"


class Gssapi:
    def __init__(self, credentials: Kerberos, host: str) -> None:
        self._credentials = credentials
        self._host = host
        self._gssapi = _library()
        self._context: Any = None
        self._said = False

    def start(self) -> bytes:
        try:
            if self._credentials.keytab_content is None:
                return self._first(self._credentials.keytab)
            content = base64.b64decode(self._credentials.keytab_content)
            with key_file(KEYTAB, content) as path:
                return self._first(path)  # tickets are requested here
        except self._gssapi.exceptions.GSSError as e:
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

    def _first(self, keytab: str | None) -> bytes:
        gssapi = self._gssapi
        service = f"{self._credentials.service}@{self._host}"
        self._context = gssapi.SecurityContext(
            name=gssapi.Name(service, gssapi.NameType.hostbased_service),
            creds=self._credential(keytab),
            usage="initiate",
            mech=gssapi.MechType.kerberos,
            flags=gssapi.RequirementFlag.mutual_authentication,
        )
        return bytes(self._context.step() or b"")

    def _credential(self, keytab: str | None) -> Any:
        gssapi, principal, name = self._gssapi, self._credentials.principal, None
        if principal is not None:
            name = gssapi.Name(principal, gssapi.NameType.kerberos_principal)
        if keytab is None:
            return None if name is None else gssapi.Credentials(name=name, usage="initiate")
        if not Path(keytab).is_file():
            raise BadKeyMaterial(f"keyTab {keytab}: no such file")
        # A cache in memory for this principal, so that the user's own cache stays unchanged.
        store = {"client_keytab": keytab, "ccache": f"MEMORY:heliograph-{principal or ''}"}
        return gssapi.Credentials(name=name, usage="initiate", store=store)

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
