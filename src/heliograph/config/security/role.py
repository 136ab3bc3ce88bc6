"""Defines the roles of users of the REST API."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """`read` may GET; `write` may do everything."""

    READ = "read"
    WRITE = "write"

    def allows(self, method: str) -> bool:
        return self is Role.WRITE or method in ("GET", "HEAD", "OPTIONS")
