"""`heliograph password`: prints a line for the users file of the REST API."""

from __future__ import annotations

import getpass
import sys

import javaproperties
import typer

from heliograph.config.security.role import Role
from heliograph.errors import ConfigError
from heliograph.web.passwords import hashed


def password(user: str, role: Role) -> int:
    """Asks twice; without a terminal, reads the first line of the input. Raises ConfigError."""
    if ":" in user or not user.isprintable() or not user.strip():
        raise ConfigError([f"user: expected a name without colons, found {user!r}"])
    if sys.stdin.isatty():
        given = getpass.getpass(f"Password of {user}: ")
        if getpass.getpass("Once more: ") != given:
            raise ConfigError(["password: the two entries differ; try again"])
    else:
        given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise ConfigError(["password: expected a password, found an empty line"])
    typer.echo(f"{javaproperties.escape(user)} = {hashed(given)} {role}")
    return 0
