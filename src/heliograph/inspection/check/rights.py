"""Compares the rights that a flow needs with what the brokers say its users may do. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.client.admin.authorized_operations import Authorized, Operations
from heliograph.errors import BrokerError
from heliograph.inspection.check.report import Outcome, RightCheck
from heliograph.inspection.check.steps import user_of
from heliograph.model import ClusterConfig
from heliograph.plan.rights import Names, Need, Resource
from heliograph.wire.acls import AclOperation
from heliograph.wire.error_codes import ErrorCode

_FLAGS = {
    Resource.TOPIC: "--topic",
    Resource.GROUP: "--group",
    Resource.TRANSACTIONAL_ID: "--transactional-id",
}
_MOST_NAMES = 5
_UNAUTHORIZED = (
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """As the clients of one login see the cluster. `refused`: topics that they could not create."""

    authorized: Authorized
    refused: Mapping[str, BrokerError] = field(default_factory=dict)


def right_check(
    need: Need, names: Sequence[str], observed: Observed, cluster: ClusterConfig
) -> RightCheck:
    """`names`: those that the need stands for; `cluster`: as the need's client reaches it."""
    verdict = _Verdict(need, names, observed, cluster)
    outcome, detail, remedy = verdict.judge()
    return RightCheck(
        cluster=need.alias,
        client=need.client,
        resource=need.resource,
        names=tuple(names),
        operations=tuple(operation.name for operation in need.operations),
        purpose=need.purpose,
        outcome=outcome,
        detail=detail,
        remedy=remedy,
    )


@dataclass(frozen=True, slots=True)
class _Verdict:
    need: Need
    names: Sequence[str]
    observed: Observed
    cluster: ClusterConfig

    def judge(self) -> tuple[Outcome, str, str]:
        lacking = self._lacking()
        refused = {n: e for n, e in self.observed.refused.items() if n in self._to_create}
        for name, error in refused.items():
            if error.code in _UNAUTHORIZED:
                lacking.setdefault(AclOperation.CREATE, []).append(name)
        if lacking:
            return self._failed(lacking)
        if refused:
            return self._not_created(refused)
        if not self.names:
            return self._nothing_matches()
        absent = [] if self._creates else sorted(self._absent)
        if absent and self.need.name is Names.TOPICS:
            return (
                Outcome.FAILED,
                f"no such topic: {some(absent)}",
                "create it on the source, or correct topics",
            )
        untold = [name for name in absent if self._allowed(name) is None]
        if untold:
            return Outcome.UNKNOWN, f"cannot be told before the topic exists: {some(untold)}", ""
        if self._to_create:
            return Outcome.OK, f"may be created: {some(sorted(self._to_create))}", ""
        return Outcome.OK, "", ""

    @property
    def _creates(self) -> bool:
        return AclOperation.CREATE in self.need.operations

    @property
    def _absent(self) -> set[str]:
        if self.need.resource is not Resource.TOPIC:
            return set()
        return set(self.names) & self.observed.authorized.missing

    @property
    def _to_create(self) -> set[str]:
        return self._absent if self._creates else set()

    def _lacking(self) -> dict[AclOperation, list[str]]:
        """By operation: the names on which this user may not do it."""
        found: dict[AclOperation, list[str]] = {}
        for name in self.names:
            allowed = self._allowed(name)
            if allowed is None:
                continue
            for operation in self.need.operations:
                # A topic that exists need not be created.
                if operation not in allowed and operation is not AclOperation.CREATE:
                    found.setdefault(operation, []).append(name)
        return found

    def _allowed(self, name: str) -> Operations | None:
        """None: cannot be told."""
        authorized = self.observed.authorized
        match self.need.resource:
            case Resource.TOPIC:
                return authorized.topics.get(name)
            case Resource.GROUP:
                return authorized.groups.get(name)
            case Resource.TRANSACTIONAL_ID:
                return authorized.transactional_ids.get(name)
        return authorized.cluster

    def _failed(self, lacking: Mapping[AclOperation, Sequence[str]]) -> tuple[Outcome, str, str]:
        names = sorted({name for its in lacking.values() for name in its})
        detail = f"no right to {', '.join(each.name for each in lacking)}: {some(names)}"
        remedy = self._grant(lacking, names)
        if self.need.without:
            return Outcome.WARNING, f"{detail}; {self.need.without}", remedy
        if AclOperation.CREATE in lacking:
            remedy += "; or create the topics in advance"
        if self.need.setting:
            remedy += f"; or set {self.need.setting}"
        return Outcome.FAILED, detail, remedy

    def _not_created(self, refused: Mapping[str, BrokerError]) -> tuple[Outcome, str, str]:
        first, error = next(iter(sorted(refused.items())))
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        remedy, why = "set what the brokers ask for, or create the topics in advance", str(error)
        if error.code == ErrorCode.INVALID_REPLICATION_FACTOR:
            why = "fewer brokers than its replication factor"
            remedy = (
                "set the replication factors to at most the number of brokers, or to -1 for the brokers' "
                "default; heliograph plan prints them as lines to paste"
            )
        return Outcome.FAILED, f"{first} could not be created{more}: {why}", remedy

    def _nothing_matches(self) -> tuple[Outcome, str, str]:
        if self.need.name is Names.GROUPS:
            return Outcome.UNKNOWN, "no group that matches groups is visible to this user", ""
        if self.need.name is Names.TOPICS:
            return (
                Outcome.FAILED,
                "no topic that matches topics is visible to this user",
                "correct topics, or grant DESCRIBE on the topics",
            )
        return Outcome.UNKNOWN, "no topic is mirrored", ""

    def _grant(self, operations: Iterable[AclOperation], names: Sequence[str]) -> str:
        """A command to paste, for the first names."""
        user = user_of(self.cluster.security) or "NAME"
        flag = _FLAGS.get(self.need.resource)
        what = "--cluster"
        if flag is not None:
            what = " ".join(f"{flag} {shlex.quote(name)}" for name in names[:_MOST_NAMES])
        rights = " ".join(f"--operation {_camel(operation)}" for operation in operations)
        return (
            f"kafka-acls.sh --bootstrap-server {self.cluster.bootstrap_servers[0]} --add "
            f"--allow-principal {shlex.quote(f'User:{user}')} {rights} {what}"
        )


def _camel(operation: AclOperation) -> str:
    """As kafka-acls.sh names it: DescribeConfigs."""
    return "".join(part.capitalize() for part in operation.name.split("_"))


def some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
