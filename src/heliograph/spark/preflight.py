"""Connects to a Spark master before a JVM is started: Spark would try for a minute, and print its traces."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from heliograph.errors import ConfigError, EnvironmentProblem
from heliograph.plan.spark.master import Address, Kind, parse_master, resource_managers

_CONNECT_SECONDS = 5.0
_WHAT = {
    Kind.STANDALONE: "a Spark master",
    Kind.YARN: "YARN's resource manager",
    Kind.KUBERNETES: "the API server of Kubernetes",
}


def check_master(url: str, environment: Mapping[str, str]) -> None:
    """Raises ConfigError for a URL that Spark cannot use, EnvironmentProblem if no server listens there."""
    master = parse_master(url)
    if master.kind is Kind.LOCAL:
        return
    addresses = _yarn(environment) if master.kind is Kind.YARN else master.addresses
    _require_listener(url, _WHAT[master.kind], addresses)


def _yarn(environment: Mapping[str, str]) -> Sequence[Address]:
    folders = [environment[n] for n in ("HADOOP_CONF_DIR", "YARN_CONF_DIR") if environment.get(n)]
    if not folders:
        raise ConfigError(
            "--master yarn: set HADOOP_CONF_DIR or YARN_CONF_DIR to the folder of yarn-site.xml"
        )
    files = [file for folder in folders if (file := Path(folder) / "yarn-site.xml").is_file()]
    if not files:
        raise ConfigError(
            f"--master yarn: there is no yarn-site.xml in {' or '.join(folders)}; set HADOOP_CONF_DIR to "
            "the folder of it"
        )
    try:
        found = resource_managers(files[0].read_text())
    except (OSError, ValueError) as e:
        raise ConfigError(f"--master yarn: {files[0]} cannot be read: {e}") from e
    if not found:
        raise ConfigError(
            f"--master yarn: {files[0]} names no resource manager; set yarn.resourcemanager.hostname there"
        )
    return found


def _require_listener(url: str, what: str, addresses: Sequence[Address]) -> None:
    reasons: list[str] = []
    deadline = time.monotonic() + _CONNECT_SECONDS
    for host, port in addresses:
        left = max(deadline - time.monotonic(), 0.5)
        try:
            with socket.create_connection(
                (host, port), timeout=left / (len(addresses) - len(reasons))
            ):
                return
        except OSError as e:
            reasons.append(f"{host}:{port}: {_reason(e)}")
    raise EnvironmentProblem(
        f"--master {url}: {what} does not answer ({'; '.join(reasons)}); start it, or correct the address"
    )


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "the host name cannot be resolved"
    if isinstance(error, TimeoutError):
        return "no connection within a few seconds"
    return (error.strerror or str(error)).lower()
