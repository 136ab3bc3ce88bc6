"""The result of reading a malformed record of an internal topic: it is skipped and counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Malformed:
    """`reason` names the field, what was expected and what was found."""

    reason: str
