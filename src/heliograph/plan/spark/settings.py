"""Decides which settings Spark gets: ours, those of `--conf` and `--properties-file`, and those we insist on.

insisted on ► --conf ► --properties-file (or Spark's own spark-defaults.conf) ► our defaults
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.errors import ConfigError

_TWICE = "a task is never run twice with the same leases"
#: A second attempt of a task cannot know what the first one did, and is refused (`plan/grants.py`): the
#: driver observes the clusters, and plans a new epoch. A speculative attempt would be refused while the first
#: one runs. Stage retries need no setting, as there is no shuffle; nor does decommissioning, since the
#: attempt that follows it is refused as after the loss of a node.
ONE_ATTEMPT = {"spark.task.maxFailures": "1", "spark.speculation": "false"}
#: By setting: the value, and why no other will do.
_INSISTED = {
    **{name: (value, _TWICE) for name, value in ONE_ATTEMPT.items()},
    "spark.task.cpus": ("1", "there are as many tasks as cores"),
    "spark.python.worker.idleTimeoutSeconds": ("0", "a task may return nothing for an hour"),
    "spark.python.worker.reuse": ("true", "each epoch would start the workers again"),
}
_THIS_MACHINE = "other users of this machine can reach its ports"
#: On this machine only: Spark makes the secret, which stays in its process.
_INSISTED_HERE = {
    "spark.authenticate": ("true", _THIS_MACHINE),
    "spark.driver.host": ("127.0.0.1", _THIS_MACHINE),
    "spark.driver.bindAddress": ("127.0.0.1", _THIS_MACHINE),
}
_DEFAULTS = {
    "spark.app.name": "heliograph",
    "spark.ui.enabled": "false",
    # Its page has no login; on request it shows, but does not end tasks.
    "spark.ui.killEnabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.streaming.metricsEnabled": "false",
    # One row per task and epoch: generating code takes longer than interpreting.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Start a new epoch as soon as its leases are added.
    "spark.sql.streaming.pollingDelay": "10ms",
    # For the checkpoint, whose content is not needed. By default Hadoop's FileContext writes it, which starts
    # several programs (chmod, readlink) for each file: 0.2 of 0.5 CPU seconds of a start with two epochs.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
#: Of the JVM that we start ourselves when no master is given.
_ONLY_WITH_MASTER = (
    "spark.driver.extraJavaOptions",
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraClassPath",
    "spark.driver.extraLibraryPath",
)
DRIVER_MEMORY = "spark.driver.memory"


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """`settings` of `--conf` and of the file, if there is one; without, Spark reads spark-defaults.conf."""

    settings: Mapping[str, str] = field(default_factory=dict)
    from_file: bool = False
    ignored: Sequence[str] = ()


def read_settings(
    conf: Sequence[str], file: Mapping[str, str] | None = None, name: str = ""
) -> SparkSettings:
    """Of `--conf KEY=VALUE`, and of a properties file that was read. Raises ConfigError, without values: they
    may be secrets."""
    given, wrong = {}, []
    for each in conf:
        key, equals, value = each.partition("=")
        if not equals:
            wrong.append(
                f"--conf {key.split()[0] if key.strip() else ''}: expected KEY=VALUE, found no '='"
            )
        elif not key.strip().startswith("spark."):
            wrong.append(f"--conf {key.strip()}: expected a setting of Spark, spark.…")
        given[key.strip()] = value.strip()
    theirs = dict(file or {})
    ignored = sorted(key for key in theirs if not key.startswith("spark."))
    merged = {key: value for key, value in theirs.items() if key not in ignored} | given
    if merged.get("spark.submit.deployMode", "client") != "client":
        wrong.append(
            "spark.submit.deployMode: expected client, since Heliograph is Spark's driver itself"
        )
    if wrong:
        raise ConfigError(wrong)
    lines = [f"{name}: {key} is ignored: settings of Spark begin with spark." for key in ignored]
    return SparkSettings(merged, file is not None, lines)


def effective(users: SparkSettings, *, local: bool) -> dict[str, str]:
    """What a session is built with, over Spark's own configuration. On this machine (`local`) it is reachable
    from here only."""
    insisted = _INSISTED | (_INSISTED_HERE if local else {})
    return {**_DEFAULTS, **users.settings, **{name: value for name, (value, _) in insisted.items()}}


def overruled(found: Mapping[str, str], *, local: bool) -> list[str]:
    """A line for each setting of the user (of Spark's own configuration, too) that has another value here."""
    insisted = _INSISTED | (_INSISTED_HERE if local else {})
    return [
        f"Spark setting {name}={found[name]} is overridden with {value}: {why}"
        for name, (value, why) in insisted.items()
        if found.get(name, value).strip().lower() != value
    ]


def without_effect(users: SparkSettings) -> list[str]:
    """A line for each setting that only Spark's own launcher takes, which runs with a master."""
    return [
        f"Spark setting {name} has no effect without --master; add --master 'local[*]'"
        for name in _ONLY_WITH_MASTER
        if name in users.settings
    ]
