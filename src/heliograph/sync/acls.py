"""Creates the missing ACLs on remote topics that `plan/acls.py` plans."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.client.admin.acls import create_topic_acls, describe_topic_acls
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError
from heliograph.plan.acls import plan_acls
from heliograph.policy.topic_filter import TopicFilter
from heliograph.wire.acls import TopicAcl
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: The subject of problems with ACLs as a whole.
ALL_ACLS = "topic ACLs"


@dataclass(frozen=True, slots=True, kw_only=True)
class AclDifferences:
    """ACLs that the target lacks; problems under `ALL_ACLS`. `note`: why there is nothing to do."""

    missing: Sequence[TopicAcl]
    problems: dict[str, str]
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AclChanges:
    """ACLs created on the target; problems by remote topic, or under `ALL_ACLS`. `note`: why there is nothing
    to do."""

    applied: Sequence[TopicAcl]
    problems: dict[str, str]
    note: str | None = None


def sync_acls(
    flow: FlowConfig, topic_filter: TopicFilter, source: ClusterClient, target: ClusterClient
) -> AclChanges:
    """Create the ACLs that the target lacks; none is ever deleted."""
    found = observe_acls(flow, topic_filter, source, target)
    if found.note is not None:
        return AclChanges(applied=(), problems={}, note=found.note)
    failed = create_topic_acls(target, found.missing)
    if refusal := next(
        (
            e
            for e in failed.values()
            if e.code in (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.SECURITY_DISABLED)
        ),
        None,
    ):
        given_up = _given_up(refusal, "target", "ALTER")
        return AclChanges(applied=(), problems=given_up.problems, note=given_up.note)
    applied = tuple(acl for acl in found.missing if acl not in failed)
    for acl in applied:
        log.info("flow %s: %s", flow.name, acl)
    problems = {acl.topic: str(error) for acl, error in failed.items()}
    return AclChanges(applied=applied, problems=found.problems | problems)


def observe_acls(
    flow: FlowConfig, topic_filter: TopicFilter, source: ClusterClient, target: ClusterClient
) -> AclDifferences:
    """Compare the ACLs; changes nothing."""
    try:
        on_source = describe_topic_acls(source)
    except BrokerError as error:
        return _given_up(error, "source", "DESCRIBE")
    try:
        on_target = describe_topic_acls(target)
    except BrokerError as error:
        # MM2 never lists the target's ACLs: with permission to create but not to list, all are sent each
        # time.
        if error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            return _given_up(error, "target", "DESCRIBE")
        on_target = []
    missing = plan_acls(
        on_source,
        on_target,
        lambda topic: flow.should_replicate(topic, topic_filter),
        flow.target_topic,
    )
    return AclDifferences(missing=missing, problems={})


def _given_up(error: BrokerError, cluster: str, right: str) -> AclDifferences:
    """For an error that a retry cannot resolve: a note if the cluster has no ACLs, else the problem. Raises
    any other."""
    if error.code == ErrorCode.SECURITY_DISABLED:
        note = (
            f"No ACL authorizer is configured on the {cluster} Kafka cluster, so no topic ACL syncing "
            "will take place. Consider disabling topic ACL syncing by setting sync.topic.acls.enabled "
            "to 'false'."
        )
        return AclDifferences(missing=(), problems={}, note=note)
    if error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        raise error
    remedy = f"grant {right} on the {cluster} cluster, or set sync.topic.acls.enabled=false"
    return AclDifferences(missing=(), problems={ALL_ACLS: f"{error}; {remedy}"})
