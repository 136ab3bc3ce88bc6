"""The real Java MirrorMaker 2 and Heliograph go on where the other stopped, while producers keep writing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from support.clusters.reading import offsets, read_all
from support.clusters.writing import Writer, admin, numbered
from support.flows.mirroring import TARGET, Flow, Running
from support.java.mirror_maker import java_mirror_maker, tail
from support.waiting import PATIENCE_SECONDS, eventually

_PARTITIONS = 3
_AT_ONCE = 10
_PAUSE_SECONDS = 0.05
#: Records of each partition that a mirror must copy while they are being written, before it is stopped.
_LIVE = 100
_EVERY_SECOND = {
    "emit.checkpoints.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
    f"{TARGET}.offset.flush.interval.ms": "1000",
}
#: An orderly stop of a Connect task waits for the producer's acknowledgements and stores the offsets of
#: what was acknowledged (WorkerSourceTask.finalOffsetCommit). Both waits end after 5 s by default, and
#: then records are on the target of which no offset says so: the doubles that MM2 is known for. A stop
#: that is given time must not leave any, on whatever machine.
_TIME_TO_STOP = {
    f"{TARGET}.task.shutdown.graceful.timeout.ms": "60000",
    f"{TARGET}.offset.flush.timeout.ms": "60000",
}


class Load:
    """A producer that never stops, and a group that reads right behind it."""

    def __init__(self, flow: Flow, topic: str) -> None:
        self.group = f"{flow.alias}-readers"
        self.topic = topic
        self.written = 0  # of each partition
        self._flow = flow
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="load")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._write()
        except BaseException as e:  # noqa: BLE001 - raised again by `stop`
            self._failure = e

    def _write(self) -> None:
        writer = Writer(self._flow.source, self.topic)
        settings = {"bootstrap.servers": self._flow.source.bootstrap_servers}
        reader = Consumer({**settings, "group.id": self.group})
        while not self._stop.wait(_PAUSE_SECONDS):
            numbers = range(self.written, self.written + _AT_ONCE)
            writer.batch(r for p in range(_PARTITIONS) for r in numbered(numbers, partition=p))
            self.written += _AT_ONCE
            read = [TopicPartition(self.topic, p, self.written) for p in range(_PARTITIONS)]
            reader.commit(offsets=read, asynchronous=False)
        reader.close()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)
        if self._failure is not None:
            raise self._failure


@contextmanager
def load(flow: Flow, topic: str) -> Iterator[Load]:
    running = Load(flow, topic)
    try:
        yield running
    finally:
        running.stop()


def lengths(flow: Flow, topic: str) -> list[int]:
    """Of the mirror's partitions; empty while there is none."""
    remote = flow.remote(topic)
    if remote not in admin(flow.target).list_topics(timeout=PATIENCE_SECONDS).topics:
        return []
    return [offsets(flow.target, remote, number)[1] for number in range(_PARTITIONS)]


def wait_until_mirrored(flow: Flow, topic: str, length: int, log: Path | None = None) -> None:
    eventually(
        lambda: (lengths(flow, topic), tail(log) if log else ""),
        lambda state: len(state[0]) == _PARTITIONS and min(state[0]) >= length,
    )


def stored(flow: Flow, topic: str) -> list[int]:
    """The next upstream offset of each partition, as Connect's offsets topic has it."""
    found = read_all(flow.target, flow.offsets_topic)
    newest = {record.key: record.value for records in found.values() for record in records}
    positions = []
    for number in range(_PARTITIONS):
        key = f'["MirrorSourceConnector",{{"cluster":"{flow.alias}","partition":{number},"topic":"{topic}"}}]'
        value = newest[key.encode()]
        assert value is not None
        positions.append(int(value.removeprefix(b'{"offset":').removesuffix(b"}")) + 1)
    return positions


def checkpoints(flow: Flow) -> list[Checkpoint]:
    """All that were ever written, in their order; the active segment is not compacted."""
    found = [
        read_checkpoint(record.key, record.value)
        for record in read_all(flow.target, f"{flow.alias}.checkpoints.internal")[0]
    ]
    assert all(isinstance(each, Checkpoint) for each in found)
    return [each for each in found if isinstance(each, Checkpoint)]


def assert_monotonic(found: list[Checkpoint]) -> None:
    newest: dict[tuple[str, int], Checkpoint] = {}
    for each in found:
        before = newest.get(key := (each.group, each.partition))
        if before is not None:
            assert each.upstream >= before.upstream, f"{before} and then {each}"
            assert each.downstream >= before.downstream, f"{before} and then {each}"
        newest[key] = each


def test_java_and_heliograph_take_over_from_each_other_under_load(
    flow: Flow, tmp_path: Path
) -> None:
    """Java, Heliograph, Java: one mirror in the end, none lost, none doubled, checkpoints never go back."""
    topic = flow.create(partitions=_PARTITIONS)
    settings = flow.properties(groups=f"{flow.alias}-readers") | _EVERY_SECOND
    told: list[int] = []  # checkpoints after each turn
    with load(flow, topic) as running:
        with java_mirror_maker(settings | _TIME_TO_STOP, tmp_path) as log:
            wait_until_mirrored(flow, topic, 1, log)
            wait_until_mirrored(flow, topic, running.written + _LIVE, log)
            eventually(lambda: has_checkpoints(flow), bool)
        assert stored(flow, topic) == lengths(flow, topic)  # Java's stop was an orderly one
        told.append(len(checkpoints(flow)))

        with flow.running(_EVERY_SECOND, groups=f"{flow.alias}-readers"):
            wait_until_mirrored(flow, topic, running.written + _LIVE)
            eventually(lambda: len(checkpoints(flow)), lambda count: count > told[-1] + _PARTITIONS)
        assert stored(flow, topic) == lengths(flow, topic)
        told.append(len(checkpoints(flow)))

        with java_mirror_maker(settings | _TIME_TO_STOP, tmp_path) as log:
            wait_until_mirrored(flow, topic, running.written + _LIVE, log)
            running.stop()
            wait_until_mirrored(flow, topic, running.written, log)
            eventually(lambda: len(checkpoints(flow)), lambda count: count > told[-1])
            successor = Running(flow.spark, flow.config(groups=f"{flow.alias}-readers"))
            eventually(
                successor.problems,
                lambda found: any("a Java MirrorMaker 2 or Connect worker" in p for p in found),
            )
        # Java has left its group: who waited goes on.
        eventually(lambda: successor.progress.epoch, lambda epoch: epoch > 0)
        successor.stop()

    assert flow.assert_mirrored(topic) == _PARTITIONS * running.written
    found = checkpoints(flow)
    assert_monotonic(found)
    # No record is lost or doubled, so offsets are the same on both sides: a translation is never ahead.
    assert all(each.downstream <= each.upstream for each in found)


def has_checkpoints(flow: Flow) -> bool:
    topic = f"{flow.alias}.checkpoints.internal"
    there = topic in admin(flow.target).list_topics(timeout=PATIENCE_SECONDS).topics
    return there and len({each.partition for each in checkpoints(flow)}) == _PARTITIONS
