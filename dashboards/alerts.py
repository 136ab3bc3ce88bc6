"""Shows that each alert fires by a real fault, and ends when the fault is gone.

The rules are those of deploy/prometheus, with every duration divided, so that a run takes minutes. Thresholds
are as shipped.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dashboards.faults import Fault
from dashboards.prometheus import Prometheus
from dashboards.stage import Stage, remote
from dashboards.traffic import Traffic
from harness.cluster_side import LogEnds

RULES = Path(__file__).parents[1] / "deploy" / "prometheus" / "heliograph.rules.yml"
#: Of durations of the rules: 15 minutes become one.
DIVISOR = 15
_LIMIT_SECONDS = 300.0
_POLL_SECONDS = 1.0
_DURATION = re.compile(r"(\[|offset |for: )(\d+)m\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Seconds until the alert fired after the fault, and until it ended after that; None: it did not. `lag`:
    records of a topic that waits, `counted` by an independent client."""

    alert: str
    fault: str
    about: str
    fired_after: float | None
    ended_after: float | None
    lag: int | None = None
    counted: int | None = None

    @property
    def good(self) -> bool:
        fired = self.fired_after is not None and self.ended_after is not None
        return fired and self.lag == self.counted

    def row(self) -> dict[str, object]:
        return asdict(self)


def shortened(rules: str) -> str:
    return _DURATION.sub(lambda m: f"{m[1]}{int(m[2]) * 60 // DIVISOR}s", rules)


def prove(
    faults: Sequence[Fault],
    stage: Stage,
    traffic: Traffic,
    prometheus: Prometheus,
    say: Callable[[str], None],
) -> list[Proof]:
    proofs: list[Proof] = []
    for fault in faults:
        say(f"{fault.name}: {fault.about}")
        began = time.monotonic()
        fault.begin(stage, traffic)
        fired = {alert: _until(prometheus, alert, True, began) for alert in fault.alerts}
        lag, counted = _lag(fault, stage, prometheus)
        ending = time.monotonic()
        fault.end(stage, traffic)
        for alert in fault.alerts:
            proof = Proof(
                alert=alert,
                fault=fault.name,
                about=fault.about,
                fired_after=fired[alert],
                ended_after=_until(prometheus, alert, False, ending),
                lag=lag,
                counted=counted,
            )
            say(f"  {alert}: fired after {proof.fired_after} s, ended after {proof.ended_after} s")
            proofs.append(proof)
        if rest := prometheus.firing():
            say(f"  firing as well: {', '.join(sorted(rest))}")
    return proofs


def _lag(fault: Fault, stage: Stage, prometheus: Prometheus) -> tuple[int | None, int | None]:
    """That of the metric, and what an independent client counts on both sides."""
    if not fault.waiting:
        return None, None
    counted = (
        LogEnds(stage.source, fault.waiting).total()
        - LogEnds(stage.target, remote(fault.waiting)).total()
    )
    found = prometheus.now(f'sum(heliograph_partition_lag_records{{topic="{fault.waiting}"}})')
    return (int(found[0].value) if found else None), counted


def _until(prometheus: Prometheus, alert: str, firing: bool, began: float) -> float | None:
    deadline = time.monotonic() + _LIMIT_SECONDS
    while time.monotonic() < deadline:
        if (alert in prometheus.firing()) is firing:
            return round(time.monotonic() - began, 1)
        time.sleep(_POLL_SECONDS)
    return None
