"""Starts the JVM of a local Spark as a child process.

Without Spark's shell script and launcher JVM, while Python still reads the configuration; with the C1
compiler only, the serial collector, and a class-data archive (`train.py`). docs/decisions/0003-jvm.md
"""

from __future__ import annotations

import hashlib
import logging
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from heliograph.errors import EnvironmentProblem
from heliograph.machine.class_archive import archive_file, sharing
from heliograph.machine.java import java_command, java_environment, require_java
from heliograph.machine.scratch import ScratchFolder
from heliograph.plan.spark.settings import DRIVER_MEMORY, SparkSettings

log = logging.getLogger(__name__)

#: Spark refuses to start with less than 450 MB.
_HEAP = "512m"
_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
#: The modules that `org.apache.spark.launcher.JavaModuleOptions` opens on Java 17 and later.
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


class Jvm:
    """The JVM of a local session. It ends when its standard input is closed."""

    def __init__(
        self, extra_flags: tuple[str, ...] = (), users: SparkSettings | None = None
    ) -> None:
        shared = sharing(archive_path(require_java()))
        self._folder = ScratchFolder("heliograph-jvm-")
        self._info = self._folder.path / "gateway"
        self._log_file = self._folder.path / "jvm.log"
        heap = _HEAP if users is None else users.settings.get(DRIVER_MEMORY, _HEAP)
        command = [
            *java_command(),
            f"-Xmx{heap}",
            *_FLAGS,
            *(extra_flags or shared),
            *_OPENS,
            f"-Dlog4j2.configurationFile={self._write_log_config()}",
            # Spark's blocks and artifacts: by default in folders of /tmp that others can read, and that stay.
            f"-Djava.io.tmpdir={self._folder.path}",
            "-cp",
            class_path(),
            "org.apache.spark.deploy.SparkSubmit",
            "--conf",
            f"{DRIVER_MEMORY}={heap}",
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
                    **environment(),
                    "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),  # of its UI
                    "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._info),
                },
                # Ctrl-C at the terminal must not reach the JVM: it is stopped by `close`.
                start_new_session=True,
            )

    @contextmanager
    def gateway(self) -> Iterator[None]:
        """Wait for the gateway; pyspark finds it within the block. Other child processes must not: another
        Heliograph would use this JVM."""
        deadline = time.monotonic() + _START_SECONDS
        while not self._info.is_file():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise EnvironmentProblem(
                    f"Spark's JVM did not start ({self.fate}): {self._last_words()}"
                )
            time.sleep(0.01)
        data = (
            self._info.read_bytes()
        )  # int32 port, int32 length, secret; renamed into place by Spark
        port, length = struct.unpack_from(">ii", data)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = data[8 : 8 + length].decode()
        try:
            yield
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def fate(self) -> str:
        return "running" if self.running else f"exit code {self._process.poll()}"

    def close(self, patience: float) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            level = (
                logging.INFO if patience else logging.DEBUG
            )  # without patience it is meant to be killed
            log.log(level, "Spark's JVM did not end within %.1f s; killing it", patience)
            self._process.kill()
            self._process.wait()
        self._folder.close()

    def _write_log_config(self) -> Path:
        path = self._folder.path / "log4j2.properties"
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
        return " / ".join(lines[-5:]) or "it logged nothing"


def environment() -> dict[str, str]:
    """For Spark's scripts: our Java. For workers: this interpreter, and this package even if it is not
    installed."""
    here = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH", "")
    return {
        **java_environment(),
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


def class_path() -> str:
    """Spark's jars in the order of their names. `jars/*` would leave the order to the file system, and with
    another order, as on another machine that runs the same image, Java ignores the archive of classes."""
    return os.pathsep.join(sorted(map(str, (spark_home() / "jars").glob("*.jar"))))


def archive_path(java: Path) -> Path:
    """The class-data archive lives in the environment, beside the jars that it fits."""
    names = " ".join(Path(jar).name for jar in class_path().split(os.pathsep))
    jars = hashlib.sha256(names.encode()).hexdigest()[:8]
    return archive_file(Path(sys.prefix) / "share" / "heliograph", f"spark-{jars}", java)
