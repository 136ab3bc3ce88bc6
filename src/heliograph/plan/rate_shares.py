"""Divides the rate of a throttled flow (`throttle.bytes.per.second`) between the tasks of an epoch.

An epoch begins with the shares of its leases. When tasks need different parts of the rate than that, those
that use little lend to those that the limit delays:

    report of a task (each second) ──► what it wants ──► the rate divided by need ──► its share,
                                                         within what the others leave

Law: what all tasks may use is never more than the rate. So a task that is told a smaller share counts with
the larger one until its next report, which it sends after it has read the smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping

#: A task is busy if the limit has delayed it for this much of the time since its last report.
_BUSY = 0.05
#: A task that is not busy keeps twice what it uses, and this part of its own share at least.
_ROOM = 2.0
_LEAST = 0.1
#: Changes below this part of the rate are not worth a line.
_WORTHWHILE = 0.01


class RateShares:
    """For one flow and epoch. `own`: the sums of the leases' shares by task; together they are 1."""

    def __init__(self, own: Mapping[int, float], rate: float) -> None:
        self._own = dict(own)
        self._rate = rate
        self._told = dict(own)
        self._held = dict(own)
        self._wants = dict(own)
        self._busy = dict.fromkeys(own, False)
        self._last: dict[int, tuple[float, float, int]] = {}

    def report(
        self, task: int, now: float, *, throttled_seconds: float, received_bytes: int
    ) -> float | None:
        """The totals of a task since the epoch began. Returns its new share of the rate; None: as before."""
        then, throttled, received = self._last.get(task, (now, -1.0, -1))
        if (throttled, received) == (throttled_seconds, received_bytes):
            return (
                None  # the copy has measured nothing since: even an idle one gets empty responses
            )
        self._last[task] = now, throttled_seconds, received_bytes
        self._held[task] = self._told[task]
        if now <= then:
            return None
        self._busy[task] = throttled_seconds - throttled > _BUSY * (now - then)
        used = (received_bytes - received) / (now - then) / self._rate
        self._wants[task] = 1.0 if self._busy[task] else max(_ROOM * used, _LEAST * self._own[task])
        return self._tell(task)

    def release(self, task: int) -> None:
        """The task has ended: the others may have its share."""
        if task in self._own:
            self._busy[task] = False
            self._wants[task] = self._told[task] = self._held[task] = 0.0

    def _tell(self, task: int) -> float | None:
        divided = divide(self._own, self._wants) if any(self._busy.values()) else self._own
        free = 1.0 - sum(share for other, share in self._held.items() if other != task)
        share = min(divided[task], free)
        if abs(share - self._told[task]) < _WORTHWHILE:
            return None
        self._told[task] = share
        self._held[task] = max(self._held[task], share)
        return share


def divide(own: Mapping[int, float], wants: Mapping[int, float]) -> dict[int, float]:
    """Shares of a whole: nobody gets more than it wants; what is left is divided as `own` is."""
    found: dict[int, float] = {}
    while open_ := {task: share for task, share in own.items() if task not in found}:
        left = (1.0 - sum(found.values())) / (sum(open_.values()) or 1.0)
        met = {task: wants[task] for task, share in open_.items() if wants[task] <= left * share}
        found |= met or {task: left * share for task, share in open_.items()}
    return found
