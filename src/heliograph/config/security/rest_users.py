"""Reads the users of the REST API and their roles: the users file, and names of client certificates.

alice = $argon2id$v=19$m=19456,t=2,p=1$…$… write     a line of `heliograph password alice --role write`
bob   = his-password                                 plain, as in Connect's file: role write, a warning
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heliograph.config.formats.properties import read_properties
from heliograph.config.security.role import Role
from heliograph.errors import ConfigError
from heliograph.security import Secret

ROLES = "rest.certificate.roles"

_ARGON2ID = re.compile(
    r"\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$[A-Za-z0-9+/]{11,512}\$[A-Za-z0-9+/]{22,512}"
)
#: RFC 9106: at least 8 for each lane. More than 1 GB is refused as a mistake.
_MEMORY_KB = (8, 1 << 20)
#: Hashes of other tools (bcrypt, crypt, Apache's). Read as plain text, the hash would be the password.
_OTHER_HASH = re.compile(
    r"\$(argon2|2[abxy]?|apr1|1|5|6|7|y|scrypt|pbkdf2)[a-z0-9-]*\$.+|\{[A-Z0-9]+\}.+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """`hashed`: `password` is an argon2id hash in its standard text form."""

    password: Secret
    role: Role = Role.WRITE
    hashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateRoles:
    """`by_subject`: whole subjects (RFC 4514); `by_common_name`: the CN alone; `others`: the role of any
    other trusted certificate, None for no role."""

    by_subject: Mapping[str, Role] = field(default_factory=dict)
    by_common_name: Mapping[str, Role] = field(default_factory=dict)
    others: Role | None = None

    def role(self, subject: str, common_name: str | None) -> Role | None:
        found = self.by_subject.get(subject)
        if found is None and common_name is not None:
            found = self.by_common_name.get(common_name)
        return self.others if found is None else found


def read_users(path: str) -> Mapping[str, User]:
    """Raises ConfigError with every problem."""
    users: dict[str, User] = {}
    problems: list[str] = []
    for name, entry in read_properties(Path(path)).properties.items():
        try:
            users[name] = _user(entry.value)
        except ValueError as e:
            problems.append(f"{path}: {name}: {e}")
    if problems:
        raise ConfigError(problems)
    if not users:
        # Connect would accept every request.
        raise ConfigError(
            [f"{path}: no users; expected lines that `heliograph password NAME` prints"]
        )
    return users


def plain_names(users: Mapping[str, User]) -> list[str]:
    return sorted(name for name, user in users.items() if not user.hashed)


def _user(text: str) -> User:
    """Raises ValueError, whose text never contains a password."""
    password, _, role = text.strip().partition(" ")
    match = _ARGON2ID.fullmatch(password)
    if match is None:
        if _OTHER_HASH.fullmatch(text.strip()):
            raise ValueError(
                "expected an argon2id hash or a plain password, found a hash of another kind; "
                "make one with `heliograph password`"
            )
        return User(password=Secret(text))
    memory, passes, lanes = map(int, match.groups())
    if passes < 1 or lanes < 1 or not _MEMORY_KB[0] * lanes <= memory <= _MEMORY_KB[1]:
        raise ValueError(
            f"argon2id with m={memory}, t={passes}, p={lanes} is not supported; make a hash with "
            "`heliograph password`"
        )
    return User(password=Secret(password), role=_role(role or Role.WRITE), hashed=True)


def read_certificate_roles(text: str) -> CertificateRoles | None:
    """`CN=alice,O=Example:write;monitor:read;*:read`, None if empty. Raises ValueError.

    Separated by semicolons, as in Kafka's super.users, since subjects contain commas.
    """
    subjects: dict[str, Role] = {}
    names: dict[str, Role] = {}
    others: Role | None = None
    for entry in filter(None, map(str.strip, text.split(";"))):
        name, colon, role = entry.rpartition(":")
        name = name.strip()
        if not colon or not name:
            raise ValueError(
                f"expected name:role, such as CN=alice,O=Example:write, found {entry!r}"
            )
        if name == "*":
            others = _role(role)
        elif "=" in name:
            subjects[name] = _role(role)
        else:
            names[name] = _role(role)
    if not subjects and not names and others is None:
        return None
    return CertificateRoles(by_subject=subjects, by_common_name=names, others=others)


def _role(text: str) -> Role:
    try:
        return Role(text.strip())
    except ValueError:
        raise ValueError(f"expected the role read or write, found {text.strip()!r}") from None
