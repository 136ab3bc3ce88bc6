"""The settings of a connector's own transformations and predicates, as Connect adds them to its `ConfigDef`
(`ConnectorConfig.enrich`): a group for each alias, its type first, then the settings of its class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heliograph.config.connectors.definitions import Definition
from heliograph.config.connectors.plugins import KAFKA_VERSION
from heliograph.config.options.values import BOOLEAN, CLASS, STRING, parse_list
from heliograph.config.transforms.catalogue import (
    PREDICATE_CLASSES,
    PREDICATES,
    TRANSFORM_CLASSES,
    TRANSFORMS,
    Kind,
)
from heliograph.config.transforms.settings import Setting


@dataclass(frozen=True, slots=True)
class AliasDefinitions:
    """`recommended` values, by setting."""

    groups: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    recommended: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def alias_definitions(config: Mapping[str, str | None]) -> AliasDefinitions:
    """Of the aliases in `transforms`, then of those in `predicates`."""
    groups: list[str] = []
    found: list[Definition] = []
    recommended: dict[str, tuple[str, ...]] = {}
    for name, what, package, classes in (
        ("transforms", "Transformation", TRANSFORMS, TRANSFORM_CLASSES),
        ("predicates", "Predicate", PREDICATES, PREDICATE_CLASSES),
    ):
        for alias in dict.fromkeys(parse_list(config.get(name) or "")):
            prefix = f"{name}.{alias}."
            given = (config.get(f"{prefix}type") or "").strip()
            full = given if given.startswith(package) else package + given
            kind: Kind[Any] | None = classes[full][0] if full in classes else None
            groups.append(f"{name.title()}: {alias}")
            found += _of_alias(prefix, what, alias, groups[-1], kind)
            recommended[f"{prefix}type"] = tuple(sorted(classes))
            if kind is not None:
                recommended[f"{prefix}plugin.version"] = (KAFKA_VERSION,)
    return AliasDefinitions(tuple(groups), tuple(found), recommended)


def _of_alias(
    prefix: str, what: str, alias: str, group: str, kind: Kind[Any] | None
) -> Iterator[Definition]:
    yield Definition(
        name=f"{prefix}type",
        value_type=CLASS,
        default=None,
        required=True,
        documentation=f"Class for the '{alias}' {what.lower()}.",
        importance="HIGH",
        group=group,
        order=0,
        width="LONG",
        display_name=f"{what} type for {alias}",
    )
    yield Definition(
        name=f"{prefix}plugin.version",
        value_type=STRING,
        default=None if kind is None else KAFKA_VERSION,
        required=False,
        documentation=f"Version of the '{alias}' {what.lower()}.",
        importance="HIGH",
        group=group,
        order=1,
        width="LONG",
        display_name=f"{what} version for {alias}",
    )
    if kind is None:
        return
    settings = (*kind.settings, *(_IMPLICIT if what == "Transformation" else ()))
    for order, setting in enumerate(sorted(settings, key=lambda each: each.name), 2):
        yield _of_class(prefix, group, order, setting)


#: Of every transformation.
_IMPLICIT = (
    Setting(name="predicate"),
    Setting(name="negate", type=BOOLEAN, default="false"),
)
_DOCUMENTED = {
    "predicate": "The alias of a predicate used to determine whether to apply this transformation.",
    "negate": "Whether the configured predicate should be negated.",
}


def _of_class(prefix: str, group: str, order: int, setting: Setting) -> Definition:
    words = f"The setting {setting.name} of Kafka's class, with the same effect."
    return Definition(
        name=prefix + setting.name,
        value_type=setting.type,
        default=setting.default,
        required=setting.required,
        importance="MEDIUM",
        documentation=_DOCUMENTED.get(setting.name, words),
        group=group,
        order=order,
        display_name=setting.name,
    )
