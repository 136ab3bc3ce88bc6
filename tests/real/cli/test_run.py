"""`heliograph run` as a user starts it: a process, its exit code, what it says, how it stops."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.clusters.reading import offsets, read_all, topics_of
from support.clusters.writing import New, create_topics, numbered, write
from support.commands import heliograph, heliograph_here
from support.flows.mirroring import Flow, mirror_once
from support.waiting import PATIENCE_SECONDS, eventually


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "heliograph", "run", *map(str, arguments)]


def properties_file(folder: Path, properties: Mapping[str, str]) -> Path:
    path = folder / "mm2.properties"
    path.write_text("".join(f"{key} = {value}\n" for key, value in properties.items()))
    return path


# ── bad configuration: exit code 2, nothing is started ───────────────────────────────────────


GOOD = {
    "clusters": "a, b, c",
    "a.bootstrap.servers": "127.0.0.1:1",
    "b.bootstrap.servers": "127.0.0.1:1",
    "c.bootstrap.servers": "127.0.0.1:1",
    "a->b.enabled": "true",
}


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    done = heliograph_here("run", tmp_path / "nowhere.properties", "--once")

    assert done.returncode == 2
    assert "nowhere.properties" in done.stderr
    assert "Traceback" not in done.stderr


#: Pairs without a flow would run for their heartbeats.
SILENT = {"emit.heartbeats.enabled": "false"}


@pytest.mark.parametrize(
    ("changes", "arguments", "words"),
    [
        ({"a->x.enabled": "true"}, (), "x"),
        ({"a->b.enabled": "false"} | SILENT, (), "No source->target replication flows"),
        ({"a->b.topics": "orders(["}, (), "orders(["),
        ({"b.bootstrap.servers": ""}, (), "b.bootstrap.servers"),
        ({}, ("--clusters", "nobody"), "nobody"),
        (SILENT, ("--clusters", "c"), "No source->target replication flows"),
    ],
    ids=["unknown alias", "no flow", "bad regex", "no bootstrap", "unknown target", "idle target"],
)
def test_a_configuration_that_cannot_be_used_exits_with_2(
    tmp_path: Path,
    changes: dict[str, str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    path = properties_file(tmp_path, GOOD | changes)

    done = heliograph_here("run", path, "--once", *arguments)

    assert done.returncode == 2, done.stderr
    assert words in done.stderr


# ── clusters that are not there: exit code 1 ──────────────────────────────────────────────────


#: Time enough to join the flow's group on the target first, also on a busy machine.
_GIVE_UP_SECONDS = 20


def unreachable(flow: Flow, port: int) -> dict[str, str]:
    return flow.properties() | {
        f"{flow.alias}.bootstrap.servers": f"127.0.0.1:{port}",
        "once.timeout.seconds": str(_GIVE_UP_SECONDS),
    }


def test_once_gives_up_on_a_cluster_that_cannot_be_reached(flow: Flow, tmp_path: Path) -> None:
    with socket.socket() as free:  # bound, but not listening
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        done = heliograph("run", properties_file(tmp_path, unreachable(flow, port)), "--once")

    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "retrying" in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.stderr


@contextmanager
def talker(words: bytes) -> Iterator[int]:
    """A server that says something and hangs up."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(words)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_once_gives_up_on_a_port_that_is_not_kafkas(flow: Flow, tmp_path: Path) -> None:
    """Other servers than this one: tests/unit/client/net/test_connection.py"""
    with talker(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        done = heliograph("run", properties_file(tmp_path, unreachable(flow, port)), "--once")

    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "an HTTP server answered" in done.stderr
    assert "Traceback" not in done.stderr


# ── runs that do their work ──────────────────────────────────────────────────────────────────


def test_once_mirrors_what_is_there_and_exits_with_0(flow: Flow, tmp_path: Path) -> None:
    topic = flow.create(partitions=2)
    write(flow.source, topic, numbered(range(10)), numbered(range(5), partition=1))
    # A flow into another target, which --clusters leaves out, would fail.
    extra = {
        "clusters": f"{flow.alias}, b, elsewhere",
        "elsewhere.bootstrap.servers": "127.0.0.1:1",
        f"{flow.alias}->elsewhere.enabled": "true",
    }
    path = properties_file(tmp_path, flow.properties() | extra)

    done = heliograph("run", path, "--once", "--clusters", "b")

    assert done.returncode == 0, done.stderr
    assert "mirrored 15 records" in done.stdout
    assert flow.assert_mirrored(topic) == 15


def test_once_exits_with_1_and_names_the_partition_that_failed(flow: Flow, tmp_path: Path) -> None:
    topic = flow.create(partitions=2)
    create_topics(flow.target, {flow.remote(topic): 2}, configs={"max.message.bytes": "2000"})
    write(
        flow.source,
        topic,
        [*numbered(range(4)), New(value=b"x" * 5000), *numbered(range(5), partition=1)],
    )

    path = properties_file(tmp_path, flow.properties(sync_topic_configs_enabled="false"))

    done = heliograph("run", path, "--once")

    assert done.returncode == 1
    assert f"FAILED: {flow.name} {topic}-0 stopped at source offset 4" in done.stderr
    assert "mirrored 9 records" in done.stdout
    assert offsets(flow.target, flow.remote(topic), 1) == (0, 5)


def test_a_signal_stops_the_mirror_with_offsets_stored(flow: Flow, tmp_path: Path) -> None:
    """SIGTERM; for Ctrl-C see test_demo.py"""
    topic = flow.create(partitions=2)
    write(flow.source, topic, numbered(range(10)), numbered(range(5), partition=1))
    path = properties_file(tmp_path, flow.properties())
    process = subprocess.Popen(
        command(path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        wait_for_mirror(flow, topic, (10, 5), process)
        process.terminate()
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 0, said
    assert "mirrored 15 records" in said
    assert mirror_once(flow.spark, flow.config()).records == 0, "the offsets were not stored"
    assert flow.assert_mirrored(topic) == 15


def test_a_signal_stops_a_mirror_that_waits_for_a_cluster(flow: Flow, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        path = properties_file(tmp_path, unreachable(flow, free.getsockname()[1]))
        process = subprocess.Popen(command(path), stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "retrying" in line:
                    break
            process.terminate()
            _, said = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
            process.wait()

    assert process.returncode == 0, said


# ── a configuration that changes from one run to the next ────────────────────────────────────


def test_nothing_is_written_under_an_old_configuration_after_a_restart_with_a_new_one(
    flow: Flow, tmp_path: Path
) -> None:
    """MM2 4.3.1, restarted with another separator, ran its tasks with the old one first."""
    topic = flow.create()
    write(flow.source, topic, *(numbered(range(n, n + 10)) for n in range(0, 3000, 10)))
    slow = {"throttle_bytes_per_second": "20000"}  # so that a run ends in the middle of its work
    first, second, third = (f"{flow.alias}{separator}{topic}" for separator in (".", "-", "--"))
    often = {"b.offset.flush.interval.ms": "200"}

    with flow.running(often, **slow):
        wait_for_length(flow, first, 100)
    stopped_at = offsets(flow.target, first)[1]
    changed = {"replication.policy.separator": "-"} | often
    path = properties_file(tmp_path, flow.properties(**slow) | changed)
    with subprocess.Popen(command(path), stderr=subprocess.DEVNULL) as process:
        wait_for_length(flow, second, 100)
        process.kill()
    with flow.running({"replication.policy.separator": "--"}) as mirror:
        eventually(lambda: topics_of(flow.target), lambda found: third in found)
        killed_at = offsets(flow.target, second)[1]
        eventually(lambda: mirror.receipt(topic), lambda r: r is not None and r.position == 3000)

    there = [read_all(flow.target, name)[0] for name in (first, second, third)]
    found = [[record.value for record in records] for records in there]
    assert [len(values) for values in found[:2]] == [stopped_at, killed_at], "old topics have grown"
    expected = [b"value %d" % number for number in range(3000)]
    assert found[0] == expected[:stopped_at]
    assert found[1] == expected[stopped_at : stopped_at + killed_at]
    # After a kill the stored offset is a lower bound: nothing is left out between the two.
    assert found[2] == expected[-len(found[2]) :]
    assert len(found[2]) >= 3000 - stopped_at - killed_at


def wait_for_length(flow: Flow, topic: str, records: int) -> None:
    eventually(
        lambda: offsets(flow.target, topic)[1] if topic in topics_of(flow.target) else 0,
        lambda found: found >= records,
    )


def wait_for_mirror(
    flow: Flow, topic: str, lengths: tuple[int, ...], process: subprocess.Popen[str]
) -> None:
    def look() -> tuple[int | None, dict[int, int]]:
        try:
            found = read_all(flow.target, flow.remote(topic))
        except AssertionError:  # not created yet
            found = {}
        return process.poll(), {number: len(records) for number, records in found.items()}

    state = eventually(
        look,
        lambda state: state[0] is not None or state[1] == dict(enumerate(lengths)),
    )
    assert state[0] is None, f"ended early with code {state[0]}"
