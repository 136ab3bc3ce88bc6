from __future__ import annotations

from typing import Any

import pytest

from heliograph.errors import HeliographError
from heliograph.operator.watching import Watch, parse_selector
from support.strimzi_resources import mirror_resource

_OURS = {"heliograph.io/runs-with": "heliograph"}


class _Rounds:
    """Takes the place of a Reconciler, which talks to an API server; notes what it is asked for."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def reconcile(self, resource: dict[str, Any]) -> dict[str, Any]:
        self.done.append("reconcile")
        return {"replicas": 2}

    def release(self, resource: dict[str, Any]) -> bool:
        self.done.append("release")
        return True


def _labelled(value: str) -> dict[str, Any]:
    resource = mirror_resource()
    resource["metadata"]["labels"] = {"heliograph.io/runs-with": value, "team": "data"}
    return resource


@pytest.mark.parametrize(
    ("label", "expected"), [("heliograph", ["reconcile"]), ("strimzi", ["release"])]
)
def test_the_label_decides_whether_a_resource_is_run_or_released(
    label: str, expected: list[str]
) -> None:
    rounds = _Rounds()
    watch = Watch(rounds, _OURS)  # type: ignore[arg-type]
    watch.seen(_labelled(label), deleted=False)

    watch.round()

    assert rounds.done == expected


def test_a_deleted_resource_is_forgotten() -> None:
    rounds = _Rounds()
    watch = Watch(rounds, _OURS)  # type: ignore[arg-type]
    watch.seen(_labelled("heliograph"), deleted=False)
    watch.seen(_labelled("heliograph"), deleted=True)

    watch.round()

    assert rounds.done == []


def test_one_resource_that_cannot_be_reconciled_does_not_keep_the_others_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Refusing(_Rounds):
        def reconcile(self, resource: dict[str, Any]) -> dict[str, Any]:
            super().reconcile(resource)
            raise HeliographError("PATCH: 403: forbidden")

    rounds = Refusing()
    watch = Watch(rounds, _OURS)  # type: ignore[arg-type]
    for name in ("first", "second"):
        resource = _labelled("heliograph")
        resource["metadata"]["name"] = name
        watch.seen(resource, deleted=False)

    watch.round()

    assert rounds.done == ["reconcile", "reconcile"]
    assert "kafka/first: PATCH: 403: forbidden; trying again" in caplog.messages


def test_selectors_are_pairs() -> None:
    assert parse_selector("a=b, c/d=e") == {"a": "b", "c/d": "e"}
    assert parse_selector("") == {}
