"""Generates docs/metrics.md from the table of metrics:

python -m heliograph.metrics.page > docs/metrics.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from heliograph.metrics import page_prose
from heliograph.metrics.snapshot import FlowHealth, PartitionHealth
from heliograph.metrics.table import SECTIONS, Kind, Metric

_FLOW_WORDS = {
    FlowHealth.PAUSED: "paused through REST",
    FlowHealth.STOPPED: "stopped through REST",
    FlowHealth.UNREACHABLE: "no broker of the source or of the target answers; "
    "`heliograph_cluster_reachable` says which",
    FlowHealth.STANDBY: "another service runs it, or it is not assigned yet",
    FlowHealth.FAILED: "the connector or at least one partition has failed",
    FlowHealth.NO_DATA: "no task has reported for 10 s: starting, or Spark does not run its tasks",
    FlowHealth.COPYING: "records are copied, or wait to be copied",
    FlowHealth.QUIET: "everything is copied, and nothing new has come for 10 s",
}
_PARTITION_WORDS = {
    PartitionHealth.COPYING: "records are copied, or wait to be copied",
    PartitionHealth.QUIET: "everything is copied, and nothing new has come for 10 s",
    PartitionHealth.RETRYING: "a request fails and is repeated; `status` has the cause",
    PartitionHealth.FAILED: "stopped by an error; `status` has the cause and the remedy",
    PartitionHealth.NO_DATA: "its task has not reported for 10 s, or has not fetched it yet",
}


def metrics_page() -> str:
    parts = [
        page_prose.INTRODUCTION,
        page_prose.SILENCE.format(flows=_rows(_FLOW_WORDS), partitions=_rows(_PARTITION_WORDS)),
    ]
    parts.append("## Heliograph's own names\n")
    for title, metrics in SECTIONS.items():
        parts.append("\n".join(_section(title, metrics)))
    parts += [
        page_prose.VOCABULARIES,
        "\n",
        page_prose.COST.format(measured="\n".join(page_prose.MEASURED)),
    ]
    return "".join(parts)


def _rows(words: dict[FlowHealth, str] | dict[PartitionHealth, str]) -> str:
    return "\n".join(f"| `{state}` | {sentence} |" for state, sentence in words.items())


def _section(title: str, metrics: tuple[Metric, ...]) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield "| name | type | unit | labels | |"
    yield "|---|---|---|---|---|"
    for metric in metrics:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        yield f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.help}. |"
    yield ""
    if any(metric.kind is Kind.HISTOGRAM for metric in metrics):
        yield "A histogram has `_bucket` with the label `le`, `_count` and `_sum`."
        yield ""
    yield ""


if __name__ == "__main__":
    sys.stdout.write(metrics_page())
