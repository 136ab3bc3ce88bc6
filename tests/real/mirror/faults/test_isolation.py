"""A partition in trouble, whatever the trouble: the others arrive, and it says why and where it stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from heliograph.embedded import Cluster
from heliograph.model import PartitionState, Receipt, TopicPartition
from support.clusters.reading import assert_mirrored, offsets, read_all
from support.clusters.writing import (
    New,
    Writer,
    admin,
    create_topics,
    delete_topic,
    numbered,
    set_topic_config,
    write,
)
from support.flows.linking import linked
from support.flows.mirroring import Flow, new_alias
from support.waiting import PATIENCE_SECONDS, eventually


def is_troubled(receipt: Receipt, position: int, *words: str) -> bool:
    return (
        receipt.state in (PartitionState.FAILED, PartitionState.RETRYING)
        and receipt.position == position
        and all(word in (receipt.error or "") for word in words)
    )


def test_a_timestamp_that_the_target_does_not_take_stops_its_partition_alone(flow: Flow) -> None:
    topic = flow.create(partitions=2)
    remote = flow.remote(topic)
    hour = {"message.timestamp.before.max.ms": "3600000"}
    create_topics(flow.target, {remote: 2}, configs=hour)
    now = int(time.time() * 1000)
    fresh = [New(b"fresh %d" % n, timestamp=now) for n in range(3)]
    write(flow.source, topic, fresh, [New(b"old", timestamp=1_700_000_000_000)], fresh)
    write(flow.source, topic, [record._replace(partition=1) for record in fresh])

    with linked(flow, {topic: 2}) as link:
        eventually(
            lambda: link.receipts()[TopicPartition(topic, 0)],
            lambda receipt: is_troubled(receipt, 3, "INVALID_TIMESTAMP", "offset 3"),
        )
        eventually(lambda: offsets(flow.target, remote, 1), lambda found: found == (0, 3))
        set_topic_config(flow.target, remote, "message.timestamp.before.max.ms", str(2**62))
        eventually(lambda: offsets(flow.target, remote, 0), lambda found: found == (0, 7))

    assert flow.assert_mirrored(topic) == 10


def log_file(cluster: Cluster, topic: str, partition: int) -> Path:
    (path,) = cluster.folder.glob(f"**/{topic}-{partition}/00000000000000000000.log")
    return path


def flip_a_bit(path: Path, at: int) -> None:
    """In the source's log, behind the broker's back; done twice, it is as it was."""
    with path.open("r+b") as log:
        log.seek(at)
        (byte,) = log.read(1)
        log.seek(at)
        log.write(bytes([byte ^ 1]))


def test_a_damaged_batch_is_never_passed_on_and_what_stands_before_it_is(flow: Flow) -> None:
    topic = flow.create(partitions=2)
    write(flow.source, topic, *(numbered(range(n, n + 10)) for n in range(0, 50, 10)))
    write(flow.source, topic, numbered(range(5), partition=1))
    path = log_file(flow.source, topic, 0)
    at = path.read_bytes().index(b"value 33")
    flip_a_bit(path, at)

    with linked(flow, {topic: 2}) as link:
        eventually(
            lambda: link.receipts()[TopicPartition(topic, 0)],
            lambda receipt: is_troubled(receipt, 30, f"{topic}-0", "source offset 30", "CRC-32C"),
        )
        eventually(lambda: offsets(flow.target, flow.remote(topic), 1), lambda o: o == (0, 5))
        assert offsets(flow.target, flow.remote(topic), 0) == (0, 30)
        flip_a_bit(path, at)
        eventually(lambda: offsets(flow.target, flow.remote(topic), 0), lambda o: o == (0, 50))

    assert flow.assert_mirrored(topic) == 55


def write_lag(flow: Flow, topic: str, partitions: int) -> None:
    """2 MB into each partition."""
    writer = Writer(flow.source, topic)
    for start in range(0, 1000, 100):
        for p in range(partitions):
            writer.queue(topic, numbered(range(start, start + 100), partition=p, padding=2000))
        writer.flush()


def lengths(flow: Flow, topic: str, partitions: int) -> list[int]:
    return [offsets(flow.target, flow.remote(topic), p)[1] for p in range(partitions)]


def test_partitions_that_cannot_be_written_to_leave_the_memory_to_others(flow: Flow) -> None:
    """Their remote topic is gone, and they have more than the buffer holds."""
    stuck, free, never = flow.create("stuck", 4), flow.create("free", 2), flow.create("never")
    write(flow.source, never, numbered(range(5)))
    small = {"b.producer.buffer.memory": "2000000"}
    copied = {stuck: 4, free: 2, never: 1}

    with linked(flow, copied, small, missing={never}) as link:
        write(flow.source, stuck, *(numbered([0], partition=p) for p in range(4)))
        eventually(lambda: lengths(flow, stuck, 4), lambda found: found == [1] * 4)
        delete_topic(flow.target, flow.remote(stuck))
        write_lag(flow, stuck, 4)
        write_lag(flow, free, 2)
        eventually(lambda: lengths(flow, free, 2), lambda found: found == [1000] * 2)
        for partition in (*(TopicPartition(stuck, p) for p in range(4)), TopicPartition(never, 0)):
            eventually(
                lambda partition=partition: link.receipts()[partition],  # type: ignore[misc]
                lambda r: is_troubled(r, int(r.topic == stuck), "UNKNOWN_TOPIC_OR_PARTITION"),
            )
        create_topics(flow.target, {flow.remote(stuck): 4, flow.remote(never): 1})
        # Without a driver, which knows topics by their ids, the link may take the first record for lost.
        eventually(lambda: lengths(flow, stuck, 4), lambda found: min(found) >= 1000)
        eventually(lambda: lengths(flow, never, 1), lambda found: found == [5])

    assert flow.assert_mirrored(free, never) == 2005
    expected = [record.value for record in numbered(range(1000), padding=2000)]
    for records in read_all(flow.target, flow.remote(stuck)).values():
        assert [record.value for record in records][-1000:] == expected


AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "",  # or we would be one
}


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Flow]:
    """A cluster with an authorizer, which is source and target at once: names keep them apart."""
    with Cluster("guarded", settings=AUTHORIZER) as cluster:
        yield Flow(new_alias("guarded"), cluster, cluster, None, tmp_path)  # type: ignore[arg-type]


def deny(cluster: Cluster, topic: str, operation: AclOperation) -> None:
    """Everything but this stays allowed, though there is an ACL now."""
    bindings = [
        AclBinding(
            *(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*"),
            *(each, permission),
        )
        for each, permission in (
            (AclOperation.ALL, AclPermissionType.ALLOW),
            (operation, AclPermissionType.DENY),
        )
    ]
    client = admin(cluster)
    for done in client.create_acls(bindings).values():
        done.result(PATIENCE_SECONDS)


def allow_everything(cluster: Cluster) -> None:
    everything = AclBindingFilter(
        *(ResourceType.TOPIC, None, ResourcePatternType.ANY, None, None),
        *(AclOperation.ANY, AclPermissionType.ANY),
    )
    client = admin(cluster)
    for done in client.delete_acls([everything]).values():
        done.result(PATIENCE_SECONDS)


def test_what_is_not_allowed_stops_its_topic_alone_until_it_is(guarded: Flow) -> None:
    topics = {name: guarded.create(name) for name in ("free", "read", "hidden", "write", "unseen")}
    remotes = {topic: guarded.remote(topic) for topic in topics.values()}
    create_topics(guarded.target, dict.fromkeys(remotes.values(), 1))
    for topic in topics.values():
        write(guarded.source, topic, numbered(range(5)))
    deny(guarded.source, topics["read"], AclOperation.READ)
    deny(guarded.source, topics["hidden"], AclOperation.ALL)
    deny(guarded.target, remotes[topics["write"]], AclOperation.WRITE)
    deny(guarded.target, remotes[topics["unseen"]], AclOperation.ALL)

    copied = dict.fromkeys(topics.values(), 1)
    with linked(guarded, copied, missing=copied) as link:
        for name in ("read", "hidden", "write", "unseen"):
            eventually(
                lambda name=name: link.receipts()[TopicPartition(topics[name], 0)],  # type: ignore[misc]
                lambda receipt: is_troubled(receipt, 0, "TOPIC_AUTHORIZATION_FAILED"),
            )
        assert len(read_all(guarded.target, remotes[topics["free"]])[0]) == 5
        allow_everything(guarded.target)
        eventually(
            lambda: [receipt.position for receipt in link.receipts().values()],
            lambda positions: positions == [5] * 5,
        )

    assert assert_mirrored(guarded.source, guarded.target, remotes) == 25
