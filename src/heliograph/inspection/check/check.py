"""Checks a whole configuration: logins in parallel, then the rights of each flow. Changes nothing, unless
`write`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

from heliograph.client.admin.authorized_operations import authorized
from heliograph.client.admin.groups import list_groups
from heliograph.client.admin.topics import EARLIEST, NewTopic, create_topics, list_offsets
from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError, ClientError
from heliograph.inspection.check.login_check import STEP_SECONDS, OpenLogin, open_login
from heliograph.inspection.check.parties import Key, Party, key_of, logins_of
from heliograph.inspection.check.report import FlowCheck, MirrorCheck, Outcome, RightCheck, Step
from heliograph.inspection.check.rights import Observed, right_check
from heliograph.inspection.check.write_probe import probe_by_writing
from heliograph.model import ClientKind, TopicPartition
from heliograph.plan.checkpoints import why_not_followed
from heliograph.plan.rights import Names, Need, Resource
from heliograph.wire.acls import AclOperation

#: A topic or group that is named, not matched by a pattern.
_LITERAL = re.compile(r"[\w.-]*[\w-]")
_AT_ONCE = 16

OnStep = Callable[[str, str], None]
Found = Mapping[Names, Sequence[str]]


def check_mirror(
    parties: Sequence[Party],
    *,
    write: bool,
    warnings: Sequence[str] = (),
    on_step: OnStep = lambda cluster, step: None,
) -> MirrorCheck:
    """Raises no ClientError: what fails is in the result."""
    logins = logins_of(list(parties))
    with ExitStack() as stack, ThreadPoolExecutor(_AT_ONCE) as pool:
        opened = dict(
            zip(
                logins, pool.map(lambda one: open_login(one, on_step), logins.values()), strict=True
            )
        )
        for each in opened.values():
            if each.client is not None:
                stack.enter_context(closing(each.client))
        flows = tuple(_PartyCheck(party, opened, on_step).check() for party in parties)
        changed = probe_by_writing(parties, opened, on_step) if write else ()
    return MirrorCheck(
        logins=tuple(each.result() for each in opened.values()),
        flows=flows,
        warnings=tuple(warnings),
        changed=changed,
    )


class _PartyCheck:
    def __init__(self, party: Party, opened: Mapping[Key, OpenLogin], on_step: OnStep) -> None:
        self._party = party
        self._opened = opened
        self._on_step = on_step
        self._unknown: list[str] = []

    def check(self) -> FlowCheck:
        names = self._names()
        rights: list[RightCheck] = []
        for (alias, kind), needs in self._by_client().items():
            login = self._login(alias, kind)
            if login.client is None:
                self._unknown.append(f"the rights on {alias} as {kind}: not connected")
                continue
            self._on_step(alias, f"rights of {self._party.name} as {kind}")
            try:
                rights += self._rights(login.client, needs, names)
            except ClientError as e:
                self._unknown.append(f"the rights on {alias} as {kind}: {e}")
        self._read(names, rights)
        return FlowCheck(
            name=self._party.name, rights=tuple(rights), unknown=tuple(dict.fromkeys(self._unknown))
        )

    def _by_client(self) -> dict[tuple[str, ClientKind], list[Need]]:
        found: dict[tuple[str, ClientKind], list[Need]] = {}
        for need in self._party.needs:
            found.setdefault((need.alias, need.client), []).append(need)
        return found

    def _login(self, alias: str, kind: ClientKind) -> OpenLogin:
        return self._opened[key_of(self._party.cluster(alias, kind))]

    # ── names ────────────────────────────────────────────────────────────────────────────────

    def _names(self) -> Found:
        """The topics and groups of the flow, as its admin sees them on the source, and those it names."""
        flow = self._party.flow
        if flow is None:
            return {}
        client = self._login(flow.source, ClientKind.ADMIN).client
        topics: list[str] = []
        groups: list[str] = []
        if client is not None:
            self._on_step(flow.source, "describe")
            try:
                topics = _topics(flow, client)
                groups = _groups(flow, client)
            except ClientError as e:
                self._unknown.append(f"topics and groups of {flow.source}: {e}")
        return {
            Names.TOPICS: topics,
            Names.REMOTE_TOPICS: sorted({flow.target_topic(topic) for topic in topics}),
            Names.GROUPS: groups,
        }

    # ── rights ───────────────────────────────────────────────────────────────────────────────

    def _rights(
        self, client: ClusterClient, needs: Sequence[Need], found: Found
    ) -> Iterable[RightCheck]:
        names = [_resolved(need, found) for need in needs]
        by_resource: dict[Resource, list[str]] = {}
        for need, its in zip(needs, names, strict=True):
            by_resource.setdefault(need.resource, []).extend(its)
        allowed = authorized(
            client,
            topics=by_resource.get(Resource.TOPIC, ()),
            groups=by_resource.get(Resource.GROUP, ()),
            transactional_ids=by_resource.get(Resource.TRANSACTIONAL_ID, ()),
        )
        new = [
            topic
            for need, its in zip(needs, names, strict=True)
            for topic in self._new_topics(need, its)
            if topic.name in allowed.missing
        ]
        refused: dict[str, BrokerError] = {}
        if new:
            client.refresh([])
            refused = create_topics(client, new, validate_only=True)
        observed = Observed(authorized=allowed, refused=refused)
        return [
            right_check(need, its, observed, client.config)
            for need, its in zip(needs, names, strict=True)
        ]

    def _new_topics(self, need: Need, names: Sequence[str]) -> list[NewTopic]:
        if AclOperation.CREATE not in need.operations:
            return []
        topic, flow = need.topic, self._party.flow
        if topic is not None:
            return [
                NewTopic(
                    name=topic.name,
                    partitions=topic.partitions,
                    replication_factor=topic.replication_factor,
                    configs=dict(topic.configs),
                )
            ]
        assert flow is not None
        factor = flow.replication_factor
        return [
            NewTopic(name=name, partitions=1, replication_factor=factor, configs={})
            for name in names
        ]

    # ── reading ──────────────────────────────────────────────────────────────────────────────

    def _read(self, found: Found, rights: Sequence[RightCheck]) -> None:
        """Fetches from one topic: a right is one thing, a leader that answers is another."""
        flow = self._party.flow
        readable = [
            right.names[0]
            for right in rights
            if right.client == ClientKind.CONSUMER and right.outcome is Outcome.OK and right.names
        ]
        if flow is None or not readable:
            return
        login = self._login(flow.source, ClientKind.CONSUMER)
        assert login.client is not None
        self._on_step(flow.source, "read")
        login.steps.append(_fetched(login.client, TopicPartition(readable[0], 0)))


def _resolved(need: Need, found: Found) -> Sequence[str]:
    return found.get(need.name, ()) if isinstance(need.name, Names) else [need.name]


def _topics(flow: FlowConfig, client: ClusterClient) -> list[str]:
    wanted = flow.topic_filter()
    seen = client.refresh().partitions
    named = [each for each in flow.topics if _LITERAL.fullmatch(each)]
    return sorted({t for t in (*seen, *named) if flow.should_replicate(t, wanted)})


def _groups(flow: FlowConfig, client: ClusterClient) -> list[str]:
    if flow.checkpoints is None:
        return []
    wanted = flow.group_filter()
    listed = list_groups(client)
    seen = [group for group, its in listed.items() if why_not_followed(its, wanted) is None]
    named = [each for each in flow.checkpoints.groups if _LITERAL.fullmatch(each)]
    return sorted({*seen, *(group for group in named if wanted.accepts(group))})


def _fetched(client: ClusterClient, partition: TopicPartition) -> Step:
    try:
        start = list_offsets(client, [partition], EARLIEST, patience=STEP_SECONDS)
        reader = LogReader(client, lambda key, at, answer: None, is_end=lambda key, end: True)
        late = reader.run(start, patience=STEP_SECONDS)
    except ClientError as e:
        return Step(name="read", outcome=Outcome.FAILED, detail=str(e), remedy=_READ_REMEDY)
    why = reader.unreadable.get(partition) or (late and f"{partition}: no answer") or ""
    if why:
        return Step(name="read", outcome=Outcome.FAILED, detail=why, remedy=_READ_REMEDY)
    return Step(name="read", outcome=Outcome.OK, detail=f"{partition} from its start")


_READ_REMEDY = "check that the partition has a leader, and the broker's log"
