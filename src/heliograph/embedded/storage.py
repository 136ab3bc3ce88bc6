"""Formats the log directories of nodes without starting a JVM for each.

`kafka-storage format` writes two files: `bootstrap.checkpoint`, the feature levels of the release
(metadata.version, transaction.version, group.version, …), which depends on neither cluster nor node, and
`meta.properties`, which names both. So the tool runs once per Kafka version, its checkpoint stays in the
cache, and each node gets a copy and a `meta.properties` of its own. SCRAM credentials are records of the
checkpoint: for a cluster with SCRAM users the tool runs again.
"""

from __future__ import annotations

import base64
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import javaproperties

from heliograph.embedded.jars import kafka_jars
from heliograph.embedded.properties import render_properties
from heliograph.errors import BrokerNotRunning
from heliograph.machine.cache import build_once, cache_folder
from heliograph.machine.java import java_command

_CHECKPOINT = "bootstrap.checkpoint"


def new_uuid() -> str:
    """A Kafka Uuid as text: 16 bytes, URL-safe base64 without padding, no leading dash.

    On a command line a leading dash would be an option; `org.apache.kafka.common.Uuid` avoids it, too.
    """
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text


@contextmanager
def bootstrap_checkpoint(version: str, scram_credentials: Sequence[str] = ()) -> Iterator[Path]:
    """The checkpoint to copy into each node's log directory. Without SCRAM, one per version."""
    if not scram_credentials:
        folder = cache_folder() / "kafka" / version / "formatted"
        yield build_once(folder, lambda empty: _format(version, (), empty)) / _CHECKPOINT
        return
    with tempfile.TemporaryDirectory(prefix="heliograph-format-") as folder_name:
        _format(version, scram_credentials, Path(folder_name))
        yield Path(folder_name) / _CHECKPOINT


def prepare_log_dir(data: Path, *, cluster_id: str, node: int, checkpoint: Path) -> None:
    """Writes the files that `kafka-storage format` writes into an empty `data`."""
    data.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(checkpoint, data / _CHECKPOINT)
    meta = {
        "version": "1",
        "cluster.id": cluster_id,
        "node.id": str(node),
        "directory.id": new_uuid(),
    }
    (data / "meta.properties").write_text(render_properties(meta))


def read_cluster_id(data: Path) -> str | None:
    """The cluster id of a formatted log directory; None if it is not formatted."""
    meta = data / "meta.properties"
    if not meta.is_file():
        return None
    found = javaproperties.loads(meta.read_text()).get("cluster.id")
    return None if found is None else str(found)


def _format(version: str, scram_credentials: Sequence[str], folder: Path) -> None:
    config = folder / "format.properties"
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": "1@127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(folder),
    }
    config.write_text(render_properties(properties))
    command = [
        *(*java_command(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        *("-cp", f"{kafka_jars(version)}/*", "kafka.tools.StorageTool", "format"),
        *("--cluster-id", new_uuid(), "--config", str(config)),
    ]
    for credential in scram_credentials:
        command += ["--add-scram", credential]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0 or not (folder / _CHECKPOINT).is_file():
        raise BrokerNotRunning(
            f"Kafka {version}: formatting a log directory failed:\n{done.stdout}{done.stderr}"
        )
    config.unlink()
