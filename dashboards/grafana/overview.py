"""All flows at a glance: their states, how far behind they are, what is wrong."""

from __future__ import annotations

from typing import Any

from dashboards.grafana.kit import Board

_F = 'flow=~"$flow"'


def overview() -> Any:
    board = Board(
        "heliograph-overview",
        "Heliograph: flows",
        "Every flow: its state, its lag in records and seconds, its rate, and what is wrong.",
        runbook="README.md",
    )
    _glance(board)
    _traffic(board)
    _trouble(board)
    return board.build()


def _glance(board: Board) -> None:
    board.stat(
        "Services", "Services that Prometheus scrapes.",
        ("count(heliograph_build_info)", ""), good=True,
    )  # fmt: skip
    board.stat(
        "Flows that copy",
        "State copying or quiet. Paused, unreachable and silent flows do not count.",
        (f'count(max by (flow) (heliograph_flow_state{{{_F},state=~"copying|quiet"}} == 1)) or vector(0)',
         ""),
        good=True,
    )  # fmt: skip
    board.stat(
        "Flows that cannot", "Unreachable, failed, or without a report of a task.",
        (
            f'count(max by (flow) (heliograph_flow_state{{{_F},state=~"unreachable|failed|no_data"}} == 1)) '
            "or vector(0)",
            "",
        ),
        bad_from=1,
    )  # fmt: skip
    board.stat(
        "Behind, in records", "Sum of all partitions.",
        (f"sum(heliograph_partition_lag_records{{{_F}}})", ""),
    )  # fmt: skip
    board.stat(
        "Behind, in seconds", "Of the slowest partition.",
        (f"max(heliograph_partition_lag_seconds{{{_F}}})", ""), unit="s", bad_from=300,
    )  # fmt: skip
    board.stat(
        "Alerts", "Alerts of Heliograph that fire.",
        ('count(ALERTS{alertname=~"Heliograph.+",alertstate="firing"}) or vector(0)', ""), bad_from=1,
    )  # fmt: skip
    board.table(
        "State of each flow", "The state whose value is 1; docs/metrics.md explains each.",
        (f"max by (flow, source, target, state) (heliograph_flow_state{{{_F}}}) == 1", "is"),
    )  # fmt: skip
    board.table(
        "Problems", "Current problems by cause; heliograph status has the sentences and the remedies.",
        ('sum by (flow, cause) (heliograph_problems{flow=~"$flow|"}) or label_replace(vector(0), "cause", '
         '"none", "", "")', "problems"),
    )  # fmt: skip


def _traffic(board: Board) -> None:
    board.row("Traffic")
    rate = "[$__rate_interval]"
    board.lines(
        "Records per second", "Acknowledged by the target.",
        (f"sum by (flow) (rate(heliograph_partition_records_total{{{_F}}}{rate}))", "{{flow}}"), unit="cps",
    )  # fmt: skip
    board.lines(
        "Bytes per second", "Of batches as they are sent, with keys and headers.",
        (f"sum by (flow) (rate(heliograph_partition_bytes_total{{{_F}}}{rate}))", "{{flow}}"), unit="Bps",
    )  # fmt: skip
    board.lines(
        "Behind, in records", "Sum of the partitions of a flow.",
        (f"sum by (flow) (heliograph_partition_lag_records{{{_F}}})", "{{flow}}"),
        runbook="lag-growing.md",
    )  # fmt: skip
    board.lines(
        "Behind, in seconds", "How long the next record to copy has waited; the slowest partition of a flow.",
        (f"max by (flow) (heliograph_partition_lag_seconds{{{_F}}})", "{{flow}}"), unit="s",
        runbook="flow-stalled.md",
    )  # fmt: skip
    board.lines(
        "Replication latency", "From the timestamp of records to their acknowledgement by the target.",
        *(
            (
                f"histogram_quantile({q}, sum by (flow, le) "
                f"(rate(heliograph_replication_latency_seconds_bucket{{{_F}}}{rate})))",
                f"{{{{flow}}}} p{int(q * 100)}",
            )
            for q in (0.5, 0.99)
        ),
        unit="s",
    )  # fmt: skip
    board.lines(
        "Age of the last copy", "The oldest of a flow's partitions. It grows on a quiet topic, too.",
        (f"max by (flow) (heliograph_partition_last_copy_age_seconds{{{_F}}})", "{{flow}}"), unit="s",
    )  # fmt: skip


def _trouble(board: Board) -> None:
    board.row("What is wrong")
    board.lines(
        "Partitions by state", "Failed and retrying ones have their cause in heliograph status.",
        (f"sum by (flow, state) (heliograph_partition_state{{{_F}}})", "{{flow}} {{state}}"), width=8,
        runbook="partition-failed.md",
    )  # fmt: skip
    board.lines(
        "Gaps", "Records that are never mirrored, and logs that are not what they were, by kind.",
        (f"sum by (flow, kind) (increase(heliograph_gaps_total{{{_F}}}[$__rate_interval]))",
         "{{flow}} {{kind}}"),
        width=8, runbook="gap.md",
    )  # fmt: skip
    board.lines(
        "Clusters that answer", "0 while no broker of the cluster answers.",
        (f'min by (flow, cluster) (heliograph_cluster_reachable{{{_F},cluster=~"$cluster"}})',
         "{{flow}} {{cluster}}"),
        width=8, runbook="flow-stalled.md",
    )  # fmt: skip
    board.table(
        "Certificates", "Time until the first one expires, of brokers and of our own; empty without TLS.",
        (f"min by (cluster, of) (heliograph_certificate_expiry_timestamp_seconds{{{_F}}}) - time()",
         "expires in"),
        unit="s",
    )  # fmt: skip
    board.table(
        "Connectors", "State of each connector.",
        ("max by (connector, state) (heliograph_connector_state) == 1", "is"),
    )  # fmt: skip
