"""`heliograph demo` as a newcomer starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from heliograph.embedded.jars import kafka_jars
from support.waiting import PATIENCE_SECONDS, eventually

_DEMO = [sys.executable, "-m", "heliograph", "demo"]


@pytest.fixture(scope="module", autouse=True)
def _jars() -> None:
    """What is fetched once per machine is not the demo's time: from nothing it takes two minutes."""
    kafka_jars()


def test_a_demo_of_a_known_set_compares_both_sides_and_ends_well() -> None:
    done = subprocess.run([*_DEMO, "--once"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "mirrored 20,005 records, 0 missing, 0 different" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_demo_mirrors_until_it_is_stopped_and_prints_commands_to_try(tmp_path: Path) -> None:
    log = tmp_path / "demo.log"
    with log.open("w") as file:
        process = subprocess.Popen(_DEMO, stdout=file, stderr=subprocess.STDOUT)
        try:
            eventually(log.read_text, lambda said: "first mirrored record" in said)
            process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()
            process.wait()

    said = log.read_text()
    assert code == 0
    assert re.search(r"mirrored [\d,]+ records; offsets are stored", said)
    assert "kcat -b" in said
    assert "kafka-console-consumer.sh" in said
    assert "Traceback" not in said
