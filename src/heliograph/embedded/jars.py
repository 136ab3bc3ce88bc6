"""Fetches Kafka's jars from Maven Central; needs only Java and pip.

Spark ships Ivy among its jars. Ivy resolves the artifacts (compile and runtime scope, no sources, no javadoc,
no tests) and copies them into a folder of the per-user cache:

    <cache>/ivy/                                    Ivy's own cache, shared by all versions
    <cache>/kafka/4.3.1/kafka_2.13/                 a broker
    <cache>/kafka/4.3.1/kafka-tools/                the console tools
    <cache>/kafka/4.3.1/connect-mirror+connect-runtime/   the real MirrorMaker 2
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from heliograph.embedded.digests import check_jars
from heliograph.errors import EnvironmentProblem
from heliograph.machine.cache import build_once, cache_folder, locked
from heliograph.machine.java import require_java

KAFKA_VERSION = "4.3.1"
#: With the console tools: the demo prints commands that use them.
BROKER = ("kafka_2.13", "kafka-tools")
TOOLS = BROKER
MIRROR_MAKER = ("connect-mirror", "connect-runtime")

# Measured: 47 MB of downloads plus 44 MB of copies for a broker, 160 MB with the tools and MM2.
_NEEDED_BYTES = 300 * 1024 * 1024

_VERSION = re.compile(r"\d+(\.\d+)+(-[A-Za-z0-9]+)?")

_log = logging.getLogger(__name__)


def major(version: str) -> int:
    return int(version.split(".")[0])


def kafka_jars(version: str = KAFKA_VERSION, artifacts: Sequence[str] = BROKER) -> Path:
    """The folder that holds these artifacts of org.apache.kafka and all they need to run.

    The first call for a version downloads from Maven Central (about 30 s); later calls find the folder. Safe
    with several processes at once.
    """
    if _VERSION.fullmatch(version) is None:
        raise EnvironmentProblem(
            f"Kafka version: expected one like {KAFKA_VERSION}, found {version!r}"
        )
    name = "+".join(sorted(artifacts))
    folder = cache_folder() / "kafka" / version / name
    try:
        return build_once(folder, lambda empty: _fetch(version, artifacts, empty))
    except OSError as e:
        raise EnvironmentProblem(
            f"Kafka {version}: the cache {cache_folder()} cannot be written: {e}; "
            "set HELIOGRAPH_CACHE to a writable folder"
        ) from e


def _fetch(version: str, artifacts: Sequence[str], folder: Path) -> None:
    require_java()
    cache = cache_folder()
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES:
        raise EnvironmentProblem(
            f"Kafka {version}: fetching it needs {_NEEDED_BYTES // 2**20} MB of disk, {cache} has "
            f"{free // 2**20} MB free; free some space or set HELIOGRAPH_CACHE"
        )
    what = "+".join(artifacts)
    _log.info("fetching Kafka %s (%s) from Maven Central into %s", version, what, cache)
    log = cache / "logs" / f"fetch-{version}-{what}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if not retrieve(ivy_module(version, artifacts), folder, log):
        raise EnvironmentProblem(
            f"Kafka {version}: fetching {what} from Maven Central failed: "
            f"{summarise_ivy(log.read_text(errors='replace'))} (full log: {log})"
        )
    _check_or_forget(version, folder, cache)
    _log.info("fetched Kafka %s (%s): %d jars", version, what, len(list(folder.glob("*.jar"))))


def retrieve(module: str, folder: Path, log: Path) -> bool:
    """Whether Ivy could fetch into the folder what `module`, an ivy.xml, asks for; logs to `log`."""
    cache, file = cache_folder(), folder / "ivy.xml"
    file.write_text(module)
    pattern = f"{folder}/[artifact]-[revision](-[classifier]).[ext]"
    command = [
        *(
            str(require_java()),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
        ),  # it runs for seconds
        *proxy_arguments(os.environ),
        *("-cp", f"{_spark_jars()}/*", "org.apache.ivy.Main", "-cache", f"{cache}/ivy"),
        *("-ivy", str(file), "-confs", "default", "-retrieve", pattern),
    ]
    # Ivy does not lock its cache, and two fetches of different artifacts share it.
    with locked(cache / ".ivy.lock"), log.open("wb") as out:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    file.unlink()
    return done.returncode == 0 and any(folder.glob("*.jar"))


def _check_or_forget(version: str, folder: Path, cache: Path) -> None:
    """Removes a wrong jar from Ivy's cache, too, or the next try would find it there."""
    try:
        check_jars(version, folder)
    except EnvironmentProblem:
        with locked(cache / ".ivy.lock"):
            shutil.rmtree(cache / "ivy", ignore_errors=True)
        raise


def ivy_module(version: str, artifacts: Sequence[str]) -> str:
    """An ivy.xml that asks for the artifacts and the SLF4J backend that Kafka's own release adds.

    The POMs lack it. Kafka 4 logs through Log4j 2 (KIP-653), Kafka 3 through reload4j.
    """
    backend = (
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")
        if major(version) >= 4
        else ("org.slf4j", "slf4j-reload4j", "1.7.36")
    )
    return module_of(
        [*(("org.apache.kafka", artifact, version) for artifact in artifacts), backend]
    )


def module_of(wanted: Iterable[tuple[str, str, str]]) -> str:
    """An ivy.xml that asks for artifacts: group, artifact, version."""
    lines = [
        f'  <dependency org="{group}" name="{artifact}" rev="{revision}" conf="default->default"/>'
        for group, artifact, revision in wanted
    ]
    return "\n".join(
        [
            '<ivy-module version="2.0">',
            '<info organisation="heliograph" module="kafka" revision="1"/>',
            '<configurations><conf name="default"/></configurations>',
            "<dependencies>",
            *lines,
            "</dependencies>",
            "</ivy-module>\n",
        ]
    )


def proxy_arguments(environment: Mapping[str, str]) -> list[str]:
    """Java's proxy properties for https_proxy, which Java itself ignores.

    Proxy settings in JAVA_TOOL_OPTIONS win. A proxy with a password must be set there: on a command line
    every user of the machine could read the password.
    """
    proxy = environment.get("https_proxy") or environment.get("HTTPS_PROXY")
    if not proxy or "proxyHost" in environment.get("JAVA_TOOL_OPTIONS", ""):
        return []
    url = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    if url.hostname is None or url.password is not None:
        return []
    return [f"-Dhttps.proxyHost={url.hostname}", f"-Dhttps.proxyPort={url.port or 80}"]


def summarise_ivy(log: str) -> str:
    """The cause of the failure in Ivy's output, with the remedy."""
    network = "; the first start needs a network connection"
    for pattern, meaning in (
        (r"Host (\S+) not found", "the host {} cannot be found" + network),
        (r"UnknownHostException: (\S+)", "the host {} cannot be found" + network),
        (r"((?:Connection|Connect|Read) (?:refused|timed out|reset))", "{}" + network),
        (r"((?:SSLHandshake|CertPath\w*)Exception[^\n]*)", "{}"),
        (r"No space left on device", "no space left on device"),
        (r":: (\S+#\S+): not found", "{} does not exist there; check the version"),
        (r"download failed: ([^\s:]+)", "{} could not be downloaded" + network),
    ):
        if found := re.search(pattern, log, re.IGNORECASE):
            return meaning.format(*found.groups())
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else "Ivy printed nothing"


def _spark_jars() -> Path:
    # find_spec does not import pyspark: only heliograph.spark may.
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EnvironmentProblem(
            "pyspark: not installed; Kafka is fetched with the Ivy that Spark ships"
        )
    return Path(spec.origin).parent / "jars"
