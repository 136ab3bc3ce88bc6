"""The state of a connector in the engine, from which its status is derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heliograph.model import PartitionState
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, Part
from heliograph.runtime.progress import Progress
from heliograph.runtime.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorHealth:
    """`runs`: its current configuration runs; `busy`: it still has work, perhaps of an earlier configuration.
    `failed`: an error message for each FAILED source partition (`topic-0`)."""

    runs: bool
    busy: bool
    failure: str | None = None
    failed: Mapping[str, str] | None = None


def health_of(worker: Worker, progress: Progress, job: ConnectorSpec) -> ConnectorHealth:
    busy, connector = worker.busy(job.name), worker.connector_of(job)
    if connector is None:
        return ConnectorHealth(runs=False, busy=busy)
    failed: dict[str, str] = {}
    if job.part is Part.COPY and connector.flow is not None:
        failed = {
            f"{r.topic}-{r.partition}": f"{r.topic}-{r.partition}: {r.error}"
            for r in progress.receipts()
            if r.flow == job.flow().name and r.state is PartitionState.FAILED
        }
        stopped = connector.flow.gaps.failed()
        failed |= {str(p): f"{p}: {receipt.error}" for p, receipt in stopped.items()}
    return ConnectorHealth(runs=True, busy=busy, failure=connector.fatal_error, failed=failed)
