"""`--master`, `--conf` and `--properties-file` as a user gives them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import heliograph, heliograph_here
from support.flows.services import spark_environment

_CONFIG = """
clusters = a, b
a.bootstrap.servers = 127.0.0.1:1
b.bootstrap.servers = 127.0.0.1:1
a->b.enabled = true
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mm2.properties"
    path.write_text(_CONFIG)
    return path


@pytest.fixture
def hangs_up() -> Iterator[int]:
    """The port of a server that ends each connection at its first bytes, as one with TLS does."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_master_that_does_not_answer_is_one_sentence(config: Path) -> None:
    with socket.socket() as free:  # bound, but not listening
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        done = heliograph_here("run", config, "--master", f"spark://127.0.0.1:{port}")

    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if "WARNING" not in line]
    assert said.startswith(
        f"error: --master spark://127.0.0.1:{port}: a Spark master does not answer"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--master", "spark1:7077"), "--master spark1:7077: expected"),
        (("--conf", "spark.master=spark1:7077"), "--master spark1:7077: expected"),
        (("--master", ""), "--master '': expected"),
        (("--conf", "spark.ui.enabled"), "--conf spark.ui.enabled: expected KEY=VALUE"),
        (("--properties-file", "nowhere.conf"), "--properties-file nowhere.conf: cannot be read"),
    ],
)
def test_options_of_spark_that_cannot_be_used_exit_with_2(
    config: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = heliograph_here("run", config, *arguments)

    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if "WARNING" not in line]
    assert said.startswith(f"error: {words}")


def test_a_server_that_is_no_master_ends_the_start_at_spark_s_first_refusal(
    config: Path, hangs_up: int, tmp_path: Path
) -> None:
    """Spark itself tries three times within a minute, and prints a trace each time."""
    arguments = ("run", config, "--master", f"spark://127.0.0.1:{hangs_up}")
    done = heliograph(*arguments, environment=spark_environment(tmp_path))

    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if "WARNING" not in line]
    assert said.startswith(
        f"error: Spark at spark://127.0.0.1:{hangs_up} did not start: the server there does not answer as a "
        "Spark master of this version, whose port is 7077 by default (8080 is its web page): "
    )
