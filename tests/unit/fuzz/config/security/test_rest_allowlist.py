"""The allow-list of REST against the real parsers: nothing is opened, asked or imported that it has not seen.

Each case is a hostile configuration. The check lists what it sees in it; then the parsers read it and the
client opens what it can, while Python's own audit events tell what is really opened. Some hundred cases
here; `make fuzz-allowlist` for 200,000 of another seed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from heliograph.client.security.key_stores import shippable, with_material
from heliograph.client.security.sasl import new_mechanism
from heliograph.client.security.sasl.tokens import token_for
from heliograph.config.connectors.read_connectors import Connector, read_connector
from heliograph.config.connectors.worker import WorkerConfig
from heliograph.config.security.rest_allowlist import locations_in, problems
from heliograph.errors import HeliographError
from heliograph.permitted import Kind
from heliograph.security import AwsIam, GivenToken, Kerberos, Security, TokenEndpoint, locations
from support.configurations.forms_files import SOURCE, worker
from support.fuzz.hostile import CLASSES, Hostile, World, build_world

#: Without the long patterns that are the default, since a case is to be quick.
BASE = {
    **SOURCE,
    **dict.fromkeys(("topics.exclude", "groups.exclude", "config.properties.exclude"), "x"),
}
CASES = int(os.environ.get("ALLOWLIST_CASES", "500"))
SEED = int(os.environ.get("ALLOWLIST_SEED", "0"))


@dataclass
class Recorder:
    """Python's audit events and imports while it is on; an audit hook can never be taken away again."""

    on: bool = False
    opened: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            self.opened.append(os.fsdecode(arguments[0]))
        elif event == "urllib.Request":
            self.asked.append(str(arguments[0]))
        elif event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
            raise ConnectionRefusedError(f"{event}: not in a test")

    def find_spec(self, name: str, *_: object) -> None:
        """As the first finder of sys.meta_path: every module that is looked for, and not there already."""
        if self.on:
            self.imported.append(name)

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        self.opened, self.imported, self.asked = [], [], []
        self.on = True
        try:
            yield
        finally:
            self.on = False


RECORDER = Recorder()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("world")
    made = build_world(root)
    sys.addaudithook(RECORDER.hook)
    sys.path.insert(0, str(root / "modules"))
    sys.meta_path.insert(0, RECORDER)  # type: ignore[arg-type]
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    yield made
    sys.dont_write_bytecode = before
    sys.meta_path.remove(RECORDER)  # type: ignore[arg-type]
    sys.path.remove(str(root / "modules"))


@pytest.fixture(scope="module")
def its(world: World) -> WorkerConfig:
    providers = "".join(
        f"config.providers.{name}.class = {kind}ConfigProvider\n"
        for name, kind in (
            ("limited", "File"),
            ("free", "File"),
            ("folder", "Directory"),
            ("env", "EnvVar"),
        )
    )
    settings = (
        "config.providers = limited, free, folder, env\n"
        f"{providers}config.providers.limited.param.allowed.paths = {world.allowed}\n"
        "config.providers.env.param.allowlist.pattern = MIRROR_.*\n"
        f"rest.connector.allowed.paths = {world.allowed}\n"
        f"rest.connector.allowed.urls = {world.url}\n"
        f"rest.connector.allowed.modules = {world.module}\n"
    )
    private = str(world.private / "token")
    return worker(settings, {"PRIVATE": private, "MIRROR_A": private})


def securities(connector: Connector) -> list[Security]:
    """How each client of the connector logs in, without those that are the worker's own."""
    return [
        security
        for cluster in connector.clusters
        for security in (cluster.security, *dict(cluster.by_client).values())
        if security.tls is not None or security.sasl is not None
    ]


def open_all(security: Security, *, trusted: bool = False) -> None:
    """All that a client opens for a login, whatever the configuration's problems are."""
    with contextlib.suppress(HeliographError):
        with_material(security)
    with contextlib.suppress(HeliographError):
        shippable(security)
    if security.sasl is None:
        return
    credentials = security.sasl.credentials
    with contextlib.suppress(HeliographError):
        if isinstance(credentials, TokenEndpoint):
            token_for(replace(credentials, timeout_seconds=0.1), security)
        elif isinstance(credentials, GivenToken):
            token_for(credentials, security)
    if not trusted and isinstance(credentials, AwsIam | Kerberos):
        with contextlib.suppress(HeliographError):
            new_mechanism(security, "evil").start()
            assert isinstance(credentials, Kerberos), "the worker's own identity was used"
            assert credentials.keytab is not None, "the worker's own identity was used"


def is_foreign(path: str, world: World) -> bool:
    """A file that only the configuration can have named."""
    real = Path(os.path.realpath(path))
    return real.is_relative_to(world.private.parent) or path.startswith("/etc/hostname")


def check(config: dict[str, str], world: World, its: WorkerConfig) -> None:
    seen = {
        (each.kind, each.value)
        for name, value in config.items()
        for each in locations_in(name, value.strip())
    }
    for name in (world.module, *world.forbidden_modules):
        sys.modules.pop(name, None)  # what was imported before makes no event
    filled_in = any("${" in value for value in config.values())
    with RECORDER.recording():
        refused = dict(problems(config, its.permitted))
        connector = read_connector("c", {**BASE, **config}, its, its.permitted)
        for security in securities(connector):
            assert security.permitted == its.permitted
            open_all(security)
    for path in RECORDER.opened:
        if is_foreign(path, world) and "/modules" not in path:
            real = Path(os.path.realpath(path))
            assert real.is_relative_to(world.allowed), f"{path} was opened"
    assert all(its.permitted.allows_url(url) for url in RECORDER.asked)
    assert not set(RECORDER.imported) & set(world.forbidden_modules)
    if filled_in:
        return
    for security in securities(connector):
        for kind, value, _ in locations(security):
            assert kind is Kind.IDENTITY or (kind, value) in seen
    if not connector.problems:
        assert not refused.keys() & set(CLASSES)


def check_trusted(config: dict[str, str], world: World, its: WorkerConfig) -> None:
    """The same configuration as if the operator had written it: what is really opened, the check has seen."""
    config = {
        name: value for name, value in config.items() if name not in CLASSES and "${" not in value
    }
    seen = {
        each.value for name, value in config.items() for each in locations_in(name, value.strip())
    }
    connector = read_connector("c", {**BASE, **config}, its)
    with RECORDER.recording():
        for security in securities(connector):
            open_all(security, trusted=True)
    opened = {path for path in RECORDER.opened if is_foreign(path, world)}
    assert opened <= seen
    assert set(RECORDER.asked) <= seen


def test_nothing_is_opened_asked_or_imported_that_the_check_has_not_seen(
    world: World, its: WorkerConfig
) -> None:
    hostile = Hostile(SEED, world)
    counts = {"opened": 0, "asked": 0, "imported": 0, "refused": 0}
    for number in range(CASES):
        config = hostile.config()
        try:
            check(config, world, its)
            counts["opened"] += any(is_foreign(each, world) for each in RECORDER.opened)
            counts["asked"] += bool(RECORDER.asked)
            counts["imported"] += world.module in RECORDER.imported
            counts["refused"] += bool(dict(problems(config, its.permitted)))
            if number % 4 == 0:
                check_trusted(config, world, its)
        except BaseException as e:
            e.add_note(f"case {number} of seed {SEED}: {config!r}")
            raise
    # A law over cases that no parser takes would prove nothing.
    least = CASES // 500
    assert min(counts.values()) >= least, counts
