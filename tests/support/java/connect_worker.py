"""A real Connect worker of Kafka's own as a child process, its REST, and an end as orderly as it can be."""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heliograph.embedded.ports import free_port
from heliograph.embedded.properties import render_properties
from heliograph.embedded.tools import connect_worker_command
from support.java.mirror_maker import tail
from support.waiting import PATIENCE_SECONDS, eventually

#: Of tests' workers: many a flush of offsets.
_HUNG_SECONDS = 15
_HUNG = "Unable to destroy (org.eclipse.jetty.util.component.ContainerLifeCycle)"


class Rest:
    """Of a worker on this machine, Java's or ours."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and document; 0 if nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, json.loads(data) if data else None
        except ValueError:
            return 0, None  # Jetty, before Connect has begun
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def await_answer(self) -> None:
        eventually(lambda: self.ask("GET", "/connectors")[0], lambda s: s == 200)

    def await_running(self, name: str, *, tasks: int) -> None:
        def running(answer: tuple[int, Any]) -> bool:
            status, document = answer
            if status != 200 or len(document["tasks"]) != tasks:
                return False
            return all(s["state"] == "RUNNING" for s in (document["connector"], *document["tasks"]))

        eventually(lambda: self.ask("GET", f"/connectors/{name}/status"), running)


def _stop(process: subprocess.Popen[bytes], log: Path) -> None:
    """As an operator would. Jetty and Connect each have a shutdown hook that stops the same server. Now and
    then they meet, and Connect waits for good, its connectors at work (Jetty 12.0.34: one stop in nine on
    a busy machine). Only a kill ends that, the caller's; what it has copied by then is in its offsets."""
    process.terminate()
    try:
        process.wait(_HUNG_SECONDS)
    except subprocess.TimeoutExpired:
        if _HUNG not in log.read_text():
            process.wait(PATIENCE_SECONDS)


@contextmanager
def java_worker(properties: Mapping[str, str], folder: Path) -> Iterator[Rest]:
    """Answers from the start of the block to its end."""
    rest = Rest(free_port())
    path, log = folder / f"java-{rest.port}.properties", folder / f"java-{rest.port}.log"
    settings = {**properties, "listeners": f"http://127.0.0.1:{rest.port}"}
    path.write_text(render_properties(settings))
    process = subprocess.Popen(
        connect_worker_command(path, log=log), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        rest.await_answer()
        yield rest
        _stop(process, log)
    except BaseException as e:
        e.add_note(tail(log))
        raise
    finally:
        process.kill()
        process.wait()
