"""`heliograph init`: writes a commented mm2.properties from options, and asks for what is missing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from heliograph.cli.choices import Output
from heliograph.cli.output.escaping import visible
from heliograph.config.formats import mm2_properties
from heliograph.config.formats.load import LoadOptions
from heliograph.config.formats.new_file import new_file
from heliograph.config.formats.new_mirror import Mechanism, NewCluster, NewMirror, Protocol
from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.options.addresses import host_port
from heliograph.config.options.values import InvalidValue, parse_list
from heliograph.errors import ConfigError

#: Characters of topic names: an alias is the first part of them.
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_PROTOCOLS = ", ".join(Protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The options of the command line; None: not given."""

    source: str | None = None
    target: str | None = None
    security: list[str]
    user: list[str]
    truststore: list[str]
    mechanism: Mechanism = Mechanism.PLAIN
    topics: str | None = None
    groups: str | None = None
    both: bool | None = None
    replication_factor: int = -1


def init(path: Path, answers: Answers, *, force: bool, check: bool) -> int:
    """0 if the file was written and can be used; with `check`, as `heliograph check` says."""
    if path.exists() and not force:
        raise ConfigError(
            f"{path}: exists already; choose another name, or overwrite it with --force"
        )
    mirror = _Asking(answers, sys.stdin.isatty()).mirror()
    text = new_file(mirror)
    config = _loaded(text, path.name, mirror)
    _write(path, text, private=mirror.has_secrets)
    for warning in config.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"{path}: written; flows: {', '.join(flow.name for flow in config.flows)}")
    unset = [name for name in mirror.variables if name not in os.environ]
    if unset:
        typer.echo(f"before the start, set in the environment: {', '.join(unset)}")
    if check:
        from heliograph.cli.commands.check import check as run_check

        return run_check(path, LoadOptions(), Output.TEXT, write=False)
    typer.echo(f"next: heliograph check {path}")
    return 0


def _loaded(text: str, name: str, mirror: NewMirror) -> MirrorConfig:
    """Reads the text as the file will be read, before that is written. Raises ConfigError."""
    environment = dict.fromkeys(mirror.variables, "placeholder") | dict(os.environ)
    with TemporaryDirectory() as folder:  # of mode 0700
        path = Path(folder) / name
        path.write_text(text)
        return mm2_properties.load(path, (), environment)


def _write(path: Path, text: str, *, private: bool) -> None:
    """With a password in it, only this user can read it, from the first byte on."""
    try:
        if private:
            path.unlink(missing_ok=True)
            path.touch(mode=0o600, exist_ok=False)
        path.write_text(text)
    except OSError as e:
        raise ConfigError(f"{path}: cannot be written: {e.strerror}") from None


class _Asking:
    """Asks only for what no option gives, and only on a terminal."""

    def __init__(self, answers: Answers, terminal: bool) -> None:
        self._answers = answers
        self._terminal = terminal
        self._problems: list[str] = []

    def mirror(self) -> NewMirror:
        given = self._answers
        source = self._cluster("source", given.source, "Source cluster, NAME=HOST:PORT[,HOST:PORT]")
        target = self._cluster("target", given.target, "Target cluster, NAME=HOST:PORT[,HOST:PORT]")
        if source.alias == target.alias:
            self._problems.append(f"--target: expected another name than {source.alias!r}")
        for option in ("security", "user", "truststore"):
            self._check_names(option, source.alias, target.alias)
        if self._problems:
            raise ConfigError(self._problems)
        topics = given.topics or self._ask("Topics, names or regular expressions", ".*") or ".*"
        groups = given.groups or self._ask("Consumer groups", ".*") or ".*"
        both = given.both
        if both is None:
            both = self._terminal and typer.confirm("Mirror in both directions?", default=False)
        return NewMirror(
            source=self._secured(source),
            target=self._secured(target),
            topics=topics,
            groups=groups,
            both_ways=both,
            replication_factor=given.replication_factor,
        )

    def _cluster(self, option: str, given: str | None, question: str) -> NewCluster:
        text = given or self._ask_until(question, None, lambda text: _wrong_cluster(option, text))
        if problem := _wrong_cluster(option, text or ""):
            self._problems.append(problem)
            return NewCluster(alias=option, servers="")
        alias, _, servers = (text or "").partition("=")
        return NewCluster(alias=alias, servers=servers)

    def _secured(self, cluster: NewCluster) -> NewCluster:
        protocol = self._protocol(cluster)
        user: str | None = None
        password: str | None = None
        if protocol.has_login:
            user = self._of("user", cluster.alias) or self._ask(f"User on {cluster.alias}", None)
            if not user:
                raise ConfigError(
                    f"--user: expected {cluster.alias}=NAME, since it uses {protocol}"
                )
            if self._terminal:
                variable = cluster.variable("PASSWORD")
                question = f"Password of {user} (empty: from the variable {variable})"
                password = typer.prompt(question, default="", hide_input=True, show_default=False)
        truststore = self._of("truststore", cluster.alias)
        if protocol.has_tls and truststore is None:
            truststore = self._ask(f"Truststore for {cluster.alias} (empty: this machine's)", "")
        return NewCluster(
            alias=cluster.alias,
            servers=cluster.servers,
            protocol=protocol,
            mechanism=self._answers.mechanism,
            user=user or "",
            password=password or None,
            truststore=truststore or "",
        )

    def _protocol(self, cluster: NewCluster) -> Protocol:
        given = self._of("security", cluster.alias)
        question = f"Security of {cluster.alias} ({_PROTOCOLS})"
        text = given or self._ask_until(question, Protocol.PLAINTEXT.value, _wrong_protocol)
        if problem := _wrong_protocol(text or ""):
            raise ConfigError(problem)
        return Protocol((text or Protocol.PLAINTEXT).upper())

    def _of(self, option: str, alias: str) -> str | None:
        """`NAME=VALUE` for one cluster takes precedence over `VALUE` for both."""
        values: list[str] = getattr(self._answers, option)
        for value in values:
            name, equals, own = value.partition("=")
            if equals and name == alias:
                return own
        return next((value for value in values if "=" not in value), None)

    def _check_names(self, option: str, *aliases: str) -> None:
        for value in getattr(self._answers, option):
            name, equals, _ = value.partition("=")
            if equals and name not in aliases:
                self._problems.append(
                    f"--{option}: expected {' or '.join(aliases)}, found {name!r}"
                )

    def _ask(self, question: str, default: str | None) -> str | None:
        if not self._terminal:
            return default
        ask: Callable[..., str] = typer.prompt
        return ask(question, default=default, show_default=bool(default))

    def _ask_until(
        self, question: str, default: str | None, wrong: Callable[[str], str | None]
    ) -> str | None:
        """Asks again while the answer is wrong: the answers before it are not lost."""
        text = self._ask(question, default)
        while self._terminal and (problem := wrong(text or "")):
            typer.echo(visible(f"error: {problem}"), err=True)
            text = self._ask(question, default)
        return text


def _wrong_cluster(option: str, text: str) -> str | None:
    alias, equals, servers = text.partition("=")
    if not alias or not equals or not servers:
        found = f"found {text!r}" if text else "found nothing"
        return f"--{option}: expected NAME=HOST:PORT, {found}"
    if not _NAME.fullmatch(alias):
        return (
            f"--{option}: expected a name of letters, digits, '.', '_' and '-', since topics are named after "
            f"it; found {alias!r}"
        )
    for server in [] if "${" in servers else parse_list(servers):
        try:
            host_port(server)
        except InvalidValue as invalid:
            return f"--{option}: expected {invalid.expected}, found {server!r}"
    return None


def _wrong_protocol(text: str) -> str | None:
    if not text or text.upper() in tuple(Protocol):
        return None
    return f"--security: expected one of {_PROTOCOLS}, found {text!r}"
