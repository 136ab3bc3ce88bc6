from __future__ import annotations

import pytest

from heliograph.errors import ConfigError
from heliograph.spark.executor import executor_command, java_options

_OF_THE_DRIVER = {
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@driver:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_EXECUTOR_MEMORY": "512m",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.7",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "exec-3",
}


def test_the_drivers_variables_become_the_arguments_of_the_backend() -> None:
    command = executor_command(_OF_THE_DRIVER)

    backend = command.index("org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend")
    assert "-Xmx512m" in command[:backend]
    assert command[backend + 1 :][:4] == [
        *("--driver-url", _OF_THE_DRIVER["SPARK_DRIVER_URL"]),
        *("--executor-id", "3"),
    ]


def test_options_of_the_jvm_keep_the_order_of_their_numbers() -> None:
    options = {f"SPARK_JAVA_OPT_{number}": f"-D{number}" for number in (10, 9, 0)}

    assert java_options(options) == ["-D0", "-D9", "-D10"]


def test_what_the_driver_has_not_set_is_named() -> None:
    without = {n: v for n, v in _OF_THE_DRIVER.items() if n != "SPARK_EXECUTOR_POD_IP"}

    with pytest.raises(ConfigError, match="SPARK_EXECUTOR_POD_IP not found"):
        executor_command(without)
