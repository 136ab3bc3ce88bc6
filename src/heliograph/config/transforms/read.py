"""Reads `transforms`, `predicates` and their settings into a chain, or says what is wrong with them.

Errors have Connect's sentences where Connect has one. A setting that Connect would ignore is an error here,
with the name that it resembles: without effect, records that were to be masked would not be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from heliograph.config.options.checks import invalid
from heliograph.config.options.values import InvalidValue, parse_boolean, parse_list
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.config.transforms.catalogue import (
    PREDICATE_CLASSES,
    PREDICATES,
    REFUSED,
    TRANSFORM_CLASSES,
    TRANSFORMS,
    Kind,
)
from heliograph.transforms.chain import Stage
from heliograph.transforms.rows import Side
from heliograph.transforms.transform import Predicate

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Transforms:
    """`stages` is empty if there are `errors`: names of settings and sentences, in the order of the chain."""

    stages: tuple[Stage, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Reader:
    settings: Mapping[str, str]
    errors: list[tuple[str, str]] = field(default_factory=list)

    def transforms(self) -> Transforms:
        transforms, predicates = self._aliases("transforms"), self._aliases("predicates")
        known = {alias: self._predicate(alias) for alias in predicates}
        stages = [self._stage(alias, known) for alias in transforms]
        self._strangers("transforms", transforms)
        self._strangers("predicates", predicates)
        complete = tuple(stage for stage in stages if stage is not None)
        errors = tuple(self.errors)
        return Transforms((), errors) if errors else Transforms(complete)

    def _aliases(self, name: str) -> tuple[str, ...]:
        aliases = parse_list(self.settings.get(name, ""))
        if len(set(aliases)) < len(aliases):
            self.errors.append((name, invalid(name, aliases, "Duplicate alias provided.")))
        return tuple(dict.fromkeys(aliases))

    def _predicate(self, alias: str) -> Predicate | None:
        prefix = f"predicates.{alias}."
        return self._made(prefix, PREDICATE_CLASSES, PREDICATES, "Predicate", ())

    def _stage(self, alias: str, known: Mapping[str, Predicate | None]) -> Stage | None:
        prefix = f"transforms.{alias}."
        made = self._made(
            prefix, TRANSFORM_CLASSES, TRANSFORMS, "Transformation", ("predicate", "negate")
        )
        named = self.settings.get(f"{prefix}predicate")
        negate = self._negate(prefix, named)
        if named is not None and named not in known:
            why = f"there is no predicate {named} in predicates{did_you_mean(named, known)}"
            self.errors.append((f"{prefix}predicate", invalid(f"{prefix}predicate", named, why)))
        if made is None:
            return None
        predicate = None if named is None else known.get(named)
        return Stage(alias=alias, transform=made, predicate=predicate, negate=negate)

    def _negate(self, prefix: str, predicate: str | None) -> bool:
        name = f"{prefix}negate"
        given = self.settings.get(name)
        if given is None:
            return False
        if predicate is None:
            self.errors.append(
                (
                    f"{prefix}type",
                    f"Config '{name}' was provided but there is no config '{prefix}predicate' defining a "
                    "predicate to be negated.",
                )
            )
        try:
            return parse_boolean(given)
        except InvalidValue:
            why = "Expected value to be either true or false"
            self.errors.append((name, invalid(name, given, why)))
            return False

    def _made(
        self,
        prefix: str,
        classes: Mapping[str, tuple[Kind[T], Side]],
        package: str,
        what: str,
        besides: Sequence[str],
    ) -> T | None:
        name = f"{prefix}type"
        given = self.settings.get(name)
        if given is None:
            missing = f'Missing required configuration "{name}" which has no default value.'
            self.errors.append((name, missing))
            return None
        full = given.strip() if given.strip().startswith(package) else package + given.strip()
        if full not in classes:
            self.errors.append((name, _no_class(name, given.strip(), full, classes, package)))
            return None
        kind, side = classes[full]
        return self._configured(prefix, kind, side, besides)

    def _configured(
        self, prefix: str, kind: Kind[T], side: Side, besides: Sequence[str]
    ) -> T | None:
        given = {
            name.removeprefix(prefix): text
            for name, text in self.settings.items()
            if name.startswith(prefix)
        }
        found = len(self.errors)
        values = {}
        for setting in kind.settings:
            values[setting.name], errors = setting.read(prefix, given)
            self.errors += ((prefix + setting.name, error) for error in errors)
        known = {"type", "plugin.version", *besides, *values}
        for name in given.keys() - known:
            why = f"{prefix}{name}: unknown setting, without effect{did_you_mean(name, known, prefix)}"
            self.errors.append((prefix + name, why))
        if len(self.errors) > found:
            return None
        try:
            return kind.build(side, values)
        except ValueError as problem:
            self.errors.append((f"{prefix}type", str(problem)))
            return None

    def _strangers(self, name: str, aliases: Sequence[str]) -> None:
        """Settings of an alias that is not in the list."""
        for setting in self.settings:
            alias = setting.removeprefix(f"{name}.").partition(".")[0]
            if setting.startswith(f"{name}.") and alias not in aliases:
                near = did_you_mean(alias, aliases)
                why = f"{setting}: {alias} is not in {name}, so it has no effect{near}"
                self.errors.append((setting, why))


def _no_class(name: str, given: str, full: str, classes: Mapping[str, object], package: str) -> str:
    if reason := REFUSED.get(full.partition("$")[0]):
        return invalid(name, given, reason)
    concrete = [each for each in classes if each.startswith(f"{full}$")]
    if concrete:
        return invalid(
            name,
            given,
            f"This class is abstract and cannot be created. Did you mean {', '.join(concrete)}?",
        )
    near = did_you_mean(
        full.removeprefix(package), [each.removeprefix(package) for each in classes]
    )
    return invalid(
        name, given, f"Class {given} could not be found.{near.replace('; did', ' Did', 1)}"
    )


def read_transforms(settings: Mapping[str, str]) -> Transforms:
    """`settings`: those of a connector or flow; others than transforms and predicates are not looked at."""
    wanted = dict(_chosen(settings))
    return _Reader(wanted).transforms()


def _chosen(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in settings.items():
        if name.partition(".")[0] in ("transforms", "predicates"):
            yield name, text
