"""A record of an internal topic that cannot be understood: skipped and counted, never fatal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Malformed:
    """`reason` says which field, what was expected and what was found."""

    reason: str
