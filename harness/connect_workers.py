"""Connect workers, Kafka's own and ours, under the same configuration."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

_READY_SECONDS = 120.0
_LOOK_SECONDS = 0.2
_SECONDS = 60.0


def worker_properties(bootstrap: str, port: int, name: str) -> dict[str, str]:
    """For one worker of the group `name`, whose topics have that name, too. Connectors copy bytes."""
    converter = "org.apache.kafka.connect.converters.ByteArrayConverter"
    return {
        "bootstrap.servers": bootstrap,
        "group.id": name,
        "listeners": f"http://127.0.0.1:{port}",
        "key.converter": converter,
        "value.converter": converter,
        **{
            key: value
            for kind in ("config", "offset", "status")
            for key, value in (
                (f"{kind}.storage.topic", f"{name}-{kind}"),
                (f"{kind}.storage.replication.factor", "1"),
            )
        },
        "offset.flush.interval.ms": "1000",
        "scheduled.rebalance.max.delay.ms": "0",
    }


def wait_until_ready(process: subprocess.Popen[bytes], port: int, console: Path) -> None:
    """Raises HarnessError with the end of its console."""
    deadline = time.monotonic() + _READY_SECONDS
    while not _healthy(port):
        ended = process.poll() is not None
        if ended or time.monotonic() > deadline:
            why = "exited" if ended else f"not ready after {_READY_SECONDS:.0f} s"
            text = console.read_text(errors="replace")[-2000:]
            raise HarnessError(f"worker in {console.parent}: {why}; its console ends with:\n{text}")
        time.sleep(_LOOK_SECONDS)


def request(port: int, method: str, path: str, body: object = None) -> Any:
    """What a worker answers. Raises HarnessError unless the status is 2xx."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    if answer.status // 100 != 2:
        raise HarnessError(f"{method} {path}: {answer.status}: {data.decode(errors='replace')}")
    return json.loads(data) if data else None


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
