"""Encodes task reports as JSON for the control channel, and decodes them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from heliograph.measured import ClientReport, TaskReport, Times


def report_to_json(report: TaskReport) -> dict[str, Any]:
    return {
        **asdict(report),
        "offset_commits": report.offset_commits.row(),
        "source": _to_json(report.source),
        "target": _to_json(report.target),
    }


def _to_json(client: ClientReport) -> dict[str, Any]:
    return {**asdict(client), "requests": client.requests.row()}


def report_from_json(fields: dict[str, Any]) -> TaskReport:
    """Raises KeyError, TypeError or ValueError if it is not a report."""
    return TaskReport(
        **{
            **fields,
            "offset_commits": Times.of(fields["offset_commits"]),
            "source": _client(fields["source"]),
            "target": _client(fields["target"]),
        }
    )


def _client(fields: dict[str, Any]) -> ClientReport:
    return ClientReport(**{**fields, "requests": Times.of(fields["requests"])})
