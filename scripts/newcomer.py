"""Does what README says, as a newcomer does, and prints how long each step takes: python scripts/newcomer.py

A virtual environment of its own in a temporary folder, `pip install .`, two clusters, README's file with
their addresses, the lines that `plan` prints to paste, records by Kafka's own producer, `run`, `status`,
Ctrl-C. Needs nothing but Python and Java. Exit code 1 at the first step that fails.

`--uv` installs as docs/install.md says for uv: `uv tool install .`, in a home folder of its own.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PATIENCE_SECONDS = 600.0
RECORDS = [f"order {number}" for number in range(1000)]


class StepFailed(Exception):
    pass


class Newcomer:
    """`folder` is theirs; `bin` that of their environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / ".venv" / "bin"
        self.environment = dict(os.environ)
        self._running: list[subprocess.Popen[str]] = []
        self._began = time.monotonic()

    def run(self, *command: str, typed: str = "", expected: int = 0) -> str:
        """What the command prints. Raises StepFailed for another exit code."""
        done = subprocess.run(
            self._found(command),
            cwd=self.folder,
            env=self.environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
        )
        if done.returncode != expected:
            shown = shlex.join(command)[:100]
            raise StepFailed(f"{shown}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, log: str, *command: str) -> subprocess.Popen[str]:
        """In a terminal of its own, which is the file `log`."""
        with (self.folder / log).open("w") as out:
            process = subprocess.Popen(
                self._found(command),
                cwd=self.folder,
                env=self.environment,
                stdout=out,
                stderr=out,
                text=True,
            )
        self._running.append(process)
        return process

    def shown(self, log: str) -> str:
        return (self.folder / log).read_text()

    def await_that(self, what: str, there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not there():
            if time.monotonic() > deadline:
                raise StepFailed(f"{what}: not within {_PATIENCE_SECONDS:.0f} s")
            time.sleep(0.5)

    def step(self, name: str, do: Callable[[], object]) -> None:
        began = time.monotonic()
        do()
        now = time.monotonic()
        sys.stdout.write(f"{now - began:6.0f} s  {now - self._began:6.0f} s in all  {name}\n")
        sys.stdout.flush()

    def close(self) -> None:
        for process in reversed(self._running):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running:
            process.wait(_PATIENCE_SECONDS)

    def _found(self, command: tuple[str, ...]) -> list[str]:
        name, *words = command
        return [str(self.bin / name) if name in ("pip", "uv", "heliograph") else name, *words]


def readmes_file(addresses: dict[str, str]) -> str:
    """The first block of settings in README, with other addresses."""
    readme = (ROOT / "README.md").read_text()
    block = re.search(r"```properties\n(.*?)```", readme, re.DOTALL)
    if block is None:
        raise StepFailed("README.md has no block of settings")
    text = block[1]
    for name, address in addresses.items():
        text = re.sub(rf"(?m)^({name}\.bootstrap\.servers = ).*$", rf"\g<1>{address}", text)
    return text


class FirstDay:
    """The steps, in their order."""

    def __init__(self, newcomer: Newcomer) -> None:
        self._do = newcomer
        self._config = str(newcomer.folder / "mm2.properties")
        self._addresses: dict[str, str] = {}
        self._mirror: subprocess.Popen[str] | None = None

    def play(self, *, uv: bool) -> None:
        do = self._do
        do.step("python -m venv .venv", lambda: do.run(sys.executable, "-m", "venv", ".venv"))
        if uv:
            do.step("pip install uv", lambda: do.run("pip", "install", "--quiet", "uv"))
            do.step("uv tool install .", self._install_by_uv)
        else:
            do.step("pip install .", lambda: do.run("pip", "install", "--quiet", str(ROOT)))
        do.step("heliograph brokers home cloud", self._start_clusters)
        do.step("records into orders and payments, as it shows", self._produce)
        do.step("README's mm2.properties, heliograph plan, its lines pasted", self._configure)
        do.step("heliograph check", lambda: do.run("heliograph", "check", self._config))
        do.step("heliograph run, until Kafka's consumer shows home.orders", self._start_mirror)
        do.step("heliograph status, until all is well", self._look)
        do.step("Ctrl-C", self._stop_mirror)

    def _install_by_uv(self) -> None:
        home = self._do.folder / "home"
        home.mkdir()
        self._do.environment |= {"HOME": str(home), "UV_PYTHON": sys.executable}
        self._do.run("uv", "tool", "install", "--quiet", str(ROOT))
        self._do.bin = home / ".local" / "bin"

    def _start_clusters(self) -> None:
        self._do.start("brokers.log", "heliograph", "brokers", "home", "cloud")
        self._do.await_that("two clusters", lambda: "Ctrl-C stops them" in self._brokers())
        found = re.findall(r"(?m)^(home|cloud) +(\S+:\d+)$", self._brokers())
        self._addresses = dict(found)

    def _brokers(self) -> str:
        return self._do.shown("brokers.log")

    def _tool(self, name: str, topic: str) -> list[str]:
        """A command of Kafka's that `brokers` prints, for another topic."""
        line = next(line for line in self._brokers().splitlines() if f".{name} " in line)
        return shlex.split(line.replace("greetings", topic))

    def _produce(self) -> None:
        for topic in ("orders", "payments"):
            self._do.run(*self._tool("ConsoleProducer", topic), typed="\n".join(RECORDS) + "\n")

    def _configure(self) -> None:
        config = Path(self._config)
        config.write_text(readmes_file(self._addresses))
        planned = self._do.run("heliograph", "plan", self._config)
        paste = planned.partition("replication factors to paste\n")[2].partition("\n\n")[0]
        with config.open("a") as file:
            file.writelines(f"{line.strip()}\n" for line in paste.splitlines())

    def _start_mirror(self) -> None:
        self._mirror = self._do.start("mirror.log", "heliograph", "run", self._config)
        self._do.await_that("the topic home.orders", lambda: "created home.orders " in self._log())
        command = " ".join([*self._tool("ConsoleConsumer", "home.orders"), "--max-messages"])
        command = command.replace(self._addresses["home"], self._addresses["cloud"])
        consumer = self._do.start("consumer.log", *command.split(), str(len(RECORDS)))
        self._do.await_that(
            "its records", lambda: bool(self._log()) and consumer.poll() is not None
        )
        shown = self._do.shown("consumer.log").splitlines()
        if [line for line in shown if line in RECORDS] != RECORDS:
            raise StepFailed(f"home.orders has other records than orders: {shown}")

    def _look(self) -> None:
        def well() -> bool:
            self._log()
            command = [str(self._do.bin / "heliograph"), "status", self._config]
            return subprocess.run(command, capture_output=True, check=False).returncode == 0

        self._do.await_that("exit code 0 of status", well)

    def _log(self) -> str:
        """Raises StepFailed if the mirror has ended."""
        said = self._do.shown("mirror.log")
        if self._mirror is None or self._mirror.poll() is not None:
            raise StepFailed(f"heliograph run ended: {said}")
        return said

    def _stop_mirror(self) -> None:
        assert self._mirror is not None
        self._mirror.send_signal(signal.SIGINT)
        if code := self._mirror.wait(_PATIENCE_SECONDS):
            raise StepFailed(f"exit code {code}: {self._do.shown('mirror.log')}")


def main(*, uv: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        newcomer = Newcomer(Path(folder))
        try:
            FirstDay(newcomer).play(uv=uv)
        except StepFailed as e:
            sys.stderr.write(f"FAILED: {e}\n")
            return 1
        finally:
            newcomer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(uv="--uv" in sys.argv[1:]))
