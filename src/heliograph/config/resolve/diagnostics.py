"""Reports what is wrong with the keys of a file: errors, and warnings for keys without effect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.options import Support
from heliograph.config.options.values import BOOLEAN, InvalidValue
from heliograph.config.resolve.key_lookup import KeyUse, Known, UnknownAlias

_REMEDIES = {
    "source.cluster.alias": "the alias is the one in clusters; leave the setting out",
    "target.cluster.alias": "the alias is the one in clusters; leave the setting out",
}


def value_problems(file: PropertiesFile, key_uses: Iterable[KeyUse]) -> list[str]:
    """Values that their option does not accept."""
    problems = []
    for key_use in key_uses:
        if not isinstance(key_use, Known):
            continue
        expected = _expected_instead(file, key_use)
        if expected is not None:
            shown = file.properties[key_use.key].shown.strip()
            problems.append(
                f"{key_use.key}: expected {expected}, found {shown!r} ({file.where(key_use.key)})"
            )
    return problems


def _expected_instead(file: PropertiesFile, key_use: Known) -> str | None:
    """What was expected instead of a bad value; None: the value is good, or was reported already."""
    found = file.properties[key_use.key]
    if found.broken:
        return None
    try:
        key_use.option.parse(found.value)
    except InvalidValue as invalid:
        return invalid.expected
    return None


def alias_problems(
    file: PropertiesFile, key_uses: Iterable[KeyUse], aliases: Sequence[str]
) -> list[str]:
    return [
        f"{key_use.key}: {key_use.alias!r} is not one of clusters ({', '.join(aliases)})"
        + (f"; did you mean {key_use.suggestion}?" if key_use.suggestion else "")
        + f" ({file.where(key_use.key)})"
        for key_use in key_uses
        if isinstance(key_use, UnknownAlias)
    ]


def refused_problems(file: PropertiesFile, key_uses: Iterable[KeyUse]) -> list[str]:
    """Settings that cannot be ignored: records would be mirrored wrongly or connections fail. No values."""
    problems = []
    for key_use in key_uses:
        if not isinstance(key_use, Known) or not _is_refused(file, key_use):
            continue
        remedy = _REMEDIES.get(key_use.option.name, "leave the setting out")
        problems.append(
            f"{key_use.key}: not supported by this version; {remedy} ({file.where(key_use.key)})"
        )
    return problems


def _is_refused(file: PropertiesFile, key_use: Known) -> bool:
    """Not if the value is the default, or a bad value that was reported already."""
    if key_use.option.support is not Support.REFUSED or _expected_instead(file, key_use):
        return False
    return not _is_default(file, key_use)


def _is_default(file: PropertiesFile, key_use: Known) -> bool:
    default = key_use.option.default
    value = file.properties[key_use.key].value.strip()
    return default is not None and value.upper() == default.upper()


def key_warnings(file: PropertiesFile, key_uses: Sequence[KeyUse]) -> list[str]:
    """A warning for every setting without effect; one for all that this version does not support yet."""
    found = [
        f"{key_use.key}: {key_use.remark} ({file.where(key_use.key)})"
        for key_use in key_uses
        if not isinstance(key_use, UnknownAlias) and key_use.remark is not None
    ]
    found += [
        _renamed(file, key_use, key_use.option.renamed_to)
        for key_use in key_uses
        if isinstance(key_use, Known) and key_use.option.renamed_to is not None
    ]
    later = [
        f"{key_use.key}{_in_brackets(file.properties[key_use.key].briefly_at)}"
        for key_use in key_uses
        if isinstance(key_use, Known) and _is_unsupported(file, key_use)
    ]
    if later:
        found.append(f"{file.name}: known, but without effect in this version: {', '.join(later)}")
    return found


def _renamed(file: PropertiesFile, key_use: Known, new: str) -> str:
    where = file.where(key_use.key)
    for key in (f"{key_use.prefix}{new}", new):
        if key in file.properties:
            return (
                f"{key_use.key}: has no effect, since {key}"
                f"{_in_brackets(file.properties[key].briefly_at)}, its name since Kafka 2.7, is set ({where})"
            )
    return (
        f"{key_use.key}: read as {key_use.prefix}{new}, its name since Kafka 2.7; rename it "
        f"({where})"
    )


def _is_unsupported(file: PropertiesFile, key_use: Known) -> bool:
    """Whether the setting should have an effect: not a default, and not false for a switch."""
    if key_use.option.support is not Support.LATER:
        return False
    value = file.properties[key_use.key].value.strip().lower()
    off = key_use.option.type is BOOLEAN and value == "false"
    return not off and not _is_default(file, key_use)


def _in_brackets(place: str) -> str:
    return f" ({place})" if place else ""
