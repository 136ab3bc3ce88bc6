from __future__ import annotations

from dataclasses import replace

from heliograph.plan.acls import plan_acls, should_replicate_acl, target_acl
from heliograph.wire.acls import AclOperation, AclPermission, PatternType, TopicAcl

READ = TopicAcl(
    topic="test_topic",
    pattern_type=PatternType.LITERAL,
    principal="User:kafka",
    host="*",
    operation=AclOperation.READ,
    permission=AclPermission.ALLOW,
)
ALLOW_ALL = replace(READ, operation=AclOperation.ALL)
DENY_ALL = replace(ALLOW_ALL, permission=AclPermission.DENY)
ALLOW_WRITE = replace(READ, operation=AclOperation.WRITE)


def remote(topic: str) -> str:
    return f"source.{topic}"


def plan(source: list[TopicAcl], target: list[TopicAcl]) -> list[TopicAcl]:
    return plan_acls(source, target, lambda topic: topic != "secret", remote)


def test_nobody_gets_to_write() -> None:
    """MirrorSourceConnectorTest.testAclFiltering"""
    assert not should_replicate_acl(ALLOW_WRITE)
    assert should_replicate_acl(ALLOW_ALL)
    assert should_replicate_acl(replace(ALLOW_WRITE, permission=AclPermission.DENY))


def test_who_may_do_everything_may_read_and_denials_stay() -> None:
    """MirrorSourceConnectorTest.testAclTransformation"""
    allowed, denied = target_acl(ALLOW_ALL, remote), target_acl(DENY_ALL, remote)

    assert allowed == replace(READ, topic="source.test_topic")
    assert denied == replace(DENY_ALL, topic="source.test_topic")


def test_prefixed_acls_and_those_of_other_topics_are_left_out() -> None:
    prefixed = replace(READ, pattern_type=PatternType.PREFIXED)
    other = replace(READ, topic="secret")

    assert plan([prefixed, other], []) == []


def test_only_what_the_target_lacks_is_created() -> None:
    alter = replace(READ, operation=AclOperation.ALTER)
    present = [replace(READ, topic="source.test_topic"), replace(READ, topic="unrelated")]

    made = plan([READ, alter, ALLOW_ALL, ALLOW_WRITE], present)

    assert made == [replace(alter, topic="source.test_topic")]
    assert plan([READ, alter], [*present, *made]) == []


def test_what_is_gone_from_the_source_stays_on_the_target() -> None:
    assert plan([], [replace(READ, topic="source.test_topic")]) == []


def test_operations_that_are_not_known_here_pass_unchanged() -> None:
    new = replace(READ, operation=77)

    assert plan([new], []) == [replace(new, topic="source.test_topic")]
    assert str(new) == "ALLOW AclOperation(77) on test_topic for User:kafka from *"
