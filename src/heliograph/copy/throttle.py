"""Limits a flow's byte rate (`throttle.bytes.per.second`) with a token bucket."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

log = logging.getLogger(__name__)

#: Size of one round of fetches, in seconds of the rate: small enough to be smooth and to be shared by all
#: partitions (brokers rotate them), large enough to need few requests.
_ROUND_SECONDS = 0.1
#: Tokens saved up during a pause, in seconds of the rate.
_BURST_SECONDS = 0.25
#: A flow counts as throttled if it had to wait within this time.
_LATELY_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """`level` bytes may be spent as of `at`. It may become negative: a response's size is known afterwards.

    Law: in any time t at most (t + burst) * rate bytes are spent, plus one overdraft.
    """

    rate: float
    level: float = 0.0
    at: float

    def refilled(self, now: float) -> TokenBucket:
        level = self.level + max(now - self.at, 0.0) * self.rate
        return replace(self, level=min(level, self.rate * _BURST_SECONDS), at=max(now, self.at))

    def spent(self, size: int, now: float) -> TokenBucket:
        full = self.refilled(now)
        return replace(full, level=full.level - size)

    def at_rate(self, rate: float) -> TokenBucket:
        return self if rate == self.rate else replace(self, rate=rate)

    def wait(self, now: float) -> float:
        """Seconds until something may be spent; 0 if it may be now."""
        return max(-self.refilled(now).level / self.rate, 0.0)


class Throttle:
    """Part of one copy loop, whose share of the flow's rate is `rate` bytes per second; 0 for no limit.

    The driver may change the share (`plan/rate_shares.py`): `set_rate` is for any thread."""

    def __init__(self, rate: float, now: float, subject: str) -> None:
        self._subject = subject
        self._bucket = TokenBucket(rate=rate, at=now) if rate > 0 else None
        self._rate = rate
        self._counted = 0
        self._waited_at: float | None = None
        self._delayed_since: float | None = None
        self.seconds = 0.0  # for which it has delayed the copy

    def set_rate(self, rate: float) -> None:
        """From the next `wait` on."""
        self._rate = rate

    @property
    def round_bytes(self) -> int | None:
        return max(int(self._bucket.rate * _ROUND_SECONDS), 1) if self._bucket else None

    def wait(self, fetched_bytes: int, now: float) -> float:
        """Seconds until the next fetch may be sent; `fetched_bytes` is the total so far."""
        if self._bucket is None:
            return 0.0
        self._bucket = self._bucket.spent(fetched_bytes - self._counted, now).at_rate(self._rate)
        self._counted = fetched_bytes
        seconds = self._bucket.wait(now)
        if seconds and self._waited_at is None:
            log.warning(
                "%s: throttled: throttle.bytes.per.second limits the copy (%s bytes/s in this task; "
                "logged once per epoch)",
                self._subject,
                f"{self._bucket.rate:,.0f}",
            )
        if self._delayed_since is not None:
            self.seconds += now - self._delayed_since
        self._delayed_since = now if seconds else None
        if seconds:
            self._waited_at = now
        return seconds

    def held_back(self, now: float) -> bool:
        """Whether the limit has slowed the flow in the last 2 s."""
        return self._waited_at is not None and now - self._waited_at < _LATELY_SECONDS
