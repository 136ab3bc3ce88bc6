"""One run: a seed and a scenario decide everything that happens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig, LaneConfig, MirrorConfig
from heliograph.model import OnError
from simulation.faults import Event, append, events, take_state_away
from simulation.lane import is_dropped
from simulation.mirror import Mirror
from simulation.oracle import Oracle
from simulation.patches import in_place
from simulation.scenarios import Delivery, Feature, Scenario
from simulation.transactional_target import TransactionalWorld
from simulation.world import World

_PROPERTIES = """\
clusters = a, b
a.bootstrap.servers = 127.0.0.1:1
b.bootstrap.servers = 127.0.0.1:2
a->b.enabled = true
a->b.topics = t
a->b.emit.offset-syncs.enabled = false
emit.checkpoints.enabled = false
"""
_EXACTLY_ONCE = """\
b.exactly.once.source.support = enabled
a.consumer.isolation.level = read_committed
"""
_QUARANTINE = "a->b.oversize.record.policy = quarantine\n"
_STORE_MS = 4000
_STEPS = (100, 600)
#: With all faults over, so many steps.
_PATIENCE, _REST_SECONDS = 4000, 0.2
_APPEND_RATE, _FLUSH_RATE, _REPORT_RATE = 0.15, 0.3, 0.05
_NO_LIMIT = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Run:
    """What came of a seed. `records` are those that had to be on the target; `happened` counts faults by
    name, and what the mirror has logged by the kind of gap, or as "fallback"."""

    scenario: str
    seed: int
    records: int
    happened: Counter[str]
    violations: tuple[str, ...]
    history: tuple[tuple[float, str], ...] = field(repr=False)

    def without_history(self) -> Run:
        return replace(self, history=())

    def __str__(self) -> str:
        return f"{self.scenario} {self.seed}: {'; '.join(self.violations) or 'no law was violated'}"


def simulate(seed: int, scenario: Scenario, delivery: Delivery = Delivery.AT_LEAST_ONCE) -> Run:
    exactly_once, lane = delivery.exactly_once, delivery.in_lane
    scenario = scenario.under(delivery)
    config, flow = _configuration(lane or scenario.has(Feature.QUARANTINE), exactly_once)
    if lane:
        flow = replace(
            flow, lane=LaneConfig(on_error=OnError.QUARANTINE, quarantines_oversize=True)
        )
    quarantine = flow.quarantine.name if flow.quarantine is not None else None
    kind = TransactionalWorld if exactly_once else World
    world = kind(seed, flow.offsets_topic.name, quarantine)
    try:
        with in_place(world):
            violations = _live(world, scenario, config, flow)
    except Exception as e:  # noqa: BLE001 - whatever the copy loop raises is a finding
        violations = [f"crashed: {e!r}"]
    oracle = Oracle(
        world,
        scenario,
        is_owed=lambda at: not (lane and is_dropped(at)),
        may_double=lane and not exactly_once,
    )
    world.happened.update(gap.kind.value for gap in {logged.gap for logged in world.gaps})
    if world.quarantine is not None:
        world.happened["record quarantined"] = world.logs[world.quarantine].end
    world.happened["fallback"] = len(world.fallbacks)
    return Run(
        scenario=scenario.name,
        seed=seed,
        records=len(oracle.wanted),
        happened=world.happened,
        violations=tuple(violations or oracle.violations()),
        history=tuple(world.history),
    )


def _live(world: World, scenario: Scenario, config: MirrorConfig, flow: FlowConfig) -> list[str]:
    """A time of faults, then a time of rest."""
    faults = events(world, scenario)
    mirror = Mirror(world, config, flow)
    mirror.step()
    if scenario.has(Feature.STATE_AWAY) and world.rng.random() < 0.5:
        take_state_away(world)
    _suffer(world, mirror, scenario, faults)
    _heal(world, scenario)
    if _settles(world, mirror):
        return []
    return [f"stuck: {mirror}"]


def _suffer(
    world: World, mirror: Mirror, scenario: Scenario, faults: list[tuple[float, Event]]
) -> None:
    rng = world.rng
    for _ in range(rng.randint(*_STEPS)):
        left = rng.random() - _APPEND_RATE
        if left < 0:
            append(world, scenario)
        for rate, event in faults:
            if 0 <= left < rate:
                event(world, mirror)
                world.happened[event.__name__] += 1
            left -= rate
        if world.has_late and rng.random() < world.late_rate:
            world.deliver_late()
        _step(world, mirror)


def _step(world: World, mirror: Mirror) -> None:
    mirror.step()
    world.step()
    if world.rng.random() < _FLUSH_RATE:
        mirror.flush()
    if world.rng.random() < _REPORT_RATE:
        mirror.report()


def _heal(world: World, scenario: Scenario) -> None:
    """All faults are over. One more record, by which a loss on the target is found out that came last."""
    world.note("all faults are over")
    world.fault = world.denied_until = world.state_away_until = 0.0
    if scenario.has(Feature.QUARANTINE):
        world.max_bytes = _NO_LIMIT
    for writer in world.source.in_transactions:
        world.source.end_transaction(writer, commit=world.rng.random() < 0.5)
    world.write_to_source([0])


def _settles(world: World, mirror: Mirror) -> bool:
    for _ in range(_PATIENCE):
        if world.late:
            world.deliver_late()
        _step(world, mirror)
        world.clock.sleep(_REST_SECONDS)
        if mirror.settled:
            mirror.rest()
            world.rest()
            return True
    return False


@cache
def _configuration(quarantine: bool, exactly_once: bool) -> tuple[MirrorConfig, FlowConfig]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mm2.properties"
        text = _PROPERTIES + (_QUARANTINE if quarantine else "")
        path.write_text(text + (_EXACTLY_ONCE if exactly_once else ""))
        config = load(path)
    (flow,) = config.flows
    return config, replace(flow, offset_flush_interval_ms=_STORE_MS)
