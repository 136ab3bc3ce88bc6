"""Reads how records of a flow are transformed: `transforms`, `predicates`, `function`, `on.error`.

`transforms.<alias>.…` are read into a chain here, so that a mistake is reported with its line before anything
starts; each task reads them again, since a chain is not sent to tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heliograph.config.mirror_config import LaneConfig
from heliograph.config.options.values import parse_list
from heliograph.config.resolve.layers import Setting
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.errors import ConfigError
from heliograph.model import OnError
from heliograph.policy.ported import ported_function, python_class

if TYPE_CHECKING:
    from heliograph.config.transforms.read import Transforms

_LISTS = ("transforms", "predicates")


def read_chain(lane: LaneConfig) -> Transforms:
    """The transformations of a lane, for the task that runs them."""
    return _read_transforms(dict(lane.transforms))


def _read_transforms(settings: Mapping[str, str]) -> Transforms:
    """Imported when a flow has some: few have, and numpy takes a tenth of a second of each start."""
    from heliograph.config.transforms.read import read_transforms

    return read_transforms(settings)


def _routes(transforms: Transforms) -> bool:
    from heliograph.transforms.topics import RegexRouter, TimestampRouter

    routers = (RegexRouter, TimestampRouter)
    return any(isinstance(stage.transform, routers) for stage in transforms.stages)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSettings:
    """`modules`: those that REST may name, None for any."""

    connector: TypedSettings
    modules: frozenset[str] | None
    warnings: list[str]

    def read(self) -> LaneConfig | None:
        """None: records are copied as they are."""
        settings = {
            name: setting.value
            for name, setting in self.connector.settings.items()
            if name.partition(".")[0] in _LISTS
        }
        transforms = _read_transforms(settings) if settings else None
        for name, sentence in transforms.errors if transforms is not None else ():
            self._problem(name, sentence)
        function = self._function()
        if (transforms is None or not transforms.stages) and function is None:
            self._warn_without_chain()
            return None
        routed = transforms is not None and _routes(transforms)
        return LaneConfig(
            transforms=tuple(sorted(settings.items())),
            function=function,
            modules=self.modules,
            on_error=OnError(self.connector.text("on.error")),
            routes=routed or function is not None,
            quarantines_oversize=self.connector.text("oversize.record.policy") == "quarantine",
        )

    def _function(self) -> str | None:
        setting = self.connector.settings.get("function")
        if setting is None or not setting.value.strip():
            return None
        text = setting.value.strip()
        if python_class(text) is None:
            return None  # reported with the option
        try:
            ported_function("function", text, self.modules)
        except ConfigError as e:
            self.connector.problems.append(f"{e} ({self.connector.at(setting)})")
        return text

    def _warn_without_chain(self) -> None:
        setting = self.connector.settings.get("on.error")
        if setting is not None and not self.connector.problems:
            self.warnings.append(
                f"{setting.key}: has no effect without transforms or function "
                f"({self.connector.at(setting)})"
            )

    def _problem(self, name: str, sentence: str) -> None:
        setting = self._place(name)
        self.connector.problems.append(f"{setting.key}: {sentence} ({self.connector.at(setting)})")

    def _place(self, name: str) -> Setting:
        """Where it is written; a setting that is missing belongs to the list that names its alias."""
        settings = self.connector.settings
        return settings.get(name) or settings[name.partition(".")[0]]


def untranslated(lane: LaneConfig | None) -> str | None:
    """Why offsets of a flow cannot be translated; None: they can."""
    if lane is None or not lane.routes:
        return None
    what = "function" if lane.function is not None else "transforms"
    return f"{what} may route records to other topics, so that offsets cannot be translated"


def in_words(lane: LaneConfig) -> str:
    """The chain, for `heliograph plan`: names of settings, no values."""
    settings = dict(lane.transforms)
    aliases = parse_list(settings.get("transforms", ""))
    types = (settings[f"transforms.{alias}.type"].rpartition(".")[2] for alias in aliases)
    stages = [f"{alias} ({type_})" for alias, type_ in zip(aliases, types, strict=True)]
    if lane.function is not None:
        stages.append(f"function {lane.function}")
    return f"records pass {', '.join(stages)}; on.error = {lane.on_error}"
