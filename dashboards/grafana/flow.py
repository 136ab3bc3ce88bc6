"""One flow: its partitions, requests, buffers and clients."""

from __future__ import annotations

from typing import Any

from dashboards.grafana.kit import Asked, Board

_F = 'flow="$flow"'
_RATE = "[$__rate_interval]"
#: Offsets are stored once a minute (offset.flush.interval.ms): a shorter range often has no sample.
_RARE = "[5m]"


def flow() -> Any:
    board = Board(
        "heliograph-flow",
        "Heliograph: a flow",
        "One flow: which partitions are behind, where the time goes, what was dropped or repacked.",
        runbook="flow-stalled.md",
        one_flow=True,
    )
    _glance(board)
    _partitions(board)
    _requests(board)
    _batches(board)
    _clients(board)
    return board.build()


def _rate(name: str, over: str = _RATE) -> str:
    return f"rate({name}{{{_F}}}{over})"


def _quantiles(name: str, by: str = "", over: str = _RATE) -> tuple[Asked, ...]:
    labels = f"{by}, le" if by else "le"
    legend = f"{{{{{by}}}}} " if by else ""
    return tuple(
        (
            f"histogram_quantile({q}, sum by ({labels}) ({_rate(f'{name}_bucket', over)}))",
            f"{legend}p{q * 100:g}",
        )
        for q in (0.5, 0.99)
    )


def _glance(board: Board) -> None:
    board.stat(
        "State", "The state whose value is 1.",
        (f"max by (state) (heliograph_flow_state{{{_F}}}) == 1", "{{state}}"),
    )  # fmt: skip
    board.stat(
        "Behind, in records", "Sum of its partitions.",
        (f"sum(heliograph_partition_lag_records{{{_F}}})", ""),
    )  # fmt: skip
    board.stat(
        "Behind, in seconds", "Of the slowest partition.",
        (f"max(heliograph_partition_lag_seconds{{{_F}}})", ""), unit="s", bad_from=300,
    )  # fmt: skip
    board.stat(
        "Records per second", "Acknowledged by the target.",
        (f"sum({_rate('heliograph_partition_records_total')})", ""), unit="cps",
    )  # fmt: skip
    board.stat(
        "Partitions", "Of all states.", (f"sum(heliograph_partition_state{{{_F}}})", "")
    )  # fmt: skip
    board.stat(
        "Newest report of a task", "Tasks report every second.",
        (f"max(heliograph_task_report_age_seconds{{{_F}}})", ""), unit="s", bad_from=10,
    )  # fmt: skip


def _partitions(board: Board) -> None:
    board.row("Partitions")
    board.lines(
        "The 10 partitions most behind, in records", "",
        (f"topk(10, sum by (topic, partition) (heliograph_partition_lag_records{{{_F}}}))",
         "{{topic}}-{{partition}}"), runbook="lag-growing.md",
    )  # fmt: skip
    board.lines(
        "The 10 partitions most behind, in seconds", "",
        (f"topk(10, max by (topic, partition) (heliograph_partition_lag_seconds{{{_F}}}))",
         "{{topic}}-{{partition}}"), unit="s", runbook="lag-growing.md",
    )  # fmt: skip
    board.table(
        "Partitions", "Position: the source offset before which everything is on the target.",
        (f"sum by (topic, partition) (heliograph_partition_position{{{_F}}})", "position"),
        (f"sum by (topic, partition) (heliograph_partition_lag_records{{{_F}}})", "behind"),
        (f"max by (topic, partition) (heliograph_partition_lag_seconds{{{_F}}})", "seconds behind"),
        (f"max by (topic, partition) (heliograph_partition_last_copy_age_seconds{{{_F}}})", "last copy"),
    )  # fmt: skip
    board.lines(
        "Partitions by state", "",
        (f"sum by (state) (heliograph_partition_state{{{_F}}})", "{{state}}"),
        runbook="partition-failed.md",
    )  # fmt: skip
    board.lines(
        "Records per second by topic", "",
        (f"sum by (topic) ({_rate('heliograph_partition_records_total')})", "{{topic}}"), unit="cps",
    )  # fmt: skip
    board.lines(
        "Bytes per second by topic", "",
        (f"sum by (topic) ({_rate('heliograph_partition_bytes_total')})", "{{topic}}"), unit="Bps",
    )  # fmt: skip


def _requests(board: Board) -> None:
    board.row("Where the time goes")
    board.lines(
        "Replication latency", "From the timestamp of records to their acknowledgement.",
        *_quantiles("heliograph_replication_latency_seconds", "topic"), unit="s",
    )  # fmt: skip
    board.lines(
        "Fetch requests", "With the broker's wait for records.",
        *_quantiles("heliograph_fetch_request_seconds"), unit="s", width=6,
    )  # fmt: skip
    board.lines(
        "Produce requests", "Until their answer.",
        *_quantiles("heliograph_produce_request_seconds"), unit="s", width=6,
    )  # fmt: skip
    board.lines(
        "Requests in flight", "",
        (f"sum by (kind) (heliograph_requests_in_flight{{{_F}}})", "{{kind}}"), width=6,
    )  # fmt: skip
    board.lines(
        "Records in the memory of tasks", "At the limit, fetching waits for the target.",
        (f"sum(heliograph_buffered_bytes{{{_F}}})", "used"),
        (f"sum(heliograph_buffer_limit_bytes{{{_F}}})", "limit"), unit="bytes", width=6,
    )  # fmt: skip
    board.lines(
        "Storing offsets", "With exactly once: committing transactions.",
        *_quantiles("heliograph_offset_commit_seconds", over=_RARE), unit="s", width=6,
    )  # fmt: skip
    board.lines(
        "Throttled", "Share of time for which throttle.bytes.per.second has delayed fetches.",
        (f"sum({_rate('heliograph_throttled_seconds_total')})", "throttled"), unit="percentunit", width=6,
    )  # fmt: skip


def _batches(board: Board) -> None:
    board.row("What became of batches")
    board.lines(
        "Batches by result", "Passed through, repacked, or dropped (aborted, control).",
        (f"sum by (result) ({_rate('heliograph_batches_total')})", "{{result}}"), unit="cps", width=8,
    )  # fmt: skip
    board.lines(
        "Recompressed, quarantined, foreign", "Each costs something: CPU, a record, order.",
        (f"sum({_rate('heliograph_recompressed_batches_total')})", "recompressed batches"),
        (f"sum({_rate('heliograph_quarantined_records_total')})", "quarantined records"),
        (f"sum({_rate('heliograph_foreign_records_total')})", "foreign records"), unit="cps", width=8,
    )  # fmt: skip
    board.lines(
        "Resumes and gaps", "How often partitions resumed, of these at least once (duplicates possible).",
        (f"sum(increase(heliograph_resumes_total{{{_F}}}{_RATE}))", "resumes"),
        (f"sum(increase(heliograph_fallbacks_total{{{_F}}}{_RATE}))", "at least once"),
        (f"sum(increase(heliograph_gaps_total{{{_F}}}{_RATE}))", "gaps"),
        (f"sum(increase(heliograph_gap_records_total{{{_F}}}{_RATE}))", "records in gaps"),
        width=8, runbook="gap.md",
    )  # fmt: skip


def _clients(board: Board) -> None:
    board.row("Clients")
    board.lines(
        "Received", "",
        (f"sum by (cluster) ({_rate('heliograph_received_bytes_total')})", "{{cluster}}"), unit="Bps",
        width=6,
    )  # fmt: skip
    board.lines(
        "Sent", "", (f"sum by (cluster) ({_rate('heliograph_sent_bytes_total')})", "{{cluster}}"), unit="Bps",
        width=6,
    )  # fmt: skip
    board.lines(
        "New connections", "",
        (f"sum by (cluster) (increase(heliograph_connections_total{{{_F}}}{_RATE}))", "{{cluster}}"), width=6,
    )  # fmt: skip
    board.lines(
        "Failed logins", "And failed TLS handshakes.",
        (f"sum by (cluster) (increase(heliograph_authentication_failures_total{{{_F}}}{_RATE}))",
         "{{cluster}}"), width=6, runbook="certificate-expiring.md",
    )  # fmt: skip
