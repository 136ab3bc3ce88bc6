"""A Spark session that is there quickly: the JVM moves no payload, so a small one that starts fast is right.

For a local master we start the JVM ourselves, directly: no shell script, no launcher JVM, while Python
still reads the configuration; with the client compiler only, a serial collector, and a class-data archive
made once per machine (`train`). docs/decisions/0003-jvm.md has the figures. For any other master Spark's own
launcher does its work, with the user's Spark configuration.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from heliograph.errors import EnvironmentProblem
from heliograph.machine.java import require_java

log = logging.getLogger(__name__)

#: Spark refuses to start with less than 450 MB.
_HEAP = "512m"
_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
#: What `org.apache.spark.launcher.JavaModuleOptions` opens on Java 17 and later.
_OPENS = (
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            "java.lang",
            "java.lang.invoke",
            "java.lang.reflect",
            "java.io",
            "java.net",
            "java.nio",
            "java.util",
            "java.util.concurrent",
            "java.util.concurrent.atomic",
            "jdk.internal.ref",
            "sun.nio.ch",
            "sun.nio.cs",
            "sun.security.action",
            "sun.util.calendar",
        )
    ),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
)
_START_SECONDS = 60
_REGISTER_SECONDS = 10

_SETTINGS = {
    "spark.app.name": "heliograph",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.streaming.metricsEnabled": "false",
    # A row per task and epoch: interpreting it is quicker than generating code for it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.worker.reuse": "true",
    # An epoch may be silent for an hour; that is no hanging worker.
    "spark.python.worker.idleTimeoutSeconds": "0",
    "spark.task.maxFailures": "1",
    # A new epoch is planned as soon as its leases are there.
    "spark.sql.streaming.pollingDelay": "10ms",
}
_LOCAL_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


class Jvm:
    """The JVM of a local session, our own child: it ends when its standard input does."""

    def __init__(self, extra_flags: tuple[str, ...] = ()) -> None:
        java = require_java()
        self._folder = Path(tempfile.mkdtemp(prefix="heliograph-jvm-"))
        self._info = self._folder / "gateway"
        self._log_file = self._folder / "jvm.log"
        home = spark_home()
        archive = archive_path(java)
        shared = (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()
        command = [
            str(java),
            f"-Xmx{_HEAP}",
            *_FLAGS,
            *(extra_flags or shared),
            *_OPENS,
            f"-Dlog4j2.configurationFile={self._write_log_config()}",
            "-cp",
            f"{home}/jars/*",
            "org.apache.spark.deploy.SparkSubmit",
            "--conf",
            f"spark.driver.memory={_HEAP}",
            "pyspark-shell",
        ]
        with self._log_file.open("wb") as log_file:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                env={
                    **os.environ,
                    **_environment(),
                    "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._info),
                },
                # Ctrl-C at the terminal is for us; we end the JVM in order.
                start_new_session=True,
            )

    def connect(self) -> None:
        """Wait for the gateway and make pyspark use it."""
        deadline = time.monotonic() + _START_SECONDS
        while not self._info.is_file():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise EnvironmentProblem(
                    f"Spark's JVM did not start (exit code {self._process.poll()}): {self._last_words()}"
                )
            time.sleep(0.01)
        data = (
            self._info.read_bytes()
        )  # int32 port, int32 length, secret; renamed into place by Spark
        port, length = struct.unpack_from(">ii", data)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = data[8 : 8 + length].decode()

    def close(self, patience: float) -> None:
        os.environ.pop("PYSPARK_GATEWAY_PORT", None)
        os.environ.pop("PYSPARK_GATEWAY_SECRET", None)
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            log.info("Spark's JVM takes its time to end; killing it")
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write_log_config(self) -> Path:
        path = self._folder / "log4j2.properties"
        path.write_text(
            "rootLogger.level = error\n"
            "rootLogger.appenderRef.stderr.ref = stderr\n"
            "appender.stderr.type = Console\n"
            "appender.stderr.name = stderr\n"
            "appender.stderr.target = SYSTEM_ERR\n"
            "appender.stderr.layout.type = PatternLayout\n"
            "appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex\n"
        )
        return path

    def _last_words(self) -> str:
        lines = self._log_file.read_text(errors="replace").splitlines()
        return " / ".join(lines[-5:]) or "it said nothing"


class LocalSpark:
    """Spark on this machine, with as many task slots as we like: copying is mostly waiting.

    Starts in the background, while its owner reads offsets and creates topics; `session` waits for it.
    """

    driver_host = "127.0.0.1"

    def __init__(self, slots: int, jvm_flags: tuple[str, ...] = ()) -> None:
        self.slots = slots
        self._jvm = Jvm(jvm_flags)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
        self._session = self._pool.submit(self._start)

    def session(self) -> Any:
        return self._session.result()

    def close(self, patience: float = 2.0) -> None:
        """Stop Spark, then its JVM; a session that is still starting dies with the JVM."""
        if self._session.done() and self._session.exception() is None:
            self._session.result().stop()
        self._jvm.close(patience)
        self._pool.shutdown(cancel_futures=True)

    def _start(self) -> Any:
        self._jvm.connect()
        return _build(f"local[{self.slots}]", {**_SETTINGS, **_LOCAL_SETTINGS})


class ClusterSpark:
    """Spark on a cluster, started by Spark's own launcher with the user's Spark configuration.

    A lease waits as long as its task does, so there are never more tasks than the executors have cores.
    """

    def __init__(self, master: str, slots: int) -> None:
        self.driver_host = "127.0.0.1" if master.startswith("local") else os.uname().nodename
        self._session = _build(master, {**_SETTINGS, "spark.task.maxFailures": "4"}, "WARN")
        self.slots = self._cores(slots)

    def session(self) -> Any:
        return self._session

    def close(self) -> None:
        self._session.stop()

    def _cores(self, wanted: int) -> int:
        """The cores that executors have brought so far, given some time to register."""
        context = self._session.sparkContext
        deadline = time.monotonic() + _REGISTER_SECONDS
        while context.defaultParallelism < wanted and time.monotonic() < deadline:
            time.sleep(0.2)
        slots = int(min(wanted, context.defaultParallelism))
        log.info("Spark at %s: %d task slots", context.master, slots)
        return slots


def _build(master: str, settings: dict[str, str], log_level: str = "ERROR") -> Any:
    os.environ.update(_environment())
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel(log_level)
    return spark


def _environment() -> dict[str, str]:
    """Workers must run this interpreter and find this package, installed or not."""
    here = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH", "")
    return {
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_CONNECT_MODE": "0",
        "PYTHONPATH": path
        if here in path.split(os.pathsep)
        else os.pathsep.join(filter(None, [here, path])),
    }


def spark_home() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EnvironmentProblem(
            "pyspark is not installed; install heliograph with its dependencies"
        )
    return Path(spec.origin).parent


def archive_path(java: Path) -> Path:
    """The class-data archive fits one Java and one folder of jars, so it lives beside them, in the
    environment, under a name that changes with Java's version."""
    release = java.resolve().parents[1] / "release"
    identity = release.read_bytes() if release.is_file() else str(java.resolve()).encode()
    name = f"spark-{hashlib.sha256(identity).hexdigest()[:12]}.jsa"
    return Path(sys.prefix) / "share" / "heliograph" / name
