"""Makes docs/images/run*.svg from a real `heliograph run` on a terminal: python -m scripts.run_picture

Starts two clusters of one broker each, writes records to two topics, runs the mirror of README.md in a pseudo
terminal until all topics are in its table, and draws the screen at several widths: the terminal is resized.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic
from rich.console import Console
from rich.text import Text

from harness.cluster_side import QUIET, ClusterSide, running_clusters
from harness.errors import HarnessError
from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from harness.pace import Pace
from heliograph.embedded import Cluster

IMAGES = Path(__file__).parents[1] / "docs" / "images"
#: Columns of the terminal, by file.
WIDTHS = {"run.svg": 100, "run-60.svg": 60, "run-160.svg": 160}
TOPICS = {"orders": (3, 4_000, b"x" * 50), "payments": (1, 1_000, b"x" * 20)}
ROWS = 28
_START_SECONDS = 240.0
#: After all topics are in the table: the rates are those of the last 4 s.
_SETTLE_SECONDS = 10.0
_RESIZE_SECONDS = 2.0
_STOP_SECONDS = 60.0
_ROW_OK = re.compile(r"  ok *$")
_FIRST_LINE = ("heliograph · up", "heliograph top")
#: A mode (skipped); cursor up (A), home (H), erase screen (J) and line (K); line feed; text with its colours.
_TOKEN = re.compile(r"\x1b\[\?\d+[hl]|\x1b\[(\d*)([AHJK])|(\n)|((?:\x1b\[[\d;]*m|[^\x1b\r\n])+)")
_SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
    <style>
    .{unique_id}-matrix {{
        font-family: DejaVu Sans Mono, monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
        font-variant-east-asian: full-width;
    }}
    .{unique_id}-title {{
        font-size: 18px;
        font-weight: bold;
        font-family: arial;
    }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


class Screen:
    """The lines of a terminal with their colours. Knows what rich's live display sends: whole lines of text,
    line feed, cursor up, erase line, and a cleared screen."""

    def __init__(self) -> None:
        self.lines = [""]
        self._row = 0

    def write(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            count, command, line_feed, plain = token.groups()
            if plain is not None:
                self.lines[self._row] += plain
            elif line_feed is not None:
                self._row += 1
                if self._row == len(self.lines):
                    self.lines.append("")
            elif command == "A":
                self._row = max(0, self._row - int(count or 1))
            elif command == "K":
                self.lines[self._row] = ""
            elif command is not None:
                self.lines, self._row = [""], 0

    @property
    def view(self) -> list[str]:
        """The lines of the live view, without those of the log above it."""
        first = [n for n, line in enumerate(self.lines) if plain(line).startswith(_FIRST_LINE)]
        return self.lines[first[-1] :] if first else []


def _take_terminal() -> None:
    """In the new process: standard input is its terminal, as in a shell, so that it may read keys."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A command on a pseudo terminal; `screen` grows as it is read."""

    def __init__(self, command: list[str]) -> None:
        self.screen = Screen()
        self._master, slave = pty.openpty()
        self.resize(WIDTHS["run.svg"])
        environment = {**os.environ, "TERM": "xterm"}
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))

    def read(self, seconds: float) -> None:
        """Reads what the command writes in this time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._master], [], [], left)[0]:
                return
            try:
                data = os.read(self._master, 1 << 16)
            except OSError as e:  # EIO: the command has exited
                lines = "\n".join(self.screen.lines)
                raise HarnessError(f"the command has exited:\n{lines}") from e
            self.screen.write(data.decode(errors="replace"))

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def stop(self) -> int:
        """Its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(_STOP_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._master)


def write_records(bootstrap: str, ended: threading.Event) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, **QUIET})
    paces = {topic: Pace(rate) for topic, (_, rate, _) in TOPICS.items()}
    while not ended.wait(0.05):
        for topic, pace in paces.items():
            count = int(pace.owed())
            for _ in range(count):
                producer.produce(topic, TOPICS[topic][2])
            pace.spend(count)
        producer.poll(0)
    producer.flush(30)


def capture(source: Cluster, target: Cluster, folder: Path) -> dict[str, list[str]]:
    """By file, the lines of the view once every topic is in the table, heartbeats included."""
    properties = mirror_properties(
        ("home", source.bootstrap_servers),
        ("cloud", target.bootstrap_servers),
        ",".join(TOPICS),
        replicas=1,
    )
    file = write_mirror_file(folder, {**properties, "listeners": ""})
    terminal = Terminal(heliograph_command("run", str(file)))
    try:
        deadline = time.monotonic() + _START_SECONDS
        while sum(map(is_ok, terminal.screen.view)) <= len(TOPICS):
            if time.monotonic() > deadline:
                raise HarnessError(f"no table of all topics within {_START_SECONDS:.0f} s")
            terminal.read(0.5)
        terminal.read(_SETTLE_SECONDS)
        found = {}
        for name, columns in WIDTHS.items():
            terminal.resize(columns)
            terminal.read(_RESIZE_SECONDS)
            while not plain(terminal.screen.lines[-1]).endswith("? help"):  # between two updates
                terminal.read(0.1)
            found[name] = terminal.screen.view
        return found
    finally:
        terminal.stop()


def is_ok(line: str) -> bool:
    """Whether it is a row of the table without trouble."""
    return _ROW_OK.search(plain(line)) is not None


def plain(line: str) -> str:
    return Text.from_ansi(line).plain


def draw(lines: list[str], columns: int, file: Path) -> None:
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=columns, file=nowhere, force_terminal=True)
        for line in lines:
            console.print(Text.from_ansi(line), soft_wrap=True)
        picture = console.export_svg(title="heliograph run mm2.properties", code_format=_SVG)
    file.write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n")


def main() -> int:
    source, target = Cluster("source"), Cluster("target")
    ended = threading.Event()
    with tempfile.TemporaryDirectory() as folder, running_clusters(source, target):
        ClusterSide(lambda: source.bootstrap_servers).create_topics(
            [NewTopic(name, partitions, 1) for name, (partitions, _, _) in TOPICS.items()]
        )
        writer = threading.Thread(target=write_records, args=(source.bootstrap_servers, ended))
        writer.start()
        try:
            screens = capture(source, target, Path(folder))
        finally:
            ended.set()
            writer.join()
    for name, lines in screens.items():
        draw(lines, WIDTHS[name], IMAGES / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
