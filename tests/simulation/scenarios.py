"""What may happen in a run beside lost answers, late requests and broken connections, which always do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Feature(StrEnum):
    KILLS = "kills"  # of driver and task
    TASK_KILLS = "task-kills"  # the driver lives, and leases anew
    DRIVER_KILLS = "driver-kills"  # the task lives on until its leases lapse
    FREEZES = "freezes"  # of a task, for longer than its leases last
    EPOCHS = "epochs"  # end in order
    MOVES = "moves"  # leaders of both sides
    DENIED = "denied"  # the target refuses for a while
    STATE_AWAY = "state-away"
    SOURCE_TRUNCATES = "source-truncates"
    SOURCE_RETENTION = "source-retention"
    COMPACTION = "compaction"  # of the source
    TARGET_LOSES = "target-loses"
    TARGET_RESTARTS = "target-restarts"  # its leader; records may be older than a day
    TARGET_RETENTION = "target-retention"
    FOREIGN = "foreign"  # another writer in the remote topic
    EXPIRY = "expiry"  # of producer ids on an idle partition
    LIMIT = "limit"  # max.message.bytes is lowered and raised
    QUARANTINE = "quarantine"  # as LIMIT, with records too large for the lowest limit
    TRANSACTIONS = "transactions"
    ISOLATION = "isolation"  # changes at a restart


class Delivery(StrEnum):
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"
    LANE = "lane"  # exactly once, and records are dropped or fail on their way
    LANE_AT_LEAST_ONCE = "lane-at-least-once"

    @property
    def in_lane(self) -> bool:
        return self in (Delivery.LANE, Delivery.LANE_AT_LEAST_ONCE)

    @property
    def exactly_once(self) -> bool:
        return self in (Delivery.EXACTLY_ONCE, Delivery.LANE)


#: Exactly once reads the source under read_committed only.
_AT_LEAST_ONCE_ONLY = frozenset({Feature.ISOLATION})
#: A lane does not compare the target's log with what it has written.
_NOT_IN_A_LANE = frozenset({Feature.TARGET_LOSES, Feature.TARGET_RETENTION})

_CERTAIN = frozenset(
    {
        Feature.KILLS,
        Feature.TASK_KILLS,
        Feature.DRIVER_KILLS,
        Feature.FREEZES,
        Feature.EPOCHS,
        Feature.MOVES,
        Feature.TARGET_RESTARTS,
        Feature.DENIED,
        Feature.STATE_AWAY,
        Feature.EXPIRY,
        Feature.LIMIT,
        Feature.QUARANTINE,
    }
)


@dataclass(frozen=True)
class Scenario:
    """`varied`: the seed also decides how often each fault happens: some runs are mild and some wild."""

    name: str
    features: frozenset[Feature]
    varied: bool = False

    def has(self, feature: Feature) -> bool:
        return feature in self.features

    def under(self, delivery: Delivery) -> Scenario:
        if delivery is Delivery.AT_LEAST_ONCE:
            return self
        without = _NOT_IN_A_LANE if delivery.in_lane else frozenset()
        return replace(self, features=self.features - _AT_LEAST_ONCE_ONLY - without)

    @property
    def certain(self) -> bool:
        """Whether the target's log always tells how much of the source it has: no fallback is justified."""
        return self.features <= _CERTAIN


def _scenario(name: str, *features: Feature) -> Scenario:
    return Scenario(name, frozenset(features))


_F = Feature
EVERYTHING = Scenario("everything", frozenset(Feature), varied=True)
RESTARTS = _scenario("restarts", _F.KILLS, _F.MOVES)
REFUSED_AND_OVERTAKEN = _scenario("refused", _F.SOURCE_RETENTION, _F.DENIED, _F.MOVES)
KILLED_AND_OVERTAKEN = _scenario("overtaken", _F.KILLS, _F.SOURCE_RETENTION)
KILLED_REFUSED_AND_OVERTAKEN = _scenario(
    "refused-overtaken", _F.KILLS, _F.SOURCE_RETENTION, _F.DENIED
)
QUARANTINE = _scenario("quarantine", _F.KILLS, _F.QUARANTINE, _F.DENIED)
LIMIT = _scenario("limit", _F.KILLS, _F.LIMIT)
SOURCE_TRUNCATES = _scenario("source-truncates", _F.KILLS, _F.SOURCE_TRUNCATES)
TARGET_LOSES = _scenario("target-loses", _F.TARGET_LOSES)
TARGET_LOSES_AND_KILLS = _scenario("target-loses-killed", _F.TARGET_LOSES, _F.KILLS, _F.STATE_AWAY)
TARGET_LOSES_AND_RESTARTS = _scenario(
    "target-loses-restarts", _F.TARGET_LOSES, _F.TARGET_RESTARTS, _F.MOVES
)
TARGET_LOSES_AND_QUARANTINE = _scenario("target-loses-quarantine", _F.TARGET_LOSES, _F.QUARANTINE)
EXPIRY = _scenario("expiry", _F.KILLS, _F.EXPIRY, _F.MOVES)
TARGET_RESTARTS = _scenario("target-restarts", _F.TARGET_RESTARTS, _F.KILLS, _F.MOVES)
STATE_AWAY = _scenario("state-away", _F.KILLS, _F.STATE_AWAY, _F.QUARANTINE)
ISOLATION = _scenario("isolation", _F.KILLS, _F.TRANSACTIONS, _F.ISOLATION)
COMPACTION = _scenario("compaction", _F.KILLS, _F.COMPACTION, _F.FOREIGN)
TARGET_RETENTION = _scenario("target-retention", _F.KILLS, _F.TARGET_RETENTION, _F.FOREIGN)
TASK_DIES = _scenario("task-dies", _F.TASK_KILLS, _F.MOVES, _F.QUARANTINE)
DRIVER_DIES = _scenario("driver-dies", _F.DRIVER_KILLS, _F.KILLS, _F.QUARANTINE)
FREEZES = _scenario("freezes", _F.FREEZES, _F.KILLS, _F.QUARANTINE)
EPOCHS = _scenario("epochs", _F.EPOCHS, _F.KILLS, _F.DENIED, _F.STATE_AWAY)

SCENARIOS = {
    each.name: each
    for each in (
        EVERYTHING,
        RESTARTS,
        REFUSED_AND_OVERTAKEN,
        KILLED_AND_OVERTAKEN,
        KILLED_REFUSED_AND_OVERTAKEN,
        QUARANTINE,
        LIMIT,
        SOURCE_TRUNCATES,
        TARGET_LOSES,
        TARGET_LOSES_AND_KILLS,
        TARGET_LOSES_AND_RESTARTS,
        TARGET_LOSES_AND_QUARANTINE,
        EXPIRY,
        TARGET_RESTARTS,
        STATE_AWAY,
        ISOLATION,
        COMPACTION,
        TARGET_RETENTION,
        TASK_DIES,
        DRIVER_DIES,
        FREEZES,
        EPOCHS,
    )
}
