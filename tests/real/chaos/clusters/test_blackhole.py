"""Packets between two processes are dropped, and come after all when the block ends; with plain sockets."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from chaos.clusters.blackhole import Blackhole
from chaos.errors import ChaosError

_SECONDS = 60
_ECHO = """
import socket, threading
def serve(line):
    while data := line.recv(100):
        line.sendall(data)
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"""
_CLIENT = """
import socket, sys
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for command in sys.stdin:
    seconds, said = command.split()
    line.settimeout(float(seconds))
    if said != "-":
        line.sendall(said.encode())
    try:
        print(line.recv(100).decode(), flush=True)
    except TimeoutError:
        print("nothing", flush=True)
"""


class Client:
    """A process with one connection."""

    def __init__(self, port: int) -> None:
        command = [sys.executable, "-c", _CLIENT, str(port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.process = psutil.Process(self._process.pid)

    def hears(self, said: str = "-", within: float = _SECONDS) -> str:
        """What comes back when this is said; "-" says nothing, and "nothing" is what it is."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{within} {said}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def server() -> Iterator[tuple[psutil.Process, int]]:
    """A process that sends back what it gets, and its port."""
    with subprocess.Popen([sys.executable, "-c", _ECHO], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield psutil.Process(process.pid), int(process.stdout.readline())
        process.kill()


@pytest.fixture
def client(server: tuple[psutil.Process, int]) -> Iterator[Client]:
    client = Client(server[1])
    yield client
    client.close()


def test_bytes_wait_while_it_lasts_and_come_when_it_ends(
    server: tuple[psutil.Process, int], client: Client
) -> None:
    process, port = server
    assert client.hears("before") == "before"

    with Blackhole([process], [client.process]) as hole:
        assert hole.sockets == 3, "either end of the line, and the one that listens"
        assert client.hears("meanwhile", within=1.0) == "nothing"
        with pytest.raises(TimeoutError):
            socket.create_connection(("127.0.0.1", port), 1.0)

    assert client.hears() == "meanwhile"
    socket.create_connection(("127.0.0.1", port), _SECONDS).close()


def test_lines_among_the_processes_of_one_side_go_on(
    server: tuple[psutil.Process, int], client: Client
) -> None:
    assert client.hears("hello") == "hello"

    with pytest.raises(ChaosError, match="no sockets to cut"):
        Blackhole([server[0], client.process], []).__enter__()
