"""Decides what a restart request restarts: the connector, its tasks, or failed ones (KIP-745).

Upstream: RestartPlan.
"""

from __future__ import annotations

from heliograph.connect.herder import ConnectorStatus, State
from heliograph.mm2.connect.configs import RestartRecord

_FAILED, _RESTARTING = "FAILED", "RESTARTING"


def restart_plan(status: ConnectorStatus, request: RestartRecord) -> ConnectorStatus:
    """The status with RESTARTING for the connector and the tasks that will restart."""
    return ConnectorStatus(
        status.name,
        _planned(status.connector, request, asked=True),
        {
            number: _planned(task, request, asked=request.include_tasks)
            for number, task in status.tasks.items()
        },
        status.type,
    )


def _planned(state: State, request: RestartRecord, *, asked: bool) -> State:
    if asked and (not request.only_failed or state.state == _FAILED):
        return state._replace(state=_RESTARTING)
    return state
