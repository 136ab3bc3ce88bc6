from __future__ import annotations

from heliograph.metrics.windows import Spread
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.plan.group_offsets import OffsetDecision
from heliograph.runtime.metering.checkpoint_figures import CheckpointFigures
from heliograph.sync.checkpoints import Emitted
from heliograph.sync.followed_groups import FollowedGroups
from heliograph.sync.group_offsets import GroupSync

ORDERS = TopicPartition("us.orders", 0)


def emitted(
    *groups: str, untranslated: dict[str, dict[TopicPartition, str]] | None = None
) -> Emitted:
    written = tuple(Checkpoint(group, *ORDERS, 10, 7, "") for group in groups)
    return Emitted(
        checkpoints=len(written),
        groups=len(groups),
        malformed=0,
        written=written,
        inexact={"a": 3} if untranslated else {},
        untranslated=untranslated or {},
        problems={},
    )


def test_groups_are_counted_by_the_reason_why_they_are_not_followed() -> None:
    figures = CheckpointFigures()
    assert figures.read((), 0.0).followed is None
    figures.followed(
        FollowedGroups(
            followed=frozenset({"a"}),
            passed_over={"b": "has no committed offsets", "c": "has no committed offsets"},
            problems={"d": "not authorized"},
        )
    )

    found = figures.read((), 0.0)
    assert found.followed == 1
    assert found.not_followed == {"has no committed offsets": 2, "cannot be read": 1}


def test_a_reason_is_one_series_whatever_offsets_it_names() -> None:
    figures = CheckpointFigures()
    older = {
        TopicPartition("orders", n): f"offset {n} is older than what is known" for n in range(3)
    }
    figures.emitted(emitted("a", untranslated={"a": older}), 100.0, 0.5)
    figures.synced(
        GroupSync(
            decisions=[
                OffsetDecision("a", ORDERS, CommittedOffset(7), "the target's 5 is behind"),
                OffsetDecision("a", ORDERS, None, "the target's 9 is not behind 7"),
            ],
            committed=1,
            problems={},
        )
    )

    found = figures.read({"a"}, 100.0)
    assert found.untranslated == {"offset N is older than what is known": 3}
    assert found.inexact == {"a": 3}
    assert found.offsets == {
        ("committed", "the target's N is behind"): 1,
        ("kept", "the target's N is not behind N"): 1,
    }


def test_each_group_has_its_own_latency_and_it_vanishes_with_the_group() -> None:
    figures = CheckpointFigures()
    figures.emitted(emitted("a", "b"), 100.0, 0.5)
    figures.emitted(emitted("b"), 101.0, 1.5)

    found = figures.read({"a", "b"}, 101.0)
    assert found.checkpoints == 3
    assert found.latencies["a", "us.orders", 0] == Spread(0.5, 0.5, 0.5, 0.5)
    assert found.latencies["b", "us.orders", 0] == Spread(1.5, 1.0, 0.5, 1.5)
    assert figures.read({"a"}, 101.0).latencies.keys() == {("a", "us.orders", 0)}
