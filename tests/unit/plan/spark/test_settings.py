"""Which settings a Spark session gets, and what is said of those that it does not."""

from __future__ import annotations

import pytest

from heliograph.errors import ConfigError
from heliograph.plan.spark.settings import (
    SparkSettings,
    effective,
    overruled,
    read_settings,
    without_effect,
)


def test_conf_is_as_spark_submit_has_it_and_wins_over_the_file() -> None:
    users = read_settings(
        ["spark.executor.memory=2g", "spark.executor.extraJavaOptions=-Da=b -Dc=d"],
        {"spark.executor.memory": "1g", "spark.executor.cores": "2"},
    )

    assert users.settings == {
        "spark.executor.memory": "2g",
        "spark.executor.cores": "2",
        "spark.executor.extraJavaOptions": "-Da=b -Dc=d",
    }


def test_a_conf_that_is_none_is_named_without_its_value() -> None:
    with pytest.raises(ConfigError) as e:
        read_settings(["spark.ui.enabled", "ui.password=hidden", "spark.submit.deployMode=cluster"])

    assert e.value.problems == [
        "--conf spark.ui.enabled: expected KEY=VALUE, found no '='",
        "--conf ui.password: expected a setting of Spark, spark.…",
        "spark.submit.deployMode: expected client, since Heliograph is Spark's driver itself",
    ]


def test_other_settings_of_a_file_are_ignored_with_a_line_as_spark_submit_does() -> None:
    users = read_settings([], {"ui.password": "hidden", "spark.executor.cores": "2"}, "my.conf")

    assert users.settings == {"spark.executor.cores": "2"}
    assert users.ignored == ["my.conf: ui.password is ignored: settings of Spark begin with spark."]


def test_spark_s_ui_is_off_and_on_request() -> None:
    assert effective(SparkSettings(), local=True)["spark.ui.enabled"] == "false"
    asked = effective(read_settings(["spark.ui.enabled=true"]), local=True)
    assert asked["spark.ui.enabled"] == "true"
    assert asked["spark.ui.killEnabled"] == "false"


@pytest.mark.parametrize(
    ("setting", "local", "words"),
    [
        ("spark.speculation=true", False, "is overridden with false: a task is never run twice"),
        ("spark.task.maxFailures=4", False, "is overridden with 1: a task is never run twice"),
        ("spark.task.cpus=2", False, "is overridden with 1: there are as many tasks as cores"),
        ("spark.authenticate=false", True, "is overridden with true: other users of this machine"),
        ("spark.driver.bindAddress=::", True, "is overridden with 127.0.0.1: other users"),
    ],
)
def test_a_setting_that_breaks_a_guarantee_is_overruled_with_a_line(
    setting: str, local: bool, words: str
) -> None:
    users = read_settings([setting])
    name = setting.partition("=")[0]

    (line,) = overruled(users.settings, local=local)

    assert line.startswith(f"Spark setting {setting} {words}")
    assert effective(users, local=local)[name] != users.settings[name]


def test_a_cluster_s_own_authentication_and_addresses_are_left_alone() -> None:
    users = read_settings(
        ["spark.authenticate=false", "spark.driver.host=here", "spark.speculation=false"]
    )

    assert overruled(users.settings, local=False) == []
    assert effective(users, local=False)["spark.driver.host"] == "here"


def test_a_setting_that_needs_spark_s_launcher_has_no_effect_without_a_master() -> None:
    (line,) = without_effect(read_settings(["spark.driver.extraJavaOptions=-Da=b"]))

    assert line == (
        "Spark setting spark.driver.extraJavaOptions has no effect without --master; "
        "add --master 'local[*]'"
    )
