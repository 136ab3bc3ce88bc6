"""From where keys stand to what the user is told: warnings, and errors for what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heliograph.config.client_options import is_security
from heliograph.config.options import Support
from heliograph.config.placement import Ineffective, Known, Placement, UnknownAlias
from heliograph.config.properties import PropertiesFile
from heliograph.config.values import BOOLEAN, InvalidValue

_SECURITY_REMEDY = (
    "TLS and SASL are not supported by this version; use a PLAINTEXT listener of the cluster"
)
_REMEDIES = {
    "config.providers": "write the values themselves",
    "replication.policy.class": "only DefaultReplicationPolicy; leave the setting out",
    "topic.filter.class": "only DefaultTopicFilter; use topics and topics.exclude",
    "exactly.once.source.support": "only disabled, that is at least once",
}


def value_problems(file: PropertiesFile, placements: Iterable[Placement]) -> list[str]:
    """Values that are not what their option takes, wherever they stand."""
    problems = []
    for placement in placements:
        if not isinstance(placement, Known):
            continue
        text = file.properties[placement.key].value
        try:
            placement.option.parse(text)
        except InvalidValue as invalid:
            problems.append(
                f"{placement.key}: expected {invalid.expected}, found {text.strip()!r} "
                f"({file.where(placement.key)})"
            )
    return problems


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
    security: dict[str, list[Known]] = {}
    for placement in placements:
        if not isinstance(placement, Known) or not _is_refused(file, placement):
            continue
        if is_security(placement.option.name):
            security.setdefault(placement.prefix, []).append(placement)
            continue
        remedy = _REMEDIES.get(placement.option.name, "leave the setting out")
        problems.append(
            f"{placement.key}: not supported by this version; {remedy} "
            f"({file.where(placement.key)})"
        )
    for refused in security.values():
        keys = ", ".join(placement.key for placement in refused)
        problems.append(f"{keys}: {_SECURITY_REMEDY} ({file.where(refused[0].key)})")
    return problems


def _is_refused(file: PropertiesFile, placement: Known) -> bool:
    """A setting that says what is so anyway is not refused."""
    option = placement.option
    if option.support is not Support.REFUSED:
        return False
    value = file.properties[placement.key].value.strip()
    return option.default is None or value.upper() != option.default.upper()


def remarks(file: PropertiesFile, placements: Sequence[Placement]) -> list[str]:
    """A warning for every setting without effect, and one for all that come with later versions."""
    found = [
        f"{placement.key}: {placement.remark} ({file.where(placement.key)})"
        for placement in placements
        if isinstance(placement, Ineffective)
    ]
    later = [
        f"{placement.key} (line {file.properties[placement.key].line})"
        for placement in placements
        if isinstance(placement, Known) and _waits(file, placement)
    ]
    if later:
        found.append(f"{file.name}: known, but without effect in this version: {', '.join(later)}")
    return found


def _waits(file: PropertiesFile, placement: Known) -> bool:
    """What a user switches off is off already."""
    if placement.option.support is not Support.LATER:
        return False
    value = file.properties[placement.key].value.strip().lower()
    return not (placement.option.type is BOOLEAN and value == "false")
