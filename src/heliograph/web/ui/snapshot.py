"""The values that the page shows: immutable, made about once a second, with the last five minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.model import Receipt, TopicPartition
from heliograph.runtime.progress import PartitionProgress


class PartitionSample(NamedTuple):
    """One source partition. `lags` are those of the last five minutes, oldest first, None where it was not
    known; `rate` and `byte_rate` are per second."""

    key: tuple[str, TopicPartition]
    receipt: Receipt
    records: int
    bytes: int
    lag: int | None
    quarantined: int
    rate: float
    byte_rate: float
    lags: tuple[int | None, ...]

    def rests(self, now: PartitionProgress, lags: tuple[int | None, ...]) -> bool:
        """Whether it needs no new value: nothing was reported or copied lately."""
        return (
            now.receipt is self.receipt and lags is self.lags and not (self.rate or self.byte_rate)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSample:
    """A flow with its partitions in no order; `rates` and `lags` are those of the last five minutes."""

    name: str
    partitions: tuple[PartitionSample, ...]
    lag: int | None
    rate: float
    byte_rate: float
    rates: tuple[float, ...]
    lags: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`problems`: sentences by subject, by area (`Problems.areas`). `unreachable`: by flow, its clusters of
    which no broker answers. `epoch` 0 or less: nothing is copied."""

    version: int = 0
    at_ms: int = 0
    epoch: int = 0
    restarts: int = 0
    flows: Mapping[str, FlowSample] = field(default_factory=dict)
    problems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unreachable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def problems_of(self, flow: str) -> list[str]:
        """The sentences of the areas of a flow, each once."""
        area = f"flow {flow}"
        return list(
            dict.fromkeys(
                sentence
                for name, found in self.problems.items()
                if name == area or name.startswith(f"{area}:")
                for sentence in found.values()
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    number: int
    state: str
    worker: str
    trace: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorView:
    """A connector as REST shows it, its secrets hidden. `kind` is the short name of its class; `flow` names
    what a source connector copies."""

    name: str
    kind: str
    source: str
    target: str
    state: str
    worker: str
    trace: str | None
    tasks: tuple[TaskView, ...]
    config: tuple[tuple[str, str], ...]

    @property
    def copies(self) -> bool:
        return self.kind == "MirrorSourceConnector"

    @property
    def flow(self) -> str:
        pair = f"{self.source}->{self.target}"
        return pair if self.name == f"{pair}.{self.kind}" else self.name
