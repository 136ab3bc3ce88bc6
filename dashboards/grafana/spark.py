"""What the service runs on: Spark's slots, epochs, memory, CPU, leadership."""

from __future__ import annotations

from typing import Any

from dashboards.grafana.kit import Board

_RATE = "[$__rate_interval]"


def spark() -> Any:
    board = Board(
        "heliograph-spark",
        "Heliograph: service and Spark",
        "What the service runs on: slots and epochs of Spark, memory, CPU, tasks, leadership.",
        runbook="task-failed.md",
    )
    _glance(board)
    _epochs(board)
    _resources(board)
    return board.build()


def _glance(board: Board) -> None:
    board.stat(
        "Service", "The state whose value is 1.",
        ("max by (state) (heliograph_service_state) == 1", "{{state}}"),
    )  # fmt: skip
    board.stat("Version", "", ("max by (version) (heliograph_build_info)", "{{version}}"))
    board.stat(
        "Leaders", "Of the workers' group: one service runs the connectors, the others stand by.",
        ("sum(max by (group) (heliograph_leader))", ""), good=True,
    )  # fmt: skip
    board.stat(
        "Slots lost", "Asked for, but the Spark cluster has no executor for them.",
        ('sum(heliograph_spark_slots{state="lost"})', ""), bad_from=1,
    )  # fmt: skip
    board.stat(
        "Restarts of the copy", "In the chosen time.",
        ("sum(increase(heliograph_restarts_total[$__range]))", ""), bad_from=1,
    )  # fmt: skip
    board.stat(
        "Failed tasks", "Connect's.",
        ('sum(heliograph_task_state{state="FAILED"})', ""), bad_from=1,
    )  # fmt: skip


def _epochs(board: Board) -> None:
    board.row("Epochs")
    board.lines(
        "Slots", "Used, free, lost.", ("sum by (state) (heliograph_spark_slots)", "{{state}}"), width=8
    )  # fmt: skip
    board.lines(
        "Epochs begun", "Each is a Spark batch of all flows.",
        (f"sum(increase(heliograph_epochs_total{_RATE}))", "epochs"), width=8,
    )  # fmt: skip
    board.lines(
        "Pauses between epochs", "Share of time without copying.",
        (f"sum(rate(heliograph_epoch_pause_seconds_total{_RATE}))", "pauses"), unit="percentunit", width=8,
    )  # fmt: skip
    board.lines(
        "Age of the newest report of each task", "Tasks report every second; from 10 s on nothing is known.",
        ('max by (flow, task) (heliograph_task_report_age_seconds{flow=~"$flow"})', "{{flow}} {{task}}"),
        unit="s",
    )  # fmt: skip
    board.lines(
        "Tasks by state", "Connect's.",
        ("sum by (connector, state) (heliograph_task_state) > 0", "{{connector}} {{state}}"),
        runbook="task-failed.md",
    )  # fmt: skip


def _resources(board: Board) -> None:
    board.row("Resources")
    board.lines(
        "Memory", "Resident memory of the driver and of tasks, used memory of Spark's JVM.",
        ("sum by (instance, process) (heliograph_memory_bytes)", "{{instance}} {{process}}"), unit="bytes",
    )  # fmt: skip
    board.lines(
        "CPU of the driver", "Cores. Tasks are processes of their own.",
        (f"sum by (instance) (rate(process_cpu_seconds_total{_RATE}) and on (instance, job) "
         "heliograph_build_info)",
         "{{instance}}"),
    )  # fmt: skip
    board.lines(
        "Open files of the driver", "",
        ("process_open_fds and on (instance, job) heliograph_build_info", "{{instance}}"),
    )  # fmt: skip
    board.lines(
        "Leadership", "1 where a service runs the connectors of a group.",
        ("max by (instance, group) (heliograph_leader)", "{{instance}} {{group}}"), runbook="no-leader.md",
    )  # fmt: skip
