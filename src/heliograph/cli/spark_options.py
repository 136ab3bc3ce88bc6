"""`--master`, `--conf` and `--properties-file`, as spark-submit has them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import javaproperties

from heliograph.errors import ConfigError
from heliograph.plan.spark.master import MASTER
from heliograph.plan.spark.settings import SparkSettings, read_settings
from heliograph.spark.session import ClusterSpark, LocalSpark

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SparkOptions:
    master: str | None = None
    conf: Sequence[str] = ()
    properties_file: Path | None = None

    def start(self, *, here: int, on_cluster: int) -> LocalSpark | ClusterSpark:
        """With so many task slots: on this machine unless a master is given, by the option or as
        spark.master. Raises ConfigError and EnvironmentProblem."""
        users = self._settings()
        for line in users.ignored:
            log.warning("%s", line)
        master = users.settings.get(MASTER) if self.master is None else self.master
        if master is None:
            return LocalSpark(here, users=users)
        return ClusterSpark(master, on_cluster, users)

    def _settings(self) -> SparkSettings:
        if self.properties_file is None:
            return read_settings(self.conf)
        try:
            found = javaproperties.loads(self.properties_file.read_text())
        except (OSError, ValueError) as e:
            why = e.strerror if isinstance(e, OSError) else e
            raise ConfigError(
                f"--properties-file {self.properties_file}: cannot be read: {why}"
            ) from e
        return read_settings(self.conf, found, str(self.properties_file))
