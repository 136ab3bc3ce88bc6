"""Loads a user's own policy or filter, a Python class named `module:Class`.

The class is called with the flow's settings (a mapping that includes `source.cluster.alias`) and has the
methods in `_METHODS`. Whatever it raises becomes a ConfigError: SystemExit, for example, would silently end
a thread.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from heliograph.errors import ConfigError
from heliograph.permitted import MODULES, Permitted

_METHODS = {
    "replication.policy.class": (
        "format_remote_topic(source_alias, topic)",
        "topic_source(topic)",
        "upstream_topic(topic)",
        "original_topic(topic)",
        "heartbeats_topic()",
        "offset_syncs_topic(alias)",
        "checkpoints_topic(alias)",
        "is_heartbeats_topic(topic)",
        "is_checkpoints_topic(topic)",
        "is_mm2_internal_topic(topic)",
        "is_internal_topic(topic)",
    ),
    "topic.filter.class": ("should_replicate_topic(topic)",),
    "group.filter.class": ("should_replicate_group(group)",),
    "config.property.filter.class": (
        "should_replicate_config_property(name)",
        "should_replicate_source_default(name)",
    ),
}
_HINTS = {
    "replication.policy.class": "; derive it from heliograph.policy.naming.DefaultReplicationPolicy "
    "to write only those that differ",
}


class PythonClass(NamedTuple):
    module: str
    name: str


def python_class(text: str) -> PythonClass | None:
    """The parts of `module:Class`, which must be Python identifiers; None for anything else."""
    module, colon, name = text.partition(":")
    strict = colon and name.isidentifier() and all(map(str.isidentifier, module.split(".")))
    return PythonClass(module, name) if strict else None


def ported_class(
    option: str,
    class_name: str,
    settings: Mapping[str, str],
    modules: frozenset[str] | None = None,
) -> Any:
    """An instance of the class that `option` names. Raises ConfigError.

    `modules` are those that may be imported, with their submodules; None: any.
    """
    methods, subject = _METHODS[option], f"{option}: {class_name}"
    named = _named(option, class_name)
    if modules is not None and not Permitted(modules=modules).allows_module(named.module):
        raise ConfigError(
            f"{subject}: Python modules that REST may name must be listed in the worker's {MODULES}"
        )
    module = _guarded(
        lambda: importlib.import_module(named.module),
        f"{subject}: the module {named.module} cannot be imported",
        "; is it on PYTHONPATH?",
    )
    cls = _guarded(
        lambda: getattr(module, named.name, None), f"{subject}: cannot be read from its module"
    )
    if not callable(cls):
        raise ConfigError(f"{subject}: the module {named.module} has no class {named.name}")
    names = [each.partition("(")[0] for each in methods]
    missing = [
        each
        for each, name in zip(methods, names, strict=True)
        if not callable(_guarded(lambda name=name: getattr(cls, name, None), subject))  # type: ignore[misc]
    ]
    if missing:
        raise ConfigError(f"{subject} lacks {', '.join(missing)}{_HINTS.get(option, '')}")
    made = _guarded(
        lambda: cls(dict(settings)), f"{subject} could not be created from the settings"
    )
    return _Ported(made, subject)


def ported_function(
    option: str, text: str, modules: frozenset[str] | None = None
) -> Callable[..., object]:
    """The function `module:function`. Raises ConfigError. `modules` as in `ported_class`."""
    named = python_class(text)
    if named is None:
        raise ConfigError(f"{option}: expected module:function, found {text!r}")
    if modules is not None and not Permitted(modules=modules).allows_module(named.module):
        raise ConfigError(
            f"{option}: {text}: Python modules that REST may name must be listed in the worker's {MODULES}"
        )
    module = _guarded(
        lambda: importlib.import_module(named.module),
        f"{option}: {named.module} cannot be imported",
        "; install it where executors run, or add it to PYTHONPATH",
    )
    function = _guarded(
        lambda: getattr(module, named.name, None),
        f"{option}: {text}: cannot be read from its module",
    )
    if not callable(function):
        known = [each for each in vars(module) if not each.startswith("_")]
        (near, *_) = [*get_close_matches(named.name, known, 1), ""]
        hint = f"; did you mean {near}?" if near else ""
        raise ConfigError(f"{option}: {named.module} has no function {named.name}{hint}")
    found: Callable[..., object] = function
    return found


@dataclass(frozen=True, slots=True)
class PortedFilter:
    """A user's filter of topics or groups, which gives no reason."""

    class_name: str
    ask: Callable[[str], bool]

    def accepts(self, name: str) -> bool:
        return bool(self.ask(name))

    def why_not(self, name: str) -> str | None:
        return None if self.ask(name) else f"{self.class_name} does not replicate it"


class _Ported:
    """Wraps the user's object: SystemExit and GeneratorExit of its methods become ConfigError."""

    def __init__(self, made: Any, subject: str) -> None:
        self._made = made
        self._subject = subject

    def __eq__(self, other: object) -> bool:
        """Policies are compared in the search for cycles."""
        return isinstance(other, _Ported) and bool(self._made == other._made)

    def __hash__(self) -> int:
        return hash(self._made)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle ask for these before `__init__`
            raise AttributeError(name)
        found = getattr(self._made, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            try:
                return found(*given, **named)
            except (SystemExit, GeneratorExit) as problem:
                raise _config_error(problem, f"{self._subject}: {name} failed") from problem

        return call


def _named(option: str, class_name: str) -> PythonClass:
    named = python_class(class_name)
    if named is not None:
        return named
    if ":" in class_name:
        raise ConfigError(f"{option}: {class_name}: expected a Python class as module:Class")
    raise ConfigError(
        f"{option}: {class_name} is not built in, and Java classes cannot run here; write a Python "
        f"class that takes the settings and has {', '.join(_METHODS[option])}{_HINTS.get(option, '')}, put "
        "its module on PYTHONPATH and name it as module:Class"
    )


def _guarded(action: Callable[[], Any], sentence: str, remedy: str = "") -> Any:
    try:
        return action()
    except KeyboardInterrupt:
        raise  # Ctrl-C during the import
    except BaseException as problem:
        raise _config_error(problem, sentence, remedy) from problem


def _config_error(problem: BaseException, sentence: str, remedy: str = "") -> ConfigError:
    return ConfigError(f"{sentence} ({type(problem).__name__}: {problem}){remedy}")
