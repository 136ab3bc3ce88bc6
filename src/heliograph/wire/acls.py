"""ACLs on topics, with the numbers of the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class PatternType(IntEnum):
    ANY = 1
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """Operations that our rules use, and names for the log; brokers may know more."""

    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11


class AclPermission(IntEnum):
    ANY = 1
    DENY = 2
    ALLOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAcl:
    """An ACL on topics; numbers as on the wire, so that unknown ones pass unchanged."""

    topic: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int

    @property
    def permission_name(self) -> str:
        return _name(AclPermission, self.permission)

    @property
    def operation_name(self) -> str:
        return _name(AclOperation, self.operation)

    def __str__(self) -> str:
        return (
            f"{self.permission_name} {self.operation_name} on {self.topic} "
            f"for {self.principal} from {self.host}"
        )


def _name(names: type[IntEnum], number: int) -> str:
    return (
        names(number).name if number in names._value2member_map_ else f"{names.__name__}({number})"
    )
