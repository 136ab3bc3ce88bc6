"""Another user of the same machine gets nothing of a mirror that runs on it.

What it tries, `intruder.py` does under another user id; that its questions are understood is shown at a Spark
without authentication.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from heliograph.embedded import Cluster
from support.clusters.guarded import (
    PASSWORD,
    SHARED,
    STORE_PASSWORD,
    Files,
    client_key,
    cluster_properties,
    inline,
)
from support.clusters.guarded import password as login
from support.clusters.reading import offsets, topics_of
from support.clusters.writing import create_topics, numbered, write
from support.flows.services import Service, service, spark_environment
from support.waiting import PATIENCE_SECONDS, eventually

HERE = Path(__file__).parent
NOBODY = 65534
_LISTENING = "0A"
_BROADCASTS = 4
_GOT = {"answer", "chunk", "stream"}

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can try something as another user"
)


def intrude(**job: Any) -> dict[str, Any]:
    whole = {
        "uid": NOBODY,
        "ports": [],
        "paths": [],
        "folders": [],
        "secrets": [],
        "since": 0.0,
        **job,
    }
    done = subprocess.run(
        [sys.executable, "-I", str(HERE / "intruder.py")],
        input=json.dumps({"broadcasts": _BROADCASTS, **whole}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["uid"] == NOBODY
    return found


@contextmanager
def unguarded_spark(folder: Path) -> Iterator[dict[str, Any]]:
    with subprocess.Popen(
        [sys.executable, str(HERE / "unguarded_spark.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=spark_environment(folder),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Where the mirror has its temporary files; others may enter, as with /tmp."""
    folder = Path(tempfile.mkdtemp(prefix="shared-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def family(service: Service) -> list[psutil.Process]:
    root = psutil.Process(service.process.pid)
    return [root, *root.children(recursive=True)]


def listening(processes: list[psutil.Process]) -> set[int]:
    """Ports that these processes listen at, by the inodes of their sockets."""
    inodes = set()
    for process in processes:
        for path in Path("/proc", str(process.pid), "fd").iterdir():
            if found := re.fullmatch(r"socket:\[(\d+)\]", _link(path)):
                inodes.add(found[1])
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and fields[9] in inodes:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""  # closed meanwhile


def own_files(processes: list[psutil.Process]) -> list[str]:
    """What /proc shows of them, and the temporary files that they have open; not the software, wherever it is
    installed."""
    found = []
    for process in processes:
        proc = Path("/proc", str(process.pid))
        found += [str(proc / name) for name in ("environ", "mem", "maps", "auxv", "fd", "cwd")]
        for path in (proc / "fd").iterdir():
            found.append(str(path))
            target = _link(path)
            if target.startswith(("/tmp/", "/dev/shm/")) and not target.startswith(sys.prefix):
                found.append(target)
    return found


def gateway(temporary: Path) -> tuple[int, str]:
    """Port and token of py4j, which only its owner may read."""
    (path,) = temporary.rglob("gateway")
    data = path.read_bytes()
    length = int.from_bytes(data[4:8])
    return int.from_bytes(data[:4]), data[8 : 8 + length].decode()


def test_another_user_of_the_machine_gets_nothing(
    guarded: Cluster, files: Files, tmp_path: Path, temporary: Path
) -> None:
    remote = "other-a.of-others"
    create_topics(guarded, {"of-others": 1})
    write(guarded, "of-others", numbered(range(10)))
    properties = SHARED | {
        "clusters": "other-a, other-b",
        **cluster_properties("other-a", guarded, "SASL", login("SCRAM-SHA-512")),
        **cluster_properties(
            "other-b", guarded, "MUTUAL", inline(files) | client_key(files.client)
        ),
        "other-a->other-b.enabled": "true",
        "other-a->other-b.topics": "of-others",
    }
    environment = {**spark_environment(tmp_path), "TMPDIR": str(temporary)}
    before = set(Path("/dev/shm").glob("heliograph-*"))

    with service(tmp_path, "run", properties, environment=environment) as run:
        eventually(
            lambda: remote in topics_of(guarded) and offsets(guarded, remote)[1],
            lambda end: end == 10,
        )
        processes = family(run)
        ports = listening(processes) - {run.rest.port}
        memory = [str(each) for each in set(Path("/dev/shm").glob("heliograph-*")) - before]
        paths = [*map(str, temporary.rglob("*")), *memory, *own_files(processes), str(run.config)]
        py4j, token = gateway(temporary)
        secrets = [PASSWORD, STORE_PASSWORD, token]
        with unguarded_spark(tmp_path) as spark:
            control = intrude(ports=[spark["rpc"], spark["blocks"]], rpc=spark["message"])
        found = intrude(
            ports=sorted(ports),
            rpc=spark["message"],
            paths=paths,
            folders=["/tmp", "/dev/shm", "/var/tmp"],
            since=psutil.Process(run.process.pid).create_time(),
            secrets=secrets,
        )
        assert run.process.poll() is None
        assert run.stop() == 0

    assert_understood(control["ports"], spark)
    assert py4j in ports
    assert len(ports) >= 5, "RPC, blocks, py4j, accumulators and the channel are among them"
    assert any(each["channel"][1].strip() for each in found["ports"].values()), "a challenge"
    for port, outcomes in found["ports"].items():
        for probe, (got, said) in outcomes.items():
            assert got not in _GOT, (port, probe, said[:200])
            assert not [secret for secret in secrets if secret in said], (port, probe)
    assert [path for path in paths if "blockmgr-" in path], "Spark's blocks are where we looked"
    assert found["readable"] == []
    assert found["holding"] == []


def assert_understood(ports: dict[str, Any], spark: dict[str, Any]) -> None:
    """Without authentication the same questions are answered."""
    assert ports[str(spark["rpc"])]["rpc"][0] == "answer"
    blocks = [its for name, its in ports[str(spark["blocks"])].items() if "blocks" in name]
    assert any(got == "chunk" and "planted in a task" in data for got, data in blocks)
