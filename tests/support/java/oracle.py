"""MirrorMaker 2's own Java classes, asked over a pipe: one JVM for all questions of a run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from heliograph.embedded.jars import MIRROR_MAKER, kafka_jars
from heliograph.embedded.tools import SHORT_LIVED
from heliograph.machine.java import require_java
from support.waiting import PATIENCE_SECONDS

SOURCES = Path(__file__).parent / "sources"


class Oracle:
    """Compiles the programs in `compat/java` and keeps them running. `ask` is a question and its answer."""

    def __init__(self, folder: Path) -> None:
        java, jars = require_java(), f"{kafka_jars(artifacts=MIRROR_MAKER)}/*"
        javac = java.with_name("javac")
        assert javac.exists(), f"{javac}: not found; these tests compile Java, so install a JDK"
        sources = sorted(map(str, SOURCES.rglob("*.java")))
        command = [
            str(javac),
            *(f"-J{flag}" for flag in SHORT_LIVED),
            "-encoding",
            "UTF-8",
            "-d",
            str(folder),
            "-cp",
            jars,
            *sources,
        ]
        compiled = subprocess.run(command, capture_output=True, text=True)
        assert compiled.returncode == 0, compiled.stdout + compiled.stderr
        self._log = folder / "oracle.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(str(java), "-Xmx256m", *SHORT_LIVED, "-cp", f"{folder}:{jars}"),
                    "org.apache.kafka.connect.mirror.MirrorOracle",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
            )

    def ask(self, what: str, **question: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"ask": what, **question}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, f"no answer to {what!r}; {self._log.read_text()[-3000:]}"
        return json.loads(answer)

    def close(self) -> None:
        """The end of its input is the end of the program."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
