"""Plans the ACLs that are missing on the target's topics.

By the rules of `MirrorSourceConnector.syncTopicAcls`: principals that may read a source topic may read its
remote topic, and only the mirror may write there. MM2 sends all ACLs in every round; here only missing ones
are planned. Neither removes ACLs that are gone from the source.

As in MM2, the literal `*` passes a filter that accepts everything: with prefixes it becomes `A.*`, which
matches no topic, under Identity it stays `*`.
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
    """ACLs to create on the target, by topic. Law: planning again once they exist yields none."""
    wanted = {
        target_acl(acl, naming)
        for acl in source
        if should_replicate_acl(acl) and should_replicate(acl.topic)
    }
    return sorted(wanted - set(target), key=lambda acl: (acl.topic, acl.principal, str(acl)))


def should_replicate_acl(acl: TopicAcl) -> bool:
    """Whether to copy an ACL: literal ones, except those that allow WRITE."""
    may_write = acl.permission == AclPermission.ALLOW and acl.operation == AclOperation.WRITE
    return acl.pattern_type == PatternType.LITERAL and not may_write


def target_acl(acl: TopicAcl, naming: Callable[[str], str]) -> TopicAcl:
    """The ACL for the remote topic; ALL becomes READ."""
    allows_all = acl.permission == AclPermission.ALLOW and acl.operation == AclOperation.ALL
    operation = AclOperation.READ if allows_all else acl.operation
    return replace(acl, topic=naming(acl.topic), operation=operation)
