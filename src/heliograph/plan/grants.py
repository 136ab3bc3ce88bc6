"""Grants the leases of a task to its first attempt only.

Spark runs a task again when its node is lost, decommissioned or evicted, on a stage retry, and with
speculation; `spark.task.maxFailures` limits none of these. Such an attempt gets the row from the start of
the epoch: its positions are out of date, and copying from there would duplicate every record since. So each
attempt asks the driver first, and only the first attempt of a task is granted the leases.
"""

from __future__ import annotations

from typing import NamedTuple


class Hello(NamedTuple):
    """The request of an attempt. `attempt` is Spark's id, unique within a driver."""

    epoch: int
    task: int
    attempt: str


class Grants:
    """Law: between two calls of `open`, each task is granted at most once, and only in the open epoch."""

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._attempts: dict[int, str] = {}

    def open(self, epoch: int) -> None:
        """Grant leases of this epoch, and of no other, from now on."""
        self._epoch, self._attempts = epoch, {}

    def close(self) -> None:
        """Grant no lease until the next epoch."""
        self._epoch = None

    def refusal(self, hello: Hello) -> str | None:
        """Why this attempt may not copy; None: it is granted the leases, and no later attempt is."""
        if hello.epoch != self._epoch:
            return f"epoch {hello.epoch} is over"
        if (first := self._attempts.get(hello.task)) is not None:
            return (
                f"Spark has run the task again; its leases were granted to attempt {first} before, and are "
                "granted only once"
            )
        self._attempts[hello.task] = hello.attempt
        return None
