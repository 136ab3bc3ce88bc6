"""Leases as rows of a stream; a row of its result says that a task has ended.

A row holds the leases of one task, in JSON; an epoch adds one row per task slot. The stream is Spark's
memory stream, which lives in the driver's JVM: with a Python data source, planning an epoch takes up to
five more Python processes and a start-up of seconds (docs/decisions/0002-lease-source.md).
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

#: What Spark returns of a task: that it has ended.
ENDED = pa.schema([("epoch", pa.int64()), ("task", pa.int32())])
ENDED_DDL = "epoch long, task int"

#: Of one task, by flow.
Producers = Mapping[str, ProducerIdentity]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAssignment:
    """The leases of one task in one epoch, and the flows that they are of as they are configured then; of
    flows that mirror exactly once, the identity to write under. `running` are the flows of all tasks."""

    epoch: int
    task: int
    leases: tuple[Lease, ...]
    setups: tuple[FlowSetup, ...] = ()
    running: tuple[str, ...] = ()
    producers: Producers = field(default_factory=dict)


def write_bundle(bundle: TaskAssignment, key: Secret) -> str:
    return json.dumps(
        {
            "epoch": bundle.epoch,
            "task": bundle.task,
            "leases": [asdict(lease) for lease in bundle.leases],
            "setups": seal(key, bundle.setups),
            "running": bundle.running,
            "producers": bundle.producers,
        },
        separators=(",", ":"),
    )


def read_bundle(text: str, key: Secret) -> TaskAssignment:
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


def write_ended(bundle: TaskAssignment) -> Any:
    row = {"epoch": [bundle.epoch], "task": [bundle.task]}
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
        """Each task is told of the flows that its leases are of."""
        rows = self._jvm.java.util.ArrayList()
        for slot in range(self.slots):
            leases = tuple(tasks[slot]) if slot < len(tasks) else ()
            its = producers[slot] if slot < len(producers) else {}
            flows = {lease.flow for lease in leases}
            bundle = TaskAssignment(
                epoch=epoch,
                task=slot,
                leases=leases,
                setups=tuple(each for each in setups if each.flow.name in flows),
                running=tuple(each.flow.name for each in setups),
                producers=its,
            )
            rows.add(write_bundle(bundle, self._seal_key))
        converters = self._jvm.scala.jdk.javaapi.CollectionConverters
        self._stream.addData(converters.asScala(rows).toSeq())
