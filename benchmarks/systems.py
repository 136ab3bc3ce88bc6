"""The systems under measurement: their configurations and commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from heliograph.embedded import PRODUCTION_JVM
from heliograph.embedded.tools import mirror_maker_command


class System(StrEnum):
    HELIOGRAPH = "heliograph"
    HELIOGRAPH_EOS = "heliograph-eos"
    BEFORE = "heliograph-before"  # another checkout (--before)
    BEFORE_EOS = "heliograph-eos-before"
    MM2 = "mm2"
    MM2_TUNED = "mm2-tuned"
    RAW_COPY = "raw-copy"
    BEFORE_RAW_COPY = "raw-copy-before"


#: A system of this checkout, and the same of another checkout.
EARLIER = {
    System.HELIOGRAPH: System.BEFORE,
    System.HELIOGRAPH_EOS: System.BEFORE_EOS,
    System.RAW_COPY: System.BEFORE_RAW_COPY,
}
_TRANSACTIONAL = (System.HELIOGRAPH_EOS, System.BEFORE_EOS)
# As in connect-mirror-maker.sh: a heap that grows from 256 MB to 2 GB (the last -Xms counts).
#: Heliograph logs at DEBUG how long its recurring jobs take (`measures/job_log.py`).
_DURATIONS = "HELIOGRAPH_LOG_LEVEL=heliograph.runtime.connectors.schedule=DEBUG"
_MM2_JVM = ("-Xms256M", *PRODUCTION_JVM, "-Djava.awt.headless=true")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One run: mirror `topic` from source to target, or all topics if it is a pattern.

    Every run has new aliases, and so new remote and internal topics: with the old ones MM2 would resume from
    its offsets topic and start with the tasks of an older configuration.
    """

    system: System
    run: str  # such as r7: part of the aliases, and the name of the folder
    topic: str
    source: str
    target: str
    folder: Path
    epoch_seconds: int | None = None
    processes: int = 1
    python: Path | None = None  # of the checkout that is measured, if it is not this one
    settings: Mapping[str, str] = field(default_factory=dict)  # besides those that all runs have

    @property
    def source_alias(self) -> str:
        return f"source{self.run}"

    @property
    def target_alias(self) -> str:
        return f"target{self.run}"

    @property
    def remote_topic(self) -> str:
        return f"{self.source_alias}.{self.topic}"

    @property
    def transactional(self) -> bool:
        """Whether it writes in transactions, so that only committed records count."""
        return self.system in _TRANSACTIONAL

    @property
    def output(self) -> Path:
        """The output of the process; MM2's log is mm2.log beside it."""
        return self.folder / "output.log"

    @property
    def _checkout(self) -> Path:
        """The checkout that `python` belongs to; this one without `python`."""
        return Path(__file__).parents[1] if self.python is None else self.python.parents[2]

    @property
    def _is_heliograph(self) -> bool:
        return self.system in (System.HELIOGRAPH, System.BEFORE, *_TRANSACTIONAL)

    def properties(self) -> dict[str, str]:
        source, target = self.source_alias, self.target_alias
        properties = mirror_properties(
            (source, self.source), (target, self.target), self.topic, replicas=1
        )
        properties |= self.settings
        if self.system is System.MM2_TUNED:
            properties |= _tuning(source, target)
        if self.transactional:
            properties |= _exactly_once(source, target)
        if self._is_heliograph and self.epoch_seconds is not None:
            properties["epoch.seconds"] = str(self.epoch_seconds)
        return properties

    def prepare(self) -> list[str]:
        """Writes the files of this run into its folder; returns the command that starts it."""
        file = write_mirror_file(self.folder, self.properties())
        python = sys.executable if self.python is None else str(self.python)
        if self._is_heliograph:
            # By the environment, since an earlier checkout does not have the option.
            return ["env", _DURATIONS, *heliograph_command("run", str(file), python=python)]
        if self.system in (System.RAW_COPY, System.BEFORE_RAW_COPY):
            script = self._checkout / "benchmarks" / "raw_copy.py"
            return [python, str(script), str(file), "--processes", str(self.processes)]
        log = self.folder / "mm2.log"
        return mirror_maker_command(file, log=log, heap="2G", jvm_args=_MM2_JVM)


def _exactly_once(source: str, target: str) -> dict[str, str]:
    return {
        f"{target}.exactly.once.source.support": "enabled",
        f"{source}.consumer.isolation.level": "read_committed",
    }


def _tuning(source: str, target: str) -> dict[str, str]:
    """Compression, large batches, large fetches: the settings with which MM2 was fastest in trials."""
    batching = {"compression.type": "lz4", "batch.size": "524288", "linger.ms": "20"}
    override = f"{source}->{target}.producer.override"
    return {
        **{f"{override}.{key}": value for key, value in batching.items()},
        f"{override}.max.request.size": "8388608",
        **{f"{target}.producer.{key}": value for key, value in batching.items()},
        f"{source}.consumer.fetch.min.bytes": "500000",
        f"{source}.consumer.max.partition.fetch.bytes": "8388608",
        f"{source}.consumer.max.poll.records": "20000",
    }
