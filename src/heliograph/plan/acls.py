"""Which ACLs of the source's topics the target's topics lack.

The rules are those of `MirrorSourceConnector.syncTopicAcls`: who may read here may read there, and
nobody but the mirror writes there. MM2 sends all ACLs in every round; here only missing ones are
planned. Neither takes away what is gone from the source.

As in MM2 the literal `*` passes a filter that takes everything: with prefixes it becomes `A.*`, which
names no topic, under Identity `*` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from heliograph.wire.acls import AclOperation, AclPermission, PatternType, TopicAcl


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
