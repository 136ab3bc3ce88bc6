"""A master that does not answer is one sentence, before a JVM is started."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import ConfigError, EnvironmentProblem
from heliograph.spark import preflight
from heliograph.spark.preflight import check_master, why_no_answer_of_spark


@pytest.fixture
def closed() -> int:
    """A port on which no server listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("spark://127.0.0.1:{}", "a Spark master"),
        ("k8s://https://127.0.0.1:{}", "the API server of Kubernetes"),
    ],
)
def test_a_port_without_a_server_is_named(url: str, what: str, closed: int) -> None:
    master = url.format(closed)
    with pytest.raises(EnvironmentProblem) as e:
        check_master(master, {})

    assert str(e.value) == (
        f"--master {master}: {what} does not answer (127.0.0.1:{closed}: connection refused); "
        "start it, or correct the address"
    )


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """The port of a server that answers the first request with these bytes; without any, it ends the
    connection."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


#: As recorded from a master of Spark 4.3.0.
MASTERS_ANSWER = (
    b"\0\0\0\0\0\0\0\x49\x08\0\0\0\x10/jars/heliograph\0\0\0\x28"
    b"Stream '/jars/heliograph' was not found."
)
TLS_ALERT = bytes.fromhex("15030300020246") + bytes(4)


def test_one_of_several_masters_is_enough(closed: int) -> None:
    with answering(MASTERS_ANSWER) as port:
        check_master(f"spark://127.0.0.1:{closed},127.0.0.1:{port}", {})


@pytest.mark.parametrize("answer", [MASTERS_ANSWER, TLS_ALERT, b""])
def test_a_server_that_may_be_a_master_is_left_to_spark(answer: bytes) -> None:
    """One with spark.ssl.rpc.enabled ends a connection without TLS."""
    with answering(answer) as port:
        check_master(f"spark://127.0.0.1:{port}", {})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answers HTTP, as the page of a master does"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "answers, but not as Spark does"),
        (b"\0\0\0\x1a\0\0\0\0\0\0\0\0", "answers, but not as Spark does"),
    ],
)
def test_a_server_that_is_no_master_is_named(answer: bytes, words: str) -> None:
    """Spark took 24 s to give up."""
    with answering(answer) as port, pytest.raises(EnvironmentProblem, match=words):
        check_master(f"spark://127.0.0.1:{port}", {})


def test_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(EnvironmentProblem, match="accepts connections, but does not answer"):
            check_master(f"spark://127.0.0.1:{port}", {})


@given(st.binary(max_size=40))
def test_any_answer_has_a_verdict(answer: bytes) -> None:
    assert isinstance(why_no_answer_of_spark(answer), str)


def test_a_host_name_that_does_not_exist_is_said() -> None:
    with pytest.raises(EnvironmentProblem, match="the host name cannot be resolved"):
        check_master("spark://nowhere.invalid:7077", {})


def test_yarn_needs_the_configuration_of_hadoop(tmp_path: Path, closed: int) -> None:
    with pytest.raises(ConfigError, match="set HADOOP_CONF_DIR or YARN_CONF_DIR"):
        check_master("yarn", {})
    environment = {"HADOOP_CONF_DIR": str(tmp_path)}
    with pytest.raises(ConfigError, match=f"there is no yarn-site.xml in {tmp_path}"):
        check_master("yarn", environment)

    site = tmp_path / "yarn-site.xml"
    site.write_text("<configuration/>")
    with pytest.raises(ConfigError, match="names no resource manager"):
        check_master("yarn", environment)
    site.write_text("yarn")
    with pytest.raises(ConfigError, match="cannot be read"):
        check_master("yarn", environment)

    name = "<name>yarn.resourcemanager.address</name>"
    value = f"<value>127.0.0.1:{closed}</value>"
    site.write_text(f"<configuration><property>{name}{value}</property></configuration>")
    with pytest.raises(EnvironmentProblem, match="YARN's resource manager does not answer"):
        check_master("yarn", environment)
