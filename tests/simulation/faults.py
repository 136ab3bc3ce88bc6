"""What happens to the clusters and to the mirror, and how often."""

from __future__ import annotations

from collections.abc import Callable

from heliograph.model import SILENT_SECONDS, IsolationLevel
from simulation.mirror import Mirror
from simulation.scenarios import Feature, Scenario
from simulation.world import Lost, World

_WRITERS = 3
_OVERSIZE_BYTES = 300
_IDLE_SECONDS = 1.0
_KILL_RATE = 0.004
_BURST = 3
#: How many batches of the source are older than producer.id.expiration.ms.
_OLD_SHARES = (0.0, 0.5, 1.0)
#: Of the usual rate, in a scenario that varies them.
_FACTORS = (0.0, 0.2, 0.5, 1.0, 2.0)
#: Of the usual length.
_OUTAGES = (0.05, 0.2, 1.0)

Event = Callable[[World, Mirror], None]


def append(world: World, scenario: Scenario) -> None:
    """A batch of the source, perhaps in a transaction, perhaps with records too large for the target."""
    rng, oversize = world.rng, scenario.has(Feature.QUARANTINE)
    sizes = [
        _OVERSIZE_BYTES if oversize and rng.random() < 0.1 else 0
        for _ in range(rng.randint(*world.batch_records))
    ]
    transactional = scenario.has(Feature.TRANSACTIONS) and rng.random() < 0.7
    world.write_to_source(sizes, rng.randrange(_WRITERS) if transactional else -1)


def end_transaction(world: World, _: Mirror) -> None:
    world.source.end_transaction(world.rng.randrange(_WRITERS), commit=world.rng.random() < 0.5)


def kill(world: World, mirror: Mirror) -> None:
    if world.rng.random() < 0.5:
        mirror.flush()
    mirror.kill(world.rng.choice((0, 3, 30)))


def kill_and_change_isolation(world: World, mirror: Mirror) -> None:
    if world.rng.random() < 0.5:
        mirror.flush()
    levels = (IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED)
    mirror.kill(world.rng.choice((0, 3, 30)), world.rng.choice(levels))


def kill_task(world: World, mirror: Mirror) -> None:
    mirror.kill_task(world.rng.choice((0, 1, 6)))


def kill_driver(world: World, mirror: Mirror) -> None:
    mirror.kill_driver(world.rng.choice((0.3, 2.0, SILENT_SECONDS)))


def freeze_task(world: World, mirror: Mirror) -> None:
    mirror.freeze_task(world.rng.choice((1, 7, 10)))


def end_epoch(_: World, mirror: Mirror) -> None:
    mirror.end_epoch()


def move_leaders(world: World, _: Mirror) -> None:
    if world.rng.random() < 0.5:
        world.elect()
    else:
        world.source.elect()


def deny(world: World, _: Mirror) -> None:
    world.denied_until = world.clock.now + world.rng.choice((0.5, 5, 40)) * world.outage
    world.note(f"the target refuses until {world.denied_until:.2f}")


def take_state_away(world: World, _: Mirror | None = None) -> None:
    world.state_away_until = world.clock.now + world.rng.choice((2, 20)) * world.outage
    world.note(f"the state topic is away until {world.state_away_until:.2f}")


def truncate_source(world: World, _: Mirror) -> None:
    world.source.elect(world.rng.randint(1, 4))
    world.note(f"the source is truncated to {world.source.end}, epoch {world.source.epoch}")


def delete_from_source(world: World, _: Mirror) -> None:
    world.source.delete_before(world.source.end - world.rng.choice((0, 5, 40)))
    world.note(f"the source starts at {world.source.start}")


def compact_source(world: World, _: Mirror) -> None:
    world.source.compact(world.rng, world.source.end - world.rng.choice((0, 20, 60)))
    world.note("the source is compacted")


def lose_target_tail(world: World, _: Mirror) -> None:
    """An unclean election: the new leader lacks the newest batches. Requests that wait at the old one are
    refused there."""
    for _batch in range(world.rng.choice((1, 1, 2, 4))):
        for lost in world.target.lose_last():
            world.lost_by_target |= {
                value: Lost(lost.base + at, world.moment())
                for at, value in enumerate(lost.values())
            }
            world.note(f"the target loses {lost.size} records at {lost.base} of {lost.identity}")
    world.elect()
    world.note(f"the target's log ends at {world.target.end}")
    world.late.clear()


def restart_target(world: World, mirror: Mirror) -> None:
    """The broker that leads the target's partitions restarts, and leads them again. What its connections have
    left behind is gone; of what is under way it has carried out some."""
    mirror.lose_connections(world.leader)
    world.restart_leader()


def delete_from_target(world: World, _: Mirror) -> None:
    world.target.delete_before(world.target.end - world.rng.choice((0, 10)))


def write_to_target(world: World, _: Mirror) -> None:
    first = world.target.end
    world.target.append_foreign(world.rng.randint(1, 3))
    world.foreign_at |= dict.fromkeys(range(first, world.target.end), world.moment())
    world.note(f"another writer writes to {first} to {world.target.end - 1} of the target")


def expire_producers(world: World, mirror: Mirror) -> None:
    """A day without records, say: nothing is on its way, and nothing waits to be sent again. Then some."""
    if mirror.idle and not world.late:
        world.clock.sleep(5)
        for log in world.logs.values():
            log.expire_producers(world.clock.now - _IDLE_SECONDS)
        world.note("producers have expired")
        world.happened["producers expired"] += 1
        for _ in range(_BURST):
            world.write_to_source([0])


def limit_size(world: World, _: Mirror) -> None:
    world.max_bytes = world.rng.choice((1_000_000, 150, 250))
    world.note(f"max.message.bytes is {world.max_bytes}")


_EVENTS: dict[Feature, tuple[float, Event]] = {
    Feature.TASK_KILLS: (0.008, kill_task),
    Feature.DRIVER_KILLS: (0.008, kill_driver),
    Feature.FREEZES: (0.006, freeze_task),
    Feature.EPOCHS: (0.01, end_epoch),
    Feature.MOVES: (0.01, move_leaders),
    Feature.DENIED: (0.008, deny),
    Feature.STATE_AWAY: (0.006, take_state_away),
    Feature.SOURCE_TRUNCATES: (0.006, truncate_source),
    Feature.SOURCE_RETENTION: (0.01, delete_from_source),
    Feature.COMPACTION: (0.008, compact_source),
    Feature.TARGET_LOSES: (0.003, lose_target_tail),
    Feature.TARGET_RESTARTS: (0.006, restart_target),
    Feature.TARGET_RETENTION: (0.004, delete_from_target),
    Feature.FOREIGN: (0.01, write_to_target),
    Feature.EXPIRY: (0.03, expire_producers),
    Feature.LIMIT: (0.006, limit_size),
    Feature.QUARANTINE: (0.01, limit_size),
    Feature.TRANSACTIONS: (0.08, end_transaction),
}


def events(world: World, scenario: Scenario) -> list[tuple[float, Event]]:
    """How likely in a step, and what."""
    kills = world.rng.randint(0, 6) if scenario.has(Feature.KILLS) else 0
    killing = kill_and_change_isolation if scenario.has(Feature.ISOLATION) else kill
    others = [_EVENTS[each] for each in Feature if scenario.has(each) and each in _EVENTS]
    if scenario.has(Feature.TARGET_RESTARTS):
        world.old_share = world.rng.choice(_OLD_SHARES)
    if scenario.varied:
        world.outage = world.rng.choice(_OUTAGES)
        others = [(rate * world.rng.choice(_FACTORS), event) for rate, event in others]
    return [(kills * _KILL_RATE, killing), *others]
