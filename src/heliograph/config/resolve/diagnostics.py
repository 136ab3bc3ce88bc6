"""From where keys stand to what the user is told: warnings, and errors for what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.options import Support
from heliograph.config.options.values import BOOLEAN, InvalidValue
from heliograph.config.resolve.key_lookup import Known, Placement, UnknownAlias

_REMEDIES = {
    "source.cluster.alias": "the alias is the one in clusters; leave the setting out",
    "target.cluster.alias": "the alias is the one in clusters; leave the setting out",
}


def value_problems(file: PropertiesFile, placements: Iterable[Placement]) -> list[str]:
    """Values that are not what their option takes, wherever they stand."""
    problems = []
    for placement in placements:
        if not isinstance(placement, Known):
            continue
        expected = _expected_instead(file, placement)
        if expected is not None:
            shown = file.properties[placement.key].shown.strip()
            problems.append(
                f"{placement.key}: expected {expected}, found {shown!r} "
                f"({file.where(placement.key)})"
            )
    return problems


def _expected_instead(file: PropertiesFile, placement: Known) -> str | None:
    """What should stand in place of a bad value; None for a good one, or one reported already."""
    found = file.properties[placement.key]
    if found.broken:
        return None
    try:
        placement.option.parse(found.value)
    except InvalidValue as invalid:
        return invalid.expected
    return None


def alias_problems(
    file: PropertiesFile, placements: Iterable[Placement], aliases: Sequence[str]
) -> list[str]:
    return [
        f"{placement.key}: {placement.alias!r} is not one of clusters ({', '.join(aliases)})"
        + (f"; did you mean {placement.suggestion}?" if placement.suggestion else "")
        + f" ({file.where(placement.key)})"
        for placement in placements
        if isinstance(placement, UnknownAlias)
    ]


def refusals(file: PropertiesFile, placements: Iterable[Placement]) -> list[str]:
    """Settings without which records would go astray or connections fail. Values stay unsaid."""
    problems = []
    for placement in placements:
        if not isinstance(placement, Known) or not _is_refused(file, placement):
            continue
        remedy = _REMEDIES.get(placement.option.name, "leave the setting out")
        problems.append(
            f"{placement.key}: not supported by this version; {remedy} "
            f"({file.where(placement.key)})"
        )
    return problems


def _is_refused(file: PropertiesFile, placement: Known) -> bool:
    """A setting that says what is so anyway is not refused; a bad value has been reported."""
    if placement.option.support is not Support.REFUSED or _expected_instead(file, placement):
        return False
    return not _is_so_anyway(file, placement)


def _is_so_anyway(file: PropertiesFile, placement: Known) -> bool:
    default = placement.option.default
    value = file.properties[placement.key].value.strip()
    return default is not None and value.upper() == default.upper()


def remarks(file: PropertiesFile, placements: Sequence[Placement]) -> list[str]:
    """A warning for every setting without effect, and one for all that come with later versions."""
    found = [
        f"{placement.key}: {placement.remark} ({file.where(placement.key)})"
        for placement in placements
        if not isinstance(placement, UnknownAlias) and placement.remark is not None
    ]
    found += [
        _renamed(file, placement, placement.option.renamed_to)
        for placement in placements
        if isinstance(placement, Known) and placement.option.renamed_to is not None
    ]
    later = [
        f"{placement.key}{_in_brackets(file.properties[placement.key].briefly_at)}"
        for placement in placements
        if isinstance(placement, Known) and _waits(file, placement)
    ]
    if later:
        found.append(f"{file.name}: known, but without effect in this version: {', '.join(later)}")
    return found


def _renamed(file: PropertiesFile, placement: Known, new: str) -> str:
    where = file.where(placement.key)
    for key in (f"{placement.prefix}{new}", new):
        if key in file.properties:
            return (
                f"{placement.key}: has no effect next to {key}"
                f"{_in_brackets(file.properties[key].briefly_at)}, its name since Kafka 2.7 ({where})"
            )
    return (
        f"{placement.key}: read as {placement.prefix}{new}, its name since Kafka 2.7; write that "
        f"({where})"
    )


def _waits(file: PropertiesFile, placement: Known) -> bool:
    """What a user switches off is off already."""
    if placement.option.support is not Support.LATER:
        return False
    value = file.properties[placement.key].value.strip().lower()
    off = placement.option.type is BOOLEAN and value == "false"
    return not off and not _is_so_anyway(file, placement)


def _in_brackets(place: str) -> str:
    return f" ({place})" if place else ""
