"""A master that does not answer is one sentence, before a JVM is started."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from heliograph.errors import ConfigError, EnvironmentProblem
from heliograph.spark.preflight import check_master


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


def test_one_of_several_masters_is_enough(closed: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        check_master(f"spark://127.0.0.1:{closed},127.0.0.1:{listener.getsockname()[1]}", {})


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
