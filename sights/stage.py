"""Two clusters of one broker each, a mirror between them, and what a fault needs: writers, a second service,
processes that stand still."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from harness.cluster_side import QUIET, TIMEOUT_SECONDS, ClusterSide
from harness.errors import HarnessError
from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from harness.pace import Pace
from harness.processes import family, stop
from heliograph.embedded import Cluster
from heliograph.embedded.child_process import ChildProcess

PATIENCE_SECONDS = 240.0
FLOW = "home->cloud"
CONNECTOR = f"{FLOW}.MirrorSourceConnector"
#: Partitions, and records per second while the load runs.
TOPICS = {"orders": (3, 600), "payments": (1, 150)}
#: The mirror reads at most so much: a burst of more makes a lag.
THROTTLE = 2_000_000
BURST_RECORDS = 60_000
_RECORD = b"x" * 1000
#: The remote topic of `large` takes batches of so many bytes.
SMALL_BATCHES = 2_000
_LOOK_SECONDS = 0.5
_STOP_SECONDS = 60.0


class Stage:
    """Between `open` and `close`."""

    def __init__(self, folder: Path) -> None:
        self.home, self.cloud = Cluster("home"), Cluster("cloud")
        self.port = free_port()
        self._folder = folder
        self._loading = threading.Event()
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write, name="load", daemon=True)
        self._mirror: ChildProcess | None = None

    @property
    def base(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def file(self) -> Path:
        return self._folder / "mirror" / "mm2.properties"

    def open(self) -> None:
        """The clusters run already."""
        home = ClusterSide(lambda: self.home.bootstrap_servers)
        topics = {**{name: count for name, (count, _) in TOPICS.items()}, "large": 1, "archive": 1}
        home.create_topics([NewTopic(name, count, 1) for name, count in topics.items()])
        ClusterSide(lambda: self.cloud.bootstrap_servers).create_topics(
            [NewTopic("home.large", 1, 1, config={"max.message.bytes": str(SMALL_BATCHES)})]
        )
        self._files()
        self._mirror = self._launch(self.file, "mirror.log")
        self._writer.start()

    def close(self) -> None:
        self._over.set()
        self._writer.join()
        if self._mirror is not None:
            stop(self._mirror, _STOP_SECONDS)

    # ── the mirror ───────────────────────────────────────────────────────────────────────────

    def connector(self, action: str) -> None:
        request = urllib.request.Request(
            f"{self.base}/connectors/{CONNECTOR.replace('>', '%3E')}/{action}", method="PUT"
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):
            pass

    def metrics(self) -> list[str]:
        with urllib.request.urlopen(f"{self.base}/metrics", timeout=TIMEOUT_SECONDS) as answer:
            text: str = answer.read().decode()
        return [line for line in text.splitlines() if not line.startswith("#")]

    def events(self) -> list[Mapping[str, object]]:
        with urllib.request.urlopen(f"{self.base}/events", timeout=TIMEOUT_SECONDS) as answer:
            found: list[Mapping[str, object]] = json.load(answer)["events"]
        return found

    def status(self) -> list[str]:
        done = subprocess.run(
            heliograph_command("status", str(self.file), "--wide"),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        if done.returncode not in (0, 1):
            raise HarnessError(f"heliograph status: exit code {done.returncode}: {done.stderr}")
        return done.stdout.splitlines()

    @contextmanager
    def another_service(self) -> Iterator[None]:
        """Takes over while the first stands still."""
        assert self._mirror is not None
        with standing_still([each.pid for each in family(self._mirror.pid)]):
            other = self._launch(self._folder / "other" / "mm2.properties", "other.log")
            try:
                log = self._folder / "other.log"
                await_true(
                    "the second service leads",
                    lambda: log.exists() and "runs it" in log.read_text(),
                )
                os.kill(self._mirror.pid, 0)
            except BaseException:
                stop(other, _STOP_SECONDS)
                raise
        try:
            yield
        finally:
            stop(other, _STOP_SECONDS)

    def restart(self) -> None:
        """Ends the mirror at once, and starts another."""
        assert self._mirror is not None
        stop(self._mirror, _STOP_SECONDS)
        self._mirror = self._launch(self.file, "mirror.log")
        await_true("the page answers", self.answers)

    def answers(self) -> bool:
        try:
            return bool(self.events())
        except (urllib.error.URLError, ConnectionError):
            return False

    def _launch(self, file: Path, log: str) -> ChildProcess:
        command = heliograph_command("run", str(file))
        return ChildProcess(command, output=self._folder / log, scratch=None)

    def _files(self) -> None:
        ends = ("home", self.home.bootstrap_servers), ("cloud", self.cloud.bootstrap_servers)
        common = {
            **mirror_properties(*ends, "orders,payments,large,archive", replicas=1),
            "emit.heartbeats.enabled": "false",  # records every second: no topic would be quiet
            "throttle.bytes.per.second": str(THROTTLE),
            "refresh.topics.interval.seconds": "2",
            "sync.topic.configs.enabled": "false",  # home.large keeps its own
        }
        rest = {"listeners": self.base, "rest.writable": "true"}
        write_mirror_file(self.file.parent, {**common, **rest})
        write_mirror_file(self._folder / "other", {**common, "listeners": ""})

    # ── records ──────────────────────────────────────────────────────────────────────────────

    def load(self, on: bool) -> None:
        """Records on the source, again and again."""
        self._loading.set() if on else self._loading.clear()

    def produce(self, topic: str, *records: bytes) -> None:
        producer = Producer({"bootstrap.servers": self.home.bootstrap_servers, **QUIET})
        for record in records:
            while True:
                try:
                    producer.produce(topic, record)
                    break
                except BufferError:
                    producer.poll(0.1)
        if producer.flush(TIMEOUT_SECONDS):
            raise HarnessError(f"{topic}: records could not be written")

    def burst(self) -> None:
        self.produce("payments", *[os.urandom(500) * 2 for _ in range(BURST_RECORDS)])

    def delete_before(self, topic: str, offset: int) -> None:
        admin = ClusterSide(lambda: self.home.bootstrap_servers).admin
        for future in admin.delete_records([TopicPartition(topic, 0, offset)]).values():
            future.result(TIMEOUT_SECONDS)

    def _write(self) -> None:
        producer = Producer({"bootstrap.servers": self.home.bootstrap_servers, **QUIET})
        paces = {topic: Pace(rate) for topic, (_, rate) in TOPICS.items()}
        while not self._over.wait(0.05):
            for topic, pace in paces.items():
                count = int(pace.owed())
                pace.spend(count)
                for _ in range(count if self._loading.is_set() else 0):
                    try:
                        producer.produce(topic, _RECORD)
                    except BufferError:
                        break  # the source stands still
            producer.poll(0)


@contextmanager
def standing_still(pids: list[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def await_true(what: str, look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not look():
        if time.monotonic() > deadline:
            raise HarnessError(f"not within {PATIENCE_SECONDS:g} s: {what}")
        time.sleep(_LOOK_SECONDS)


def free_port() -> int:
    with closing(socket.create_server(("localhost", 0))) as opened:
        return int(opened.getsockname()[1])
