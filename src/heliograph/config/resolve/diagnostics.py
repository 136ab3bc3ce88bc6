"""Reports what is wrong with the keys of a file: errors, and warnings for keys without effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.options import Support
from heliograph.config.options.checks import rewrites_headers
from heliograph.config.options.values import BOOLEAN, BYTE_ARRAY_CONVERTER, InvalidValue
from heliograph.config.resolve.key_lookup import UNKNOWN, Ineffective, KeyUse, Known, UnknownAlias
from heliograph.config.resolve.near_match import near

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
        wrong = _wrong_value(file, key_use)
        if wrong is not None:
            shown = file.properties[key_use.key].shown.strip()
            problems.append(
                f"{key_use.key}: expected {wrong.expected}, found {shown!r}{wrong.remedy} "
                f"({file.where(key_use.key)})"
            )
    return problems


def _wrong_value(file: PropertiesFile, key_use: Known) -> InvalidValue | None:
    """What was expected instead of a bad value; None: the value is good, or was reported already."""
    found = file.properties[key_use.key]
    if found.broken:
        return None
    try:
        key_use.option.parse(found.value)
    except InvalidValue as invalid:
        return invalid
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
    if key_use.option.support is not Support.REFUSED or _wrong_value(file, key_use):
        return False
    return not _is_default(file, key_use)


def _is_default(file: PropertiesFile, key_use: Known) -> bool:
    default = key_use.option.default
    value = file.properties[key_use.key].value.strip()
    return default is not None and value.upper() == default.upper()


def topic_problems(file: PropertiesFile, key_uses: Iterable[KeyUse]) -> list[str]:
    """Keys without effect that were meant to choose topics, in a file that the operator wrote."""
    return [
        f"{key_use.key}: refused, since without it topics would be mirrored that you did not choose: "
        f"{key_use.remark.replace(UNKNOWN, 'unknown setting')} ({file.where(key_use.key)})"
        for key_use in key_uses
        if isinstance(key_use, Ineffective) and key_use.chooses_topics
        if file.properties[key_use.key].line
    ]


def spaced_arrows(file: PropertiesFile, aliases: Sequence[str]) -> dict[str, str]:
    """By key: the sentence for `us -> eu.enabled = true`. A space ends a key, so that its key is `us`."""
    found: dict[str, str] = {}
    for key, its in file.properties.items():
        begun = key.endswith("->") or (its.shown.startswith("->") and near(key, aliases))
        whole = key + its.shown if begun else key
        if begun or re.search(r"\s->|->\s", key):
            right = re.split(r"[\s=:]", re.sub(r"\s*->\s*", "->", whole.strip()))[0]
            found[key] = f"{right}: expected no space round ->; write {right} ({file.where(key)})"
    return found


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
    found += [
        f"{key_use.key}: has no effect: a Java worker would write the values of headers as Base64 text; here "
        f"headers are copied as they are, as with {BYTE_ARRAY_CONVERTER} ({file.where(key_use.key)})"
        for key_use in key_uses
        if isinstance(key_use, Known) and key_use.option.name == "header.converter"
        if rewrites_headers(file.properties[key_use.key].value.strip())
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
