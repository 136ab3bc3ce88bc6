"""What a chain is to the copy: columns of one partition in, columns of each remote partition out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from heliograph.errors import HeliographError
from heliograph.model import TopicPartition
from heliograph.records.columns import Columns
from heliograph.transforms.chain import Stage, transform


class ChainBroken(HeliographError):
    """The chain itself is wrong, whatever the records are: its partitions stop under any policy."""


class FailedRecord(NamedTuple):
    """`offset` on the source; `reason` names what failed and why, never contents of the record."""

    offset: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Records by where they go, ascending, with their offsets on the source. Those that are neither here nor
    in `failures` were dropped."""

    columns: Mapping[TopicPartition, Columns]
    failures: tuple[FailedRecord, ...] = ()


class Chain(Protocol):
    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        """`remote`: where the records go if the chain says nothing else. Raises ChainBroken."""


@dataclass(frozen=True, slots=True)
class TransformChain:
    """Connect's transformations, in their order. Records keep their partition, as under MM2."""

    stages: tuple[Stage, ...]

    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        if not self.stages:
            return Applied(columns={remote: columns})
        found = transform(self.stages, columns, topic=remote.topic, partition=remote.partition)
        failures = tuple(
            FailedRecord(
                int(columns.offset[each.row]), f"transforms.{each.transform}: {each.reason}"
            )
            for each in found.failures
        )
        by_target = {
            TopicPartition(topic, remote.partition): its for topic, its in found.topics.items()
        }
        return Applied(columns=by_target, failures=failures)
