"""Decides when a task commits its transaction: a trade-off between latency and throughput."""

from __future__ import annotations

from dataclasses import dataclass

#: Commits take at most 1/20 of the time: a pause of so many times its duration follows each, limited by the
#: latency for readers.
_REST = 19
_MOST_SECONDS = 0.1
#: While the copy is behind, readers are late anyway: 1/100.
_REST_BEHIND = 99
_MOST_SECONDS_BEHIND = 1.0
#: Without data for so long, the transaction is not kept open any longer.
_QUIET_SECONDS = 1.0
_QUIET_LIMIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPolicy:
    """`interval_seconds` is the user's setting, None: as soon as it pays (Connect's boundary `poll`); no
    transaction is open for longer than `limit_seconds`. All times on one clock, in seconds."""

    interval_seconds: float | None
    limit_seconds: float

    def due(
        self, *, opened: float, written: float, ended: float, took: float, behind: bool
    ) -> float:
        """When to commit a transaction that was `opened` and last `written` to at these times.

        The previous one `ended` at this time, and ending it `took` so many seconds. `behind`: more waits to
        be written.
        """
        limit = opened + self.limit_seconds
        if self.interval_seconds is None:
            rest = min(took * _REST, _MOST_SECONDS)
            if behind:
                rest = min(took * _REST_BEHIND, _MOST_SECONDS_BEHIND)
            return min(ended + rest, limit)
        quiet = max(written + _QUIET_SECONDS, opened + _QUIET_LIMIT_SECONDS)
        return min(ended + self.interval_seconds, quiet, limit)
