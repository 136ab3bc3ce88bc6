"""When a task commits its transaction: often enough for readers, seldom enough for throughput."""

from __future__ import annotations

from dataclasses import dataclass

#: Committing takes a twentieth of the time at most: a rest of so many times its own length follows it,
#: but no longer than readers should wait.
_REST = 19
_MOST_SECONDS = 0.1
#: While there is more to send than is sent, readers are late anyway: a hundredth.
_REST_BEHIND = 99
_MOST_SECONDS_BEHIND = 1.0
#: Data that does not come for so long has stopped, and then no transaction is kept open for the next.
_QUIET_SECONDS = 1.0
_QUIET_LIMIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPolicy:
    """`interval_seconds` as the user wishes, None: as soon as it pays (Connect's boundary poll); no
    transaction is open for longer than `limit_seconds`. All times on one clock, in seconds."""

    interval_seconds: float | None
    limit_seconds: float

    def due(
        self, *, opened: float, written: float, ended: float, took: float, behind: bool
    ) -> float:
        """When the transaction should be committed that was `opened` then and last `written` to then.

        The one before `ended` then, and ending it `took` so long. `behind`: more waits to be written.
        """
        limit = opened + self.limit_seconds
        if self.interval_seconds is None:
            rest = min(took * _REST, _MOST_SECONDS)
            if behind:
                rest = min(took * _REST_BEHIND, _MOST_SECONDS_BEHIND)
            return min(ended + rest, limit)
        quiet = max(written + _QUIET_SECONDS, opened + _QUIET_LIMIT_SECONDS)
        return min(ended + self.interval_seconds, quiet, limit)
