"""`heliograph check --write`: creates a topic on each cluster that is written to, writes a record, reads it
again, and removes the topic."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence

from heliograph.client.admin.topics import NewTopic, create_topics, delete_topic
from heliograph.client.fetch.log_reader import read_between
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.errors import ClientError, CorruptRecords
from heliograph.inspection.check.login_check import STEP_SECONDS, OpenLogin
from heliograph.inspection.check.parties import Key, Party, key_of
from heliograph.inspection.check.report import Outcome, Step
from heliograph.model import ClientKind, TopicPartition
from heliograph.records.decode import Record
from heliograph.wire.acls import AclOperation

#: MM2's own filters exclude such names, so that no mirror copies it.
_NAME = "mm2-heliograph-check-{}.internal"


def probe_by_writing(
    parties: Sequence[Party],
    opened: Mapping[Key, OpenLogin],
    on_step: Callable[[str, str], None],
) -> tuple[str, ...]:
    """What was changed. The steps are added to the logins."""
    changed: list[str] = []
    for admin, writer in _writers(parties, opened):
        on_step(writer.login.config.alias, "write")
        assert admin.client is not None
        assert writer.client is not None
        name = _NAME.format(secrets.token_hex(4))
        changed += _probe(name, admin, writer, admin.client, writer.client)
    return tuple(changed)


def _writers(
    parties: Sequence[Party], opened: Mapping[Key, OpenLogin]
) -> list[tuple[OpenLogin, OpenLogin]]:
    """Each login that writes, once, with the one that creates topics there; both connected."""
    found: dict[Key, tuple[OpenLogin, OpenLogin]] = {}
    for party in parties:
        for need in party.needs:
            if AclOperation.WRITE not in need.operations:
                continue
            key = key_of(party.cluster(need.alias, need.client))
            writer = opened[key]
            admin = opened.get(key_of(party.cluster(need.alias, ClientKind.ADMIN)), writer)
            if admin.client is not None and writer.client is not None:
                found.setdefault(key, (admin, writer))
    return list(found.values())


def _probe(
    name: str, admin: OpenLogin, writer: OpenLogin, creating: ClusterClient, writing: ClusterClient
) -> list[str]:
    alias = creating.config.alias
    topic = NewTopic(name=name, partitions=1, replication_factor=-1, configs={})
    try:
        creating.refresh([])
        refused = create_topics(creating, [topic]).get(name)
    except ClientError as e:
        admin.steps.append(_failed("create", str(e), "check the broker's log, and try again"))
        return [f"{alias}: topic {name} may have been created: remove it"]
    if refused is not None:
        prefix = _NAME.partition("{")[0]
        remedy = f"grant CREATE, WRITE, READ and DELETE on topics with the prefix {prefix} for this check"
        admin.steps.append(_failed("create", str(refused), remedy))
        return []
    admin.steps.append(Step(name="create", outcome=Outcome.OK, detail=f"topic {name}"))
    writer.steps.append(_written(name, writing))
    try:
        delete_topic(creating, name)
    except ClientError as e:
        remedy = (
            f"remove it: kafka-topics.sh --bootstrap-server {creating.config.bootstrap_servers[0]} "
            f"--delete --topic {name}"
        )
        admin.steps.append(_failed("remove", f"topic {name} is left: {e}", remedy))
        return [f"{alias}: created topic {name}, wrote a record to it; it is NOT removed"]
    return [f"{alias}: created topic {name}, wrote a record to it, removed it"]


def _written(name: str, client: ClusterClient) -> Step:
    """Writes a record, with acknowledgement by all in-sync replicas, and reads it again."""
    record = Record(timestamp=int(time.time() * 1000), key=b"heliograph", value=b"check")
    read: list[Record] = []
    partition = TopicPartition(name, 0)
    try:
        RecordWriter(client, name).write({0: [record]}, patience=STEP_SECONDS)
        read_between(
            client,
            {partition: 0},
            {partition: 1},
            lambda _, records: read.extend(records),
            patience=STEP_SECONDS,
        )
    except (ClientError, CorruptRecords) as e:
        return _failed("write", str(e), "grant WRITE and READ; check min.insync.replicas")
    if [each.value for each in read] != [record.value]:
        return _failed("write", "the record that was read is another one", "check the broker's log")
    return Step(name="write", outcome=Outcome.OK, detail="a record was written and read again")


def _failed(name: str, detail: str, remedy: str) -> Step:
    return Step(name=name, outcome=Outcome.FAILED, detail=detail, remedy=remedy)
