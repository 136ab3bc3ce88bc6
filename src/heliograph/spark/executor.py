"""The command of an executor of Spark on Kubernetes.

Spark's own images have a shell script for it (`entrypoint.sh`). The driver gives the executor its address and
size in variables, and options of its JVM as SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, …
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from heliograph.errors import ConfigError
from heliograph.machine.java import java_command
from heliograph.spark.jvm import class_path

_BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
_MEMORY = "SPARK_EXECUTOR_MEMORY"
_ARGUMENTS = (
    ("--driver-url", "SPARK_DRIVER_URL"),
    ("--executor-id", "SPARK_EXECUTOR_ID"),
    ("--cores", "SPARK_EXECUTOR_CORES"),
    ("--app-id", "SPARK_APPLICATION_ID"),
    ("--hostname", "SPARK_EXECUTOR_POD_IP"),
    ("--resourceProfileId", "SPARK_RESOURCE_PROFILE_ID"),
    ("--podName", "SPARK_EXECUTOR_POD_NAME"),
)
_OPTION = re.compile(r"SPARK_JAVA_OPT_(\d+)")


def executor_command(environment: Mapping[str, str]) -> list[str]:
    """Raises ConfigError if the driver's variables are missing."""
    wanted = (_MEMORY, *(name for _, name in _ARGUMENTS))
    if missing := [name for name in wanted if name not in environment]:
        raise ConfigError(
            f"executor: expected the variables that Spark's driver sets, {', '.join(missing)} not "
            "found; executors are started by heliograph run --master k8s://…"
        )
    memory = environment[_MEMORY]
    paths = [
        class_path(),
        environment.get("SPARK_CONF_DIR"),
        environment.get("SPARK_EXTRA_CLASSPATH"),
    ]
    return [
        *java_command(),
        *java_options(environment),
        f"-Xms{memory}",
        f"-Xmx{memory}",
        "-cp",
        os.pathsep.join(filter(None, paths)),
        _BACKEND,
        *(word for option, name in _ARGUMENTS for word in (option, environment[name])),
    ]


def java_options(environment: Mapping[str, str]) -> list[str]:
    """By their numbers: 10 follows 9."""
    found = {int(m[1]): v for n, v in environment.items() if (m := _OPTION.fullmatch(n))}
    return [found[number] for number in sorted(found)]
