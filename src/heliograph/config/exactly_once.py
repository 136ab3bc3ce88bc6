"""Reads the settings of exactly once from worker, connector and producer, and checks that they agree.

Mirrors `DistributedHerder.validateSourceConnectorConfig` and `MirrorSourceConnector.validate`: if exactly
once is `required` and not possible, that is an error; if it is `requested`, a warning.
"""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.config.mirror_config import ExactlyOnce
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.model import IsolationLevel

_SUPPORT = "exactly.once.source.support"
_REQUIRED = "exactly.once.support"
_BOUNDARY = "transaction.boundary"
_INTERVAL = "transaction.boundary.interval.ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactlyOnceSettings:
    worker_prefix: str
    consumer_prefix: str
    connector: TypedSettings
    worker: TypedSettings
    producer: TypedSettings
    isolation_level: IsolationLevel
    warnings: list[str]
    by_default: bool = False  # exactly once unless the worker says otherwise

    def read(self) -> ExactlyOnce | None:
        self._check_required()
        support = self._support()
        if support == "preparing":
            self._warn(
                self.worker,
                _SUPPORT,
                "preparing has the effect of disabled; set enabled to mirror exactly once",
            )
        if support != "enabled":
            return None
        committed = self.isolation_level is IsolationLevel.READ_COMMITTED
        if not committed and _SUPPORT in self.worker.settings:
            self._warn(
                self.worker,
                _SUPPORT,
                f"enabled, but {self._aborted_would_be_mirrored()}",
            )
        found = ExactlyOnce(
            interval_ms=self._interval_ms(),
            timeout_ms=self.producer.number("transaction.timeout.ms"),
        )
        self._check_interval(found)
        return found

    def _support(self) -> str:
        """A worker that says nothing: disabled, as in Connect; enabled where records are transformed, since a
        copy that cannot count on the target's log would write records twice after each crash."""
        by_default = self.by_default and _SUPPORT not in self.worker.settings
        return "enabled" if by_default else self.worker.text(_SUPPORT)

    def _check_required(self) -> None:
        if self.connector.text(_REQUIRED).lower() != "required":
            return
        if self._support() != "enabled":
            self._problem(
                f"required, but exactly once is not enabled; set {self.worker_prefix}{_SUPPORT} = enabled"
            )
        if self.isolation_level is not IsolationLevel.READ_COMMITTED:
            self._problem(f"required, but {self._aborted_would_be_mirrored()}")

    def _aborted_would_be_mirrored(self) -> str:
        return (
            "records of aborted transactions would be mirrored; set "
            f"{self.consumer_prefix}isolation.level = read_committed"
        )

    def _interval_ms(self) -> int | None:
        boundary = self.connector.text(_BOUNDARY).lower()
        if boundary == "interval":
            own = _INTERVAL in self.connector.settings
            return (
                self.connector.number(_INTERVAL)
                if own
                else self.worker.number("offset.flush.interval.ms")
            )
        if boundary == "connector":
            self._warn(
                self.connector,
                _BOUNDARY,
                "MM2's connectors define no boundaries; connector has the effect of poll",
            )
        if _INTERVAL in self.connector.settings:
            self._warn(self.connector, _INTERVAL, f"has no effect without {_BOUNDARY} = interval")
        return None

    def _check_interval(self, found: ExactlyOnce) -> None:
        if found.interval_ms is not None and found.interval_ms > found.limit_seconds * 1000:
            self._warn(
                self.connector,
                _BOUNDARY,
                f"the interval is {found.interval_ms} ms, but transactions are committed after "
                f"{found.limit_seconds:g} s at the latest, a third of transaction.timeout.ms",
            )

    def _warn(self, settings: TypedSettings, name: str, remark: str) -> None:
        setting = settings.settings[name]
        self.warnings.append(f"{setting.key}: {remark} ({settings.at(setting)})")

    def _problem(self, remark: str) -> None:
        setting = self.connector.settings[_REQUIRED]
        self.connector.problems.append(f"{setting.key}: {remark} ({self.connector.at(setting)})")
