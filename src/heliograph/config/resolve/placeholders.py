"""Fills in the placeholders of a file and marks the values that came from a provider or the environment.

Such a value may be a secret: messages show the placeholder instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from heliograph.config.formats.kubernetes import CONFIG_MAP, SECRET, KubernetesSecrets
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.options.values import parse_list
from heliograph.config.resolve.providers import (
    AllowedPaths,
    DirectoryProvider,
    EnvironmentProvider,
    FileProvider,
    Placeholder,
    Provider,
    Unavailable,
    fill_in,
    variable,
    wrong_paths,
)
from heliograph.errors import InvalidPattern
from heliograph.permitted import Permitted
from heliograph.policy.java_regex import JavaPattern

_PREFIX = "config.providers"
_KAFKA = "org.apache.kafka.common.config.provider."
_CLASSES = ("FileConfigProvider", "DirectoryConfigProvider", "EnvVarConfigProvider")
_EXPECTED = f"{_CLASSES[0]}, {_CLASSES[1]} or {_CLASSES[2]}"
_USUAL_NAMES = {"file": _CLASSES[0], "dir": _CLASSES[1], "directory": _CLASSES[1]}
_USUAL_NAMES |= {"env": _CLASSES[2]}
_STRIMZI = {
    "io.strimzi.kafka.KubernetesSecretConfigProvider": SECRET,
    "io.strimzi.kafka.KubernetesConfigMapConfigProvider": CONFIG_MAP,
}
_NO_SECRETS = KubernetesSecrets()


class FilledIn(NamedTuple):
    file: PropertiesFile
    problems: list[str]


def fill_in_placeholders(
    file: PropertiesFile, environment: Mapping[str, str], secrets: KubernetesSecrets = _NO_SECRETS
) -> FilledIn:
    """Fills in every value of `file`, `clusters` included. A value that cannot be filled in is marked as
    broken, so that it is reported only once."""
    placeholders = Placeholders(file, environment, secrets)
    filled = placeholders.fill_in(file)
    warnings = (*filled.file.warnings, *placeholders.unnamed())
    return FilledIn(
        replace(filled.file, warnings=warnings), placeholders.problems + filled.problems
    )


class Placeholders:
    """The config providers that `file` declares; `problems` are theirs. `secrets` are what those of Strimzi
    look into."""

    def __init__(
        self,
        file: PropertiesFile,
        environment: Mapping[str, str],
        secrets: KubernetesSecrets = _NO_SECRETS,
    ) -> None:
        self._secrets = secrets
        self._file = file
        self._environment = environment
        self.problems: list[str] = []
        self._names = parse_list(self._text(_PREFIX))
        self._providers = {name: self._provider(name) for name in self._names if name}

    def fill_in(
        self,
        file: PropertiesFile,
        *,
        variables: bool = True,
        permitted: Permitted | None = None,
    ) -> FilledIn:
        """Fills in every value of `file`; `${VARIABLE}` stays as it is if not `variables`. `permitted` limits
        what providers read for a configuration from REST; None: the operator wrote it."""
        problems: list[str] = []
        bare: list[str] = []

        def fill(key: str, found: Property) -> Property:
            def lookup(wanted: Placeholder) -> str:
                if not wanted.variable:
                    return self._of_provider(key, wanted, permitted)
                if not variables:
                    return wanted.text
                value = variable(self._environment, wanted.variable)
                bare.append(f"{wanted.text} ({found.briefly_at})")
                return value

            filled = fill_in(found.value, lookup)
            problems.extend(f"{key}: {each} ({file.where(key)})" for each in filled.problems)
            if filled.text == found.value and filled.complete:
                return found
            return replace(
                found, value=filled.text, written=found.value, broken=not filled.complete
            )

        properties = {key: fill(key, found) for key, found in file.properties.items()}
        warnings = list(file.warnings)
        if bare:
            warnings.append(
                f"{file.name}: filled in from the environment, which MM2 does not do: "
                f"{', '.join(dict.fromkeys(bare))}"
            )
        return FilledIn(replace(file, properties=properties, warnings=tuple(warnings)), problems)

    def unnamed(self) -> list[str]:
        """Warnings for settings of providers that `config.providers` does not name."""
        return [
            f"{key}: has no effect, since {_PREFIX} does not name {name!r} ({self._file.where(key)})"
            for key in self._file.properties
            if key.startswith(f"{_PREFIX}.")
            and (name := key.removeprefix(f"{_PREFIX}.").partition(".")[0]) not in self._names
        ]

    def _of_provider(self, key: str, wanted: Placeholder, permitted: Permitted | None) -> str:
        if key.startswith(_PREFIX):
            raise Unavailable("settings of config providers cannot use config providers")
        name = wanted.provider
        if name not in self._providers:
            raise Unavailable(self._undeclared(name))
        provider = self._providers[name]
        if provider is None:
            raise Unavailable  # _provider has reported why
        value = provider.get(wanted.path, wanted.key, permitted)
        # In JAAS, text in quotes cannot span lines.
        return value.replace("\n", r"\n") if key.endswith("jaas.config") else value

    def _undeclared(self, name: str) -> str:
        declared = f"{_PREFIX} has {', '.join(self._names)}" if self._names else f"no {_PREFIX}"
        class_name = _USUAL_NAMES.get(name.lower(), "…")
        names = ", ".join([*self._names, name])
        return (
            f"config provider {name!r} is not declared ({declared}); write {_PREFIX} = {names} and "
            f"{_PREFIX}.{name}.class = {class_name}"
        )

    def _provider(self, name: str) -> Provider | None:
        """None: it cannot be created, and a problem was added."""
        key = f"{_PREFIX}.{name}.class"
        if key not in self._file.properties:
            self.problems.append(f"{key}: missing in {self._file.name}; expected {_EXPECTED}")
            return None
        class_name = self._text(key).removeprefix(_KAFKA)
        if (
            class_name == "io.strimzi.kafka.EnvVarConfigProvider"
        ):  # older than Kafka's, with the same effect
            class_name = _CLASSES[2]
        if class_name in _STRIMZI:
            return self._secrets.provider(_STRIMZI[class_name])
        match class_name:
            case "FileConfigProvider":
                return FileProvider(self._allowed_paths(name))
            case "DirectoryConfigProvider":
                return DirectoryProvider(self._allowed_paths(name))
            case "EnvVarConfigProvider":
                return self._environment_provider(name)
        self.problems.append(
            f"{key}: expected {_EXPECTED}, found {self._file.properties[key].value.strip()!r} "
            f"({self._file.where(key)})"
        )
        return None

    def _allowed_paths(self, name: str) -> AllowedPaths:
        key = f"{_PREFIX}.{name}.param.allowed.paths"
        paths = [path for path in parse_list(self._text(key)) if path]
        if wrong_paths(paths):
            self.problems.append(
                f"{key}: expected absolute paths that exist, "
                f"found {self._file.properties[key].value.strip()!r} ({self._file.where(key)})"
            )
        return AllowedPaths(tuple(paths) or None)

    def _environment_provider(self, name: str) -> EnvironmentProvider | None:
        key = f"{_PREFIX}.{name}.param.allowlist.pattern"
        if key not in self._file.properties:
            return EnvironmentProvider(self._environment, None)
        try:
            return EnvironmentProvider(self._environment, JavaPattern(self._text(key)))
        except InvalidPattern as invalid:
            self.problems.append(
                f"{key}: {self._file.properties[key].value.strip()!r} is not a regular expression, "
                f"at character {invalid.position + 1} ({self._file.where(key)})"
            )
            return None

    def _text(self, key: str) -> str:
        """A provider's setting, with the environment variables that are set filled in; `fill_in` reports
        those that are not set."""
        found = self._file.properties.get(key)
        if found is None:
            return ""
        filled = fill_in(
            found.value, lambda wanted: self._environment.get(wanted.variable, wanted.text)
        )
        return filled.text.strip()
