"""A Java on which no task can run: told once with its cause, and not started again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.clusters.writing import create_topics, numbered, write
from support.flows.mirroring import Flow
from support.java.runtimes import java_home
from support.waiting import PATIENCE_SECONDS

#: Java 25 without the flag that Netty and Arrow need.
_WITHOUT_FLAGS = """
import sys
import heliograph.machine.java as java
java.java_flags = lambda version: ()
from heliograph.cli.main import main
main()
"""


def test_tasks_that_can_never_run_end_the_command_with_their_causes_cause(
    flow: Flow, tmp_path: Path
) -> None:
    topic = f"{flow.alias}-t"
    create_topics(flow.source, {topic: 1})
    write(flow.source, topic, numbered(range(3)))
    file = tmp_path / "mm2.properties"
    file.write_text("".join(f"{key} = {value}\n" for key, value in flow.properties().items()))

    done = subprocess.run(
        [
            sys.executable,
            "-c",
            _WITHOUT_FLAGS,
            "run",
            str(file),
        ],  # a service, which would try for ever
        env=os.environ | {"JAVA_HOME": str(java_home(25))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )

    assert done.returncode == 1, done.stderr
    assert done.stderr.count("cannot run on this Java") == 1
    assert "caused by java.lang.UnsupportedOperationException" in done.stderr
    assert "restarting the copy" not in done.stderr
    assert "Traceback" not in done.stderr
