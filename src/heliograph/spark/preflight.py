"""Connects to a Spark master before a JVM is started: Spark would try for a minute, and print its traces.

A standalone master is also asked for a file that it does not have, which it answers at once and without a
line in its log. In Spark's protocol (`TransportFrameDecoder`, `StreamRequest`, `StreamFailure`):

    ┌───────────────┬──────┬────────────────┬──────┐
    │ frame length 8│ type1│ name length   4│ name │   the length is the whole frame's; type 6 asks, 8 answers
    └───────────────┴──────┴────────────────┴──────┘
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from heliograph.errors import ConfigError, EnvironmentProblem
from heliograph.plan.spark.master import Address, Kind, parse_master, resource_managers

_CONNECT_SECONDS = 5.0
#: A master answers within milliseconds; one that collects garbage may need seconds.
_ANSWER_SECONDS = 5.0
_FRAME = struct.Struct(">qB")
_STREAM_REQUEST, _STREAM_FAILURE = 6, 8
_NAME = b"/jars/heliograph-asks-whether-this-is-spark"
#: First bytes of TLS: an alert, a handshake.
_TLS_RECORDS = (0x15, 0x16)
_LARGEST_ANSWER = 1 << 16
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
    _require_listener(url, _WHAT[master.kind], addresses, asks=master.kind is Kind.STANDALONE)


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


def _require_listener(url: str, what: str, addresses: Sequence[Address], *, asks: bool) -> None:
    reasons: list[str] = []
    deadline = time.monotonic() + _CONNECT_SECONDS
    for host, port in addresses:
        left = max(deadline - time.monotonic(), 0.5)
        try:
            with socket.create_connection(
                (host, port), timeout=left / (len(addresses) - len(reasons))
            ) as connection:
                other = _why_not_spark(connection, _ANSWER_SECONDS / len(addresses)) if asks else ""
        except OSError as e:
            other = _reason(e)
        if not other:
            return
        reasons.append(f"{host}:{port}: {other}")
    raise EnvironmentProblem(
        f"--master {url}: {what} does not answer ({'; '.join(reasons)}); start it, or correct the address"
    )


def _why_not_spark(connection: socket.socket, seconds: float) -> str:
    """ "" if it may be a Spark master: one that requires TLS ends the connection or sends an alert."""
    body = struct.pack(">i", len(_NAME)) + _NAME
    answer = b""
    try:
        connection.sendall(_FRAME.pack(_FRAME.size + len(body), _STREAM_REQUEST) + body)
        connection.settimeout(seconds)
        while len(answer) < _FRAME.size and (received := connection.recv(1024)):
            answer += received
    except TimeoutError:
        return f"accepts connections, but does not answer within {seconds:.0f} s"
    except OSError:
        return ""
    return why_no_answer_of_spark(answer)


def why_no_answer_of_spark(answer: bytes) -> str:
    if answer.startswith(b"HTTP/"):
        return "answers HTTP, as the page of a master does; the master itself has another port, such as 7077"
    if len(answer) < _FRAME.size or answer[0] in _TLS_RECORDS:
        return ""
    size, kind = _FRAME.unpack_from(answer)
    if kind == _STREAM_FAILURE and _FRAME.size < size < _LARGEST_ANSWER:
        return ""
    return "answers, but not as Spark does"


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "the host name cannot be resolved"
    if isinstance(error, TimeoutError):
        return "no connection within a few seconds"
    return (error.strerror or str(error)).lower()
