"""Which attempt of a task may copy: a lease is good once.

Spark runs a task again when its node is lost, decommissioned or evicted, on a stage retry, and with
speculation; `spark.task.maxFailures` limits none of these. The row that such an attempt gets is the one of
the epoch's beginning: its positions have aged, and copying from there would double every record since. So
each attempt asks the driver before it does anything, and only the first of its task is granted the leases.
"""

from __future__ import annotations

from typing import NamedTuple


class Hello(NamedTuple):
    """What an attempt says of itself. `attempt` is Spark's id of it, unique within a driver."""

    epoch: int
    task: int
    attempt: str


class Grants:
    """Law: between two calls of `open`, each task is granted once at most, and in the open epoch only."""

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._attempts: dict[int, str] = {}

    def open(self, epoch: int) -> None:
        """Leases of this epoch, and of no other, may be granted from now on."""
        self._epoch, self._attempts = epoch, {}

    def close(self) -> None:
        """No lease may be granted until the next epoch."""
        self._epoch = None

    def refusal(self, hello: Hello) -> str | None:
        """Why this attempt may not copy; None: it is granted its leases, and no later attempt is."""
        if hello.epoch != self._epoch:
            return f"epoch {hello.epoch} is over"
        if (first := self._attempts.get(hello.task)) is not None:
            return (
                f"Spark has run the task again; its leases were granted to attempt {first} before, and a "
                "lease is good once"
            )
        self._attempts[hello.task] = hello.attempt
        return None
