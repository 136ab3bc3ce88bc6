"""The chain of a flow's lane, as its settings say: Connect's transformations, then the user's function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heliograph.config.lane import read_chain
from heliograph.config.mirror_config import LaneConfig
from heliograph.copy.lane.chain import Applied, Chain, ChainBroken, FailedRecord, TransformChain
from heliograph.model import TopicPartition
from heliograph.records.columns import Columns
from heliograph.spark.lane_function import FunctionFailed, FunctionRaised, LaneFunction
from heliograph.spark.record_columns import from_arrow, to_arrow


def load_chain(lane: LaneConfig) -> Chain:
    """Raises ConfigError."""
    transforms = TransformChain(read_chain(lane).stages)
    if lane.function is None:
        return transforms
    return FunctionChain(transforms, LaneFunction.load(lane.function, lane.modules))


@dataclass(frozen=True, slots=True)
class FunctionChain:
    transforms: TransformChain
    function: LaneFunction

    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        first = self.transforms.apply(columns, remote)
        failures = list(first.failures)
        found: dict[TopicPartition, list[pa.RecordBatch]] = {}
        for target, its in first.columns.items():
            given = to_arrow(its, target.topic, target.partition)
            for answer in self._answers(given, failures):
                for routed, part in _by_target(answer):
                    found.setdefault(routed, []).append(part)
        columns_of = {target: _columns(parts) for target, parts in found.items()}
        return Applied(columns=columns_of, failures=tuple(failures))

    def _answers(
        self, given: pa.RecordBatch, failures: list[FailedRecord]
    ) -> Iterator[pa.RecordBatch]:
        """If the function raises, each half alone: so the records are found that it cannot take. An answer
        of a wrong form is no record's fault."""
        if not given.num_rows:
            return
        try:
            yield self.function.apply(given)
        except FunctionRaised as e:
            if given.num_rows == 1:
                failures.append(FailedRecord(given.column("offset")[0].as_py(), str(e)))
                return
            half = given.num_rows // 2
            yield from self._answers(given.slice(0, half), failures)
            yield from self._answers(given.slice(half), failures)
        except FunctionFailed as e:
            raise ChainBroken(str(e)) from e


def _by_target(answer: pa.RecordBatch) -> Iterator[tuple[TopicPartition, pa.RecordBatch]]:
    """The rows for each remote partition, in order."""
    topics, partitions = answer.column("topic"), answer.column("partition")
    if topics.null_count or partitions.null_count:
        raise ChainBroken("function: returned a row without a topic or partition")
    pairs = pa.table([topics, partitions], names=["topic", "partition"])
    for each in pairs.group_by(["topic", "partition"]).aggregate([]).to_pylist():
        target = TopicPartition(each["topic"], each["partition"])
        if target.partition < 0 or not target.topic:
            raise ChainBroken(f"function: returned a row for {target}, which no topic can have")
        same = pc.and_(pc.equal(topics, target.topic), pc.equal(partitions, target.partition))
        yield target, answer.filter(same)


def _columns(parts: list[pa.RecordBatch]) -> Columns:
    """Ascending by offset: what came from several topics may go to one."""
    table = pa.Table.from_batches([part.select(parts[0].schema.names) for part in parts])
    (batch,) = table.combine_chunks().to_batches() or [parts[0]]
    offsets = batch.column("offset").to_numpy()
    if (np.diff(offsets) < 0).any():
        batch = batch.take(pa.array(np.argsort(offsets, kind="stable")))
    return from_arrow(batch)
