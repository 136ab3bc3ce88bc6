"""The JMX exporter's Java agent, fetched from Maven Central as Kafka's jars are."""

from __future__ import annotations

from pathlib import Path

from harness.errors import HarnessError
from heliograph.embedded.digests import digest_of
from heliograph.embedded.jars import module_of, retrieve
from heliograph.machine.cache import build_once, cache_folder

VERSION = "1.0.1"
_SHA256 = "7d61f737fd661610ccc14aea79764faa1ea94a340cbc8f0029b3d2edea3d80c1"
_RULES = Path(__file__).parent / "rules.yml"


def agent_argument(port: int) -> str:
    """The JVM's option that serves /metrics at this port, under `rules.yml`."""
    folder = build_once(cache_folder() / "jmx-exporter" / VERSION, _fetch)
    return f"-javaagent:{_jar(folder)}=127.0.0.1:{port}:{_RULES}"


def _jar(folder: Path) -> Path:
    return folder / f"jmx_prometheus_javaagent-{VERSION}.jar"


def _fetch(folder: Path) -> None:
    log = cache_folder() / "logs" / "fetch-jmx-exporter.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    wanted = [("io.prometheus.jmx", "jmx_prometheus_javaagent", VERSION)]
    if not retrieve(module_of(wanted), folder, log):
        raise HarnessError(f"jmx_prometheus_javaagent {VERSION}: cannot be fetched; see {log}")
    found = digest_of(_jar(folder))
    if found != _SHA256:
        raise HarnessError(
            f"jmx_prometheus_javaagent {VERSION}: expected SHA-256 {_SHA256}, found {found}"
        )
