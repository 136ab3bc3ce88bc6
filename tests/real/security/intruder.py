"""What another user of the machine tries. Run as root, it first becomes that user; then it does as its
standard input says (JSON), and writes what it got.

Spark's transport, as spark-network-common has it:

    frame     length (8, itself included) | type (1) | message
    request   3: id (8) | size (4) | body        answer 4: the same        failure 5
    chunk     0: stream (8) | index (4)          answer 1: the same | data  failure 2
    stream    6: size (4) | name                 answer 7                   failure 8
"""

import encodings.idna
import encodings.latin_1  # noqa: F401 - later on Python's own folder may be closed to this user
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from concurrent.futures.thread import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_SECONDS = 10.0
_ANSWERS = {1: "chunk", 2: "no chunk", 4: "answer", 5: "failure", 7: "stream", 8: "no stream"}
_CHUNK, _ANSWER = 1, 4
_MOST = 1 << 20


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">i", len(data)) + data


def framed(kind: int, message: bytes) -> bytes:
    return struct.pack(">qb", 9 + len(message), kind) + message


def request(body: bytes) -> bytes:
    return framed(3, struct.pack(">qi", 1, len(body)) + body)


def open_blocks(names: list[str]) -> bytes:
    """The block manager's own request for blocks; their chunks are fetched from the stream that it names."""
    listed = struct.pack(">i", len(names)) + b"".join(map(text, names))
    return request(b"\0" + text("local-1") + text("driver") + listed)


def received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("closed")
        data += more
    return data


def frame(connection: socket.socket) -> tuple[int, bytes]:
    length, kind = struct.unpack(">qb", received(connection, 9))
    if kind not in _ANSWERS or not 9 <= length <= _MOST:
        raise ConnectionError("an answer that is none of Spark's")
    return kind, received(connection, length - 9)


def blocks(connection: socket.socket, names: list[str]) -> tuple[str, bytes]:
    connection.sendall(open_blocks(names))
    kind, answer = frame(connection)
    if kind != _ANSWER:
        return _ANSWERS[kind], answer
    stream, count = struct.unpack(">qi", answer[13:25])
    got, data = "answer", b""
    for index in range(count):
        connection.sendall(framed(0, struct.pack(">qi", stream, index)))
        kind, chunk = frame(connection)
        if kind == _CHUNK:
            got, data = "chunk", data + chunk
    return got, data


def one(connection: socket.socket, message: bytes) -> tuple[str, bytes]:
    connection.sendall(message)
    kind, answer = frame(connection)
    return _ANSWERS[kind], answer


def py4j(connection: socket.socket) -> tuple[str, bytes]:
    """A static method of the JVM, without the gateway's token."""
    connection.sendall(b"c\nz:java.lang.System\ngetProperty\nsjava.home\ne\n")
    said = connection.recv(4096)
    return "answer" if said.startswith(b"!y") else "failure", said


def channel(connection: socket.socket) -> tuple[str, bytes]:
    """A task's hello with a proof of a wrong key, and then a receipt."""
    challenge = connection.recv(4096)
    hello = {"epoch": 1, "task": 0, "attempt": "0", "nonce": "0" * 32, "proof": "0" * 64}
    connection.sendall(json.dumps(hello).encode() + b"\n")
    said = connection.recv(4096)
    return "answer" if b"granted" in said else "failure", challenge + said


def outcome(port: int, probe: Callable[[socket.socket], tuple[str, bytes]]) -> tuple[str, str]:
    try:
        with socket.create_connection(("127.0.0.1", port), _SECONDS) as connection:
            got, data = probe(connection)
            return got, data.decode("latin-1")
    except OSError as e:
        return type(e).__name__, ""


def probes(job: dict[str, Any]) -> dict[str, Callable[[socket.socket], tuple[str, bytes]]]:
    names = [f"broadcast_{number}_piece0" for number in range(job["broadcasts"])]
    verify = bytes.fromhex(job["rpc"])
    return {
        **{f"blocks {name}": lambda c, name=name: blocks(c, [name]) for name in names},
        "rpc": lambda c: one(c, request(verify)),
        "stream": lambda c: one(c, framed(6, text("/files/x"))),
        "py4j": py4j,
        "channel": channel,
    }


def below(folder: Path, since: float) -> Iterator[Path]:
    """All files that can be found and have been written to since."""
    for found, _, names in os.walk(folder):
        for path in (Path(found, name) for name in names):
            try:
                written = path.lstat()
            except OSError:
                continue  # gone
            if stat.S_ISREG(written.st_mode) and written.st_mtime >= since:
                yield path


def content(path: Path) -> bytes | None:
    """Of a file, or the names in a folder; None: may not be read."""
    try:
        if path.is_dir():
            return " ".join(each.name for each in path.iterdir()).encode()
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            return file.read(16 * _MOST)
    except OSError:
        return None


def readable(paths: list[str]) -> list[str]:
    return [path for path in paths if content(Path(path)) is not None]


def holding(folders: list[str], since: float, secrets: list[str]) -> list[str]:
    wanted = [secret.encode() for secret in secrets]
    return [
        str(path)
        for folder in folders
        for path in below(Path(folder), since)
        if any(secret in (content(path) or b"") for secret in wanted)
    ]


def main() -> None:
    job = json.load(sys.stdin)
    os.setgroups([])
    os.setgid(job["uid"])
    os.setuid(job["uid"])
    with ThreadPoolExecutor(64) as pool:  # most answers are silence
        asked = {
            str(port): {n: pool.submit(outcome, port, probe) for n, probe in probes(job).items()}
            for port in job["ports"]
        }
    got = {port: {name: each.result() for name, each in its.items()} for port, its in asked.items()}
    found = {
        "uid": os.getuid(),
        "ports": got,
        "readable": readable(job["paths"]),
        "holding": holding(job["folders"], job["since"], job["secrets"]),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
