"""The state and error that `status` shows of a partition, and when its copy is retried."""

from __future__ import annotations

from dataclasses import dataclass, field

from heliograph.client.net.backoff import Backoff
from heliograph.model import PartitionState


@dataclass(slots=True, eq=False)
class Health:
    """Part of a `Partition`; only the partition changes it. `retry_at` is the time of the next attempt on the
    monotonic clock, None if nothing has to be waited for."""

    state: PartitionState = PartitionState.RUNNING
    error: str | None = None
    retry_at: float | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(first=0.5, most=30.0))

    @property
    def failed(self) -> bool:
        return self.state is PartitionState.FAILED

    def may_retry(self, now: float) -> bool:
        return self.retry_at is None or self.retry_at <= now

    def retrying(self, error: str) -> None:
        """Retried without a pause. A failure is not replaced: it lasts until its own retry."""
        if not self.failed:
            self.state, self.error = PartitionState.RETRYING, error

    def delay(self, error: str, now: float, seconds: float | None = None) -> None:
        """Retried after `seconds`, or else after a pause that grows with each attempt."""
        pause = self.backoff.next()
        self.retry_at = now + (pause if seconds is None else seconds)
        self.state, self.error = PartitionState.RETRYING, error

    def fail(self, error: str, now: float) -> None:
        self.state, self.error = PartitionState.FAILED, error
        self.retry_at = now + self.backoff.next()

    def halt(self, error: str) -> None:
        """Failed, and not retried under this lease."""
        self.state, self.error, self.retry_at = PartitionState.FAILED, error, None

    def retry(self) -> None:
        """The pause is over. A failure stays visible as the error until records flow again."""
        self.retry_at = None
        if self.failed:
            self.state = PartitionState.RETRYING

    def clear(self) -> None:
        self.state, self.error = PartitionState.RUNNING, None

    def clear_unless_failed(self) -> None:
        if not self.failed:
            self.clear()

    def clear_if_retrying(self) -> None:
        if self.state is PartitionState.RETRYING:
            self.clear()

    def succeeded(self) -> None:
        """The target has acknowledged something: only a failure stays, and the next pause is short again."""
        if self.error is not None:
            self.clear_unless_failed()
        self.backoff.reset()
