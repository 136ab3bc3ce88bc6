from __future__ import annotations

from typing import Any

from heliograph.operator.connectors import Restart
from heliograph.operator.resource import read_mirror
from heliograph.operator.status import Observed, refused_status, status_of, with_times_kept
from support.strimzi_resources import mirror_resource, running

_NOW = "2026-11-19T04:00:00Z"
_MIRROR = read_mirror(mirror_resource())
_CONNECTORS = {each.name: running(each.name, {}) for each in _MIRROR.connectors}


def _observed(**changed: Any) -> Observed:
    whole = {"replicas": 2, "ready": 2, "up_to_date": True, "connectors": _CONNECTORS}
    return Observed(**{**whole, **changed})


def _condition(observed: Observed) -> dict[str, str]:
    return dict(status_of(_MIRROR, observed, _NOW)["conditions"][0])


def test_a_mirror_whose_connectors_run_is_ready() -> None:
    status = status_of(_MIRROR, _observed(), _NOW)

    assert status["conditions"] == [{"type": "Ready", "status": "True", "lastTransitionTime": _NOW}]
    assert status["observedGeneration"] == 7
    assert status["url"] == "http://mm2-mirrormaker2-api.kafka.svc:8083"
    assert [each["name"] for each in status["connectors"]] == sorted(_CONNECTORS)


def test_the_scale_subresource_has_its_replicas_and_selector() -> None:
    status = status_of(_MIRROR, _observed(replicas=3), _NOW)

    assert status["replicas"] == 3
    assert "strimzi.io/cluster=mm2" in status["labelSelector"].split(",")


def test_what_it_waits_for_is_said() -> None:
    assert _condition(_observed(ready=1))["message"] == "1 of 2 pods are ready"
    assert _condition(_observed(connectors=None))["message"] == "no worker answers yet"
    assert "a->b.MirrorCheckpointConnector" in _condition(_observed(connectors={}))["message"]


def test_a_failed_task_is_not_ready() -> None:
    name = next(iter(_CONNECTORS))
    broken = {**_CONNECTORS, name: running(name, {}, task="FAILED")}

    found = _condition(_observed(connectors=broken))

    assert found["type"] == "NotReady"
    assert name in found["message"]


def test_a_mirror_scaled_to_zero_is_ready() -> None:
    mirror = read_mirror(mirror_resource(replicas=0))

    status = status_of(mirror, Observed(), _NOW)

    assert status["conditions"][0]["type"] == "Ready"


def test_a_resource_that_cannot_be_run_says_why() -> None:
    status = refused_status(mirror_resource(), ["spec.mirrors: missing"], _NOW)

    (condition,) = status["conditions"]
    assert condition["type"] == "NotReady"
    assert condition["reason"] == "InvalidResourceException"
    assert condition["message"] == "spec.mirrors: missing"


def test_an_unchanged_condition_keeps_its_time() -> None:
    before = status_of(_MIRROR, _observed(), "2026-11-18T00:00:00Z")

    assert with_times_kept(status_of(_MIRROR, _observed(), _NOW), before) == before
    changed = with_times_kept(status_of(_MIRROR, _observed(ready=0), _NOW), before)
    assert changed["conditions"][0]["lastTransitionTime"] == _NOW


def test_automatic_restarts_are_listed() -> None:
    restarts = {"a->b.MirrorSourceConnector": Restart(count=2, at=29_726_880)}

    status = status_of(_MIRROR, _observed(restarts=restarts), _NOW)

    assert status["autoRestartStatuses"] == [
        {
            "connectorName": "a->b.MirrorSourceConnector",
            "count": 2,
            "lastRestartTimestamp": "2026-07-09T16:00:00Z",
        }
    ]
