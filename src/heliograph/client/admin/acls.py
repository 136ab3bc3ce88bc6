"""Describes and creates ACLs on topics."""

from __future__ import annotations

from collections.abc import Sequence

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.response_checks import pairs
from heliograph.errors import BrokerError
from heliograph.wire import messages
from heliograph.wire.acls import AclOperation, AclPermission, PatternType, TopicAcl

_TOPIC_RESOURCE = 2
#: A request may write at most 10,000 records to the metadata log.
_ACLS_PER_REQUEST = 1000


def describe_topic_acls(cluster: ClusterClient) -> list[TopicAcl]:
    """All ACLs on topics, of any pattern type. Raises BrokerError, also if there is no authorizer."""
    request = messages.DescribeAclsRequest(
        resource_type_filter=_TOPIC_RESOURCE,
        resource_name_filter=None,
        pattern_type_filter=PatternType.ANY,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=AclPermission.ANY,
    )
    response = cluster.call_any(request)
    if response.error_code:
        raise messages.broker_error(
            response.error_code, f"ACLs of {cluster.config.alias}", response.error_message
        )
    return [
        TopicAcl(
            topic=resource.resource_name,
            pattern_type=resource.pattern_type,
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission=acl.permission_type,
        )
        for resource in response.resources
        for acl in resource.acls
    ]


def create_topic_acls(
    cluster: ClusterClient, acls: Sequence[TopicAcl]
) -> dict[TopicAcl, BrokerError]:
    """Create ACLs; returns those that failed. One that exists already counts as created."""
    failed: dict[TopicAcl, BrokerError] = {}
    entry = messages.CreateAclsRequest.AclCreation
    for start in range(0, len(acls), _ACLS_PER_REQUEST):
        asked = acls[start : start + _ACLS_PER_REQUEST]
        request = messages.CreateAclsRequest(
            creations=[
                entry(
                    resource_type=_TOPIC_RESOURCE,
                    resource_name=acl.topic,
                    resource_pattern_type=acl.pattern_type,
                    principal=acl.principal,
                    host=acl.host,
                    operation=acl.operation,
                    permission_type=acl.permission,
                )
                for acl in asked
            ]
        )
        results = cluster.call_controller(request).results
        for acl, result in pairs(asked, results, f"{cluster.config.alias}: new ACLs"):
            if result.error_code:
                failed[acl] = messages.broker_error(
                    result.error_code, f"{acl} ({cluster.config.alias})", result.error_message
                )
    return failed
