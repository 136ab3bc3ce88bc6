"""Gives leases to Spark as rows of a stream: one row per task slot and epoch.

A row holds the leases of one task as JSON; a row of the result says that the task has ended. The stream is
Spark's memory stream, which is in the driver's JVM: with a Python data source, planning an epoch would need
up to five more Python processes and some seconds to start them (docs/decisions/0002-lease-source.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from heliograph.config.mirror_config import FlowSetup
from heliograph.model import (
    AckedOffsets,
    LeaderEpochMark,
    Lease,
    Lineage,
    ProducerIdentity,
    TopicIdPair,
)
from heliograph.security import Secret
from heliograph.spark.receipt_codec import snapshot_from_json
from heliograph.spark.sealing import seal, unseal

#: A row of the result: this task has ended.
ENDED = pa.schema([("epoch", pa.int64()), ("task", pa.int32())])
ENDED_DDL = "epoch long, task int"

#: The producer identities of one task, by flow.
Producers = Mapping[str, ProducerIdentity]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAssignment:
    """The leases of one task in one epoch, with the configuration of their flows and, for exactly-once flows,
    the producer identity. `running` are the flows of all tasks."""

    epoch: int
    task: int
    leases: tuple[Lease, ...]
    setups: tuple[FlowSetup, ...] = ()
    running: tuple[str, ...] = ()
    producers: Producers = field(default_factory=dict)


def write_assignment(assignment: TaskAssignment, key: Secret) -> str:
    return json.dumps(
        {
            "epoch": assignment.epoch,
            "task": assignment.task,
            "leases": [asdict(lease) for lease in assignment.leases],
            "setups": seal(key, assignment.setups),
            "running": assignment.running,
            "producers": assignment.producers,
        },
        separators=(",", ":"),
    )


def read_assignment(text: str, key: Secret) -> TaskAssignment:
    document = json.loads(text)
    leases = tuple(
        Lease(
            **{
                **fields,
                "snapshot": snapshot_from_json(fields["snapshot"]),
                "lineage": _lineage(*fields["lineage"]),
            }
        )
        for fields in document["leases"]
    )
    producers = {flow: ProducerIdentity(*each) for flow, each in document["producers"].items()}
    return TaskAssignment(
        epoch=document["epoch"],
        task=document["task"],
        leases=leases,
        setups=unseal(key, document["setups"]),
        running=tuple(document["running"]),
        producers=producers,
    )


def write_ended(assignment: TaskAssignment) -> Any:
    row = {"epoch": [assignment.epoch], "task": [assignment.task]}
    return pa.RecordBatch.from_pydict(row, schema=ENDED)


def _lineage(
    origin: Sequence[Any],
    mark: Sequence[Any] | None,
    generation: int,
    acked_offsets: Sequence[int] | None,
) -> Lineage:
    known = AckedOffsets(*acked_offsets) if acked_offsets is not None else None
    return Lineage(TopicIdPair(*origin), LeaderEpochMark.of(mark), generation, known)


class LeaseStream:
    """A stream to which the driver adds an epoch's leases; each becomes one micro-batch."""

    def __init__(self, spark: Any, slots: int, seal_key: Secret) -> None:
        self.slots = slots
        self._seal_key = seal_key
        self._jvm = spark._jvm
        memory_stream = self._jvm.org.apache.spark.sql.execution.streaming.runtime.MemoryStream
        # With a number of partitions given, the rows of a micro-batch are dealt out in turn: as many
        # rows as slots means one row, one task.
        self._stream = memory_stream.apply(
            spark._jsparkSession, slots, self._jvm.org.apache.spark.sql.Encoders.STRING()
        )

    def to_df(self, spark: Any) -> Any:
        from pyspark.sql import DataFrame

        return DataFrame(self._stream.toDF(), spark)

    def add(
        self,
        epoch: int,
        tasks: Sequence[Sequence[Lease]],
        setups: Sequence[FlowSetup] = (),
        producers: Sequence[Producers] = (),
    ) -> None:
        """Each task gets the setups of its own flows only."""
        rows = self._jvm.java.util.ArrayList()
        for slot in range(self.slots):
            leases = tuple(tasks[slot]) if slot < len(tasks) else ()
            its = producers[slot] if slot < len(producers) else {}
            flows = {lease.flow for lease in leases}
            assignment = TaskAssignment(
                epoch=epoch,
                task=slot,
                leases=leases,
                setups=tuple(each for each in setups if each.flow.name in flows),
                running=tuple(each.flow.name for each in setups),
                producers=its,
            )
            rows.add(write_assignment(assignment, self._seal_key))
        converters = self._jvm.scala.jdk.javaapi.CollectionConverters
        self._stream.addData(converters.asScala(rows).toSeq())
