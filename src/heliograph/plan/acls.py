"""Which ACLs of the source's topics the target's topics lack.

The rules are those of `MirrorSourceConnector.syncTopicAcls`: who may read here may read there, and
nobody but the mirror writes there. MM2 sends all ACLs in every round; here only missing ones are
planned. Neither takes away what is gone from the source.

As in MM2 the literal `*` passes a filter that takes everything: with prefixes it becomes `A.*`, which
names no topic, under Identity `*` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum


class PatternType(IntEnum):
    ANY = 1
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """Those that the rules speak of, and names for the log; brokers may know more."""

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
    """An ACL on topics; numbers as on the wire, so that what is not known here passes unchanged."""

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


def plan_acls(
    source: Iterable[TopicAcl],
    target: Iterable[TopicAcl],
    should_replicate: Callable[[str], bool],
    naming: Callable[[str], str],
) -> list[TopicAcl]:
    """ACLs to be created on the target, by topic. Law: planning again once they are there yields none."""
    wanted = {
        target_acl(acl, naming)
        for acl in source
        if should_replicate_acl(acl) and should_replicate(acl.topic)
    }
    return sorted(wanted - set(target), key=lambda acl: (acl.topic, acl.principal, str(acl)))


def should_replicate_acl(acl: TopicAcl) -> bool:
    """Literal ones, but none that lets anybody write: the mirror alone does."""
    may_write = acl.permission == AclPermission.ALLOW and acl.operation == AclOperation.WRITE
    return acl.pattern_type == PatternType.LITERAL and not may_write


def target_acl(acl: TopicAcl, naming: Callable[[str], str]) -> TopicAcl:
    """For the remote topic; who may do all there is may read."""
    allows_all = acl.permission == AclPermission.ALLOW and acl.operation == AclOperation.ALL
    operation = AclOperation.READ if allows_all else acl.operation
    return replace(acl, topic=naming(acl.topic), operation=operation)


def _name(names: type[IntEnum], number: int) -> str:
    return (
        names(number).name if number in names._value2member_map_ else f"{names.__name__}({number})"
    )
