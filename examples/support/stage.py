"""Where a story plays: its two clusters, its copy of the user's files, Kafka's own programs, its mirror."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.support.clusters import SECRETS, Keys
from examples.support.protocol import PATIENCE_SECONDS, Protocol, StoryFailed
from examples.support.services import Launch, Service, Services, running
from examples.support.side import Side
from harness.mirrors import heliograph_command
from heliograph.config.formats.load import LoadOptions, load
from heliograph.embedded.tools import TOOL_NAMES, tool_command
from heliograph.errors import ConfigError

_EXAMPLES = Path(__file__).parents[1]
_INTERNAL = (
    *("offset.storage.", "config.storage.", "status.storage."),
    *("offset-syncs.topic.", "checkpoints.topic.", "heartbeats.topic."),
)
#: Replication factors that a file of a story names.
_ONE_BROKER = {
    "replication.factor=3": "replication.factor=1",
    'replication.factor": "3"': 'replication.factor": "1"',
    "--replication-factor 3": "--replication-factor 1",
}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """`home` is the folder that the documents mount as /home; `short`: as few processes as possible."""

    source: Side
    target: Side
    keys: Keys
    home: Path
    protocol: Protocol
    services: Services
    short: bool = False

    @property
    def replicas(self) -> int:
        """Of topics on a cluster of the story."""
        return 1 if self.short else 3

    # ── files ────────────────────────────────────────────────────────────────────────────────────

    def take_files(self, story: str, changes: Mapping[str, str]) -> None:
        """Copies the user's files to `home`; host names, secrets and paths are replaced in the copies."""
        files = _EXAMPLES / story / "files"
        every = {"/opt/kafka/bin": str(self.home / "bin"), "/home/": f"{self.home}/", **changes}
        if self.short:
            every |= _ONE_BROKER
        for file in sorted(path for path in files.rglob("*") if path.is_file()):
            copy = self.home / file.relative_to(files)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text()
            for old, new in every.items():
                text = text.replace(old, new)
            copy.write_text(text)
            copy.chmod(file.stat().st_mode & 0o777)
        self._make_bin()
        self.protocol.step(
            f"the user's files (examples/{story}/files), host names and secrets replaced"
        )
        self.protocol.seen(
            str(path.relative_to(files)) for path in sorted(files.rglob("*")) if path.is_file()
        )

    def _make_bin(self) -> None:
        """Kafka's own programs under their names, and the mirror under that of MirrorMaker 2's script."""
        folder = self.home / "bin"
        folder.mkdir()
        for name in TOOL_NAMES:
            _script(folder / f"{name}.sh", tool_command(name))
        mirror = ["true"] if self.short else heliograph_command("run")
        _script(folder / "connect-mirror-maker.sh", mirror)

    def few_replicas(self, file: str) -> None:
        """The short form has one broker, where MM2's defaults need three; the whole story runs the file as
        it is."""
        if self.short:
            with (self.home / file).open("a") as out:
                out.writelines(f"{name}replication.factor=1\n" for name in ("", *_INTERNAL))

    def trust(self, file: str, prefix: str = "") -> None:
        """Adds the truststore: the story's brokers have certificates of a private authority, where the
        documents' service has those of a public one."""
        shutil.copy(self.keys.truststore, self.home / "truststore.jks")
        with (self.home / file).open("a") as out:
            out.write(f"{prefix}ssl.truststore.location={self.home}/truststore.jks\n")
            out.write(f"{prefix}ssl.truststore.password=password\n")

    # ── commands ─────────────────────────────────────────────────────────────────────────────────

    def shell(self, command: str, environment: Mapping[str, str] | None = None) -> str:
        """Runs a command line in `home`; what it prints. Raises StoryFailed for another exit code than 0."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.home,
            env={**os.environ, "PYTHON": sys.executable, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise StoryFailed(f"{command}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def stock(self, command: str) -> str | None:
        """One of Kafka's own programs, with its output; None in the short form, which starts no JVM."""
        if self.short:
            return None
        self.protocol.step("Kafka's own program", command)
        said = self.shell(f"bin/{command}")
        self.protocol.seen([said])
        return said

    def heliograph(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.protocol.step("the command", shlex.join(["heliograph", *arguments]))
        done = self._run(*arguments)
        self.protocol.seen([done.stdout, done.stderr])
        return done

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            heliograph_command(*arguments),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def refused(self, config: str, secrets: Sequence[str] = ()) -> str:
        """What the mirror says of a file that it does not accept."""
        paths = [self.home / each for each in secrets]
        self.protocol.step("start the mirror", f"connect-mirror-maker.sh {config}")
        if self.short:
            try:
                load(self.home / config, LoadOptions(secrets=paths), {})
            except ConfigError as e:
                said, code = str(e), 2
            else:
                said, code = "", 0
        else:
            words = [word for path in paths for word in ("--secrets", str(path))]
            done = self._run("run", str(self.home / config), *words)
            said, code = done.stderr, done.returncode
        self.protocol.seen([said])
        self.protocol.check("exit code", code, 2)
        return said

    @contextmanager
    def mirror(
        self,
        config: str,
        *,
        script: str | None = None,
        environment: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
    ) -> Iterator[Service]:
        """The mirror of a file in `home`, until the block ends; `script` is the user's own that starts it."""
        shown = [f"connect-mirror-maker.sh {config}", *(f"--secrets {each}" for each in secrets)]
        self.protocol.step("start the mirror", script or " ".join(shown))
        launch = Launch(
            config=self.home / config,
            log=self.home / "mirror.log",
            environment=environment or {},
            secrets=[self.home / each for each in secrets],
            script=None if script is None else self.home / script,
        )
        with running(self.services.mirror, launch) as service:
            yield service

    @contextmanager
    def worker(
        self, config: str | None, port: int, environment: Mapping[str, str] | None = None
    ) -> Iterator[Rest]:
        launch = Launch(
            config=None if config is None else self.home / config,
            log=self.home / f"worker-{port}.log",
            environment=environment or {},
        )
        with running(self.services.worker, launch) as service:
            rest = Rest(port, self.protocol, service)
            rest.await_answer()
            yield rest

    # ── checks that every story has ──────────────────────────────────────────────────────────────

    def same_records(self, topic: str, remote: str, count: int) -> None:
        """Key, value, headers, partition and timestamp of every record."""
        self.protocol.wait(
            f"{remote} has {count} records",
            lambda: self.target.count(remote),
            lambda found: found >= count,
        )
        found, expected = self.target.records(remote), self.source.records(topic)
        self.protocol.seen(str((each.value or b"")[:90], "utf-8") for each in found[:5])
        self.protocol.check(
            f"{remote} equals {topic}: keys, values, headers, partitions, timestamps, order",
            found,
            expected,
        )

    def no_secret_in(self, *texts: str) -> None:
        told = [secret[:4] for secret in SECRETS for text in texts if secret in text]
        self.protocol.check("no secret in the log", told, [])


class Rest:
    """The REST API of a worker; each request is shown as a command line of curl."""

    def __init__(self, port: int, protocol: Protocol, service: Service) -> None:
        self.port = port
        self.service = service
        self._protocol = protocol

    def ask(
        self, method: str, path: str, body: str | None = None, *, data: str = ""
    ) -> tuple[int, Any]:
        """Status and document. `data`: how the command names the body."""
        shown = "" if method == "GET" else f"-X {method} "
        content = f"-H 'Content-Type: application/json' --data {data} " if body else ""
        self._protocol.step("REST", f"curl -s {shown}{content}localhost:{self.port}{path}")
        status, document = self._ask(method, path, body)
        self._protocol.seen([f"{status} {json.dumps(document)[:300]}"])
        return status, document

    def state(self, connector: str) -> tuple[str, list[str]]:
        """Of the connector and its tasks."""
        status, found = self._ask("GET", f"/connectors/{connector}/status")
        self.service.raise_if_ended()
        if status != 200:
            return str(status), []
        return found["connector"]["state"], [task["state"] for task in found["tasks"]]

    def await_answer(self) -> None:
        """A worker answers reads at once; creating a connector needs the worker's topics."""

        def answer() -> int:
            self.service.raise_if_ended()
            return self._ask("GET", "/connectors")[0]

        expectation = f"the worker answers on port {self.port}"
        self._protocol.wait(expectation, answer, lambda status: status == 200)

    def create(self, method: str, path: str, body: str, *, data: str) -> tuple[int, Any]:
        """As `ask`; a worker that has just started may answer 409 until it has read its topics."""
        status, document = self.ask(method, path, body, data=data)
        while status == 409 and "already exists" not in json.dumps(document):
            self.service.raise_if_ended()
            status, document = self._ask(method, path, body)
        return status, document

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, json.loads(data) if data else None
        except OSError:
            return 0, None
        finally:
            connection.close()


def _script(path: Path, command: Sequence[str]) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    path.chmod(0o755)
