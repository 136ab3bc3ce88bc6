from __future__ import annotations

import pytest

from heliograph.config.formats.connect_json import NamedConnector
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.security.secrets import hidden
from heliograph.operator.connectors import Restart, auto_restarts, calls, due
from support.strimzi_resources import running

_NAME, _PATH = "a->b.MirrorSourceConnector", "/connectors/a-%3Eb.MirrorSourceConnector"
_CONFIG = {"topics": "orders", "name": _NAME}


def _wanted(state: str = "RUNNING", topics: str = "orders") -> NamedConnector:
    file = PropertiesFile(name="mm2", properties={"topics": Property(topics, 1)})
    return NamedConnector(_NAME, file, state)


def test_a_missing_connector_is_put_which_may_be_repeated() -> None:
    (call,) = calls([_wanted()], {})

    assert (str(call), call.body) == (f"PUT {_PATH}/config", _CONFIG)


def test_a_missing_connector_is_created_in_its_state() -> None:
    (call,) = calls([_wanted("STOPPED")], {})

    assert str(call) == "POST /connectors"
    assert call.body == {"name": _NAME, "config": _CONFIG, "initial_state": "STOPPED"}


def test_one_that_is_as_it_should_be_is_left_alone() -> None:
    assert calls([_wanted()], {_NAME: running(_NAME, _CONFIG)}) == []


def test_another_configuration_is_put() -> None:
    (call,) = calls([_wanted(topics="bills")], {_NAME: running(_NAME, _CONFIG)})

    assert str(call) == f"PUT {_PATH}/config"
    assert call.body["topics"] == "bills"


def test_a_hidden_password_is_put_again_only_if_the_resource_has_changed() -> None:
    setting = "source.cluster.ssl.truststore.password"
    config = {setting: "changeit", "name": _NAME}
    properties = {setting: Property("changeit", 1)}
    wanted = NamedConnector(_NAME, PropertiesFile(name="mm2", properties=properties))
    found = {_NAME: running(_NAME, hidden(config))}

    assert calls([wanted], found) == []
    (call,) = calls([wanted], found, changed=True)
    assert call.body == config


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        ("PAUSED", "RUNNING", "pause"),
        ("STOPPED", "PAUSED", "stop"),
        ("RUNNING", "STOPPED", "resume"),
        ("PAUSED", "FAILED", "pause"),
        ("RUNNING", "FAILED", None),
        ("RUNNING", "UNASSIGNED", None),
        ("RUNNING", "RESTARTING", None),
    ],
)
def test_the_state_follows_the_resource(wanted: str, found: str, expected: str | None) -> None:
    made = calls([_wanted(wanted)], {_NAME: running(_NAME, _CONFIG, found)})

    assert list(map(str, made)) == ([f"PUT {_PATH}/{expected}"] if expected else [])


def test_a_connector_that_the_resource_has_no_longer_is_deleted() -> None:
    assert list(map(str, calls([], {_NAME: running(_NAME, _CONFIG)}))) == [f"DELETE {_PATH}"]


def test_a_failed_task_is_restarted_at_once_and_then_later_and_later() -> None:
    broken = {_NAME: running(_NAME, _CONFIG, task="FAILED")}

    made, after = auto_restarts(broken, {_NAME: None}, {}, now=100)
    again, same = auto_restarts(broken, {_NAME: None}, after, now=101)

    assert [each.method for each in made] == ["POST"]
    assert after == {_NAME: Restart(count=1, at=100)}
    assert again == []
    assert same == after


def test_a_connector_that_runs_again_loses_its_count() -> None:
    good = {_NAME: running(_NAME, _CONFIG)}

    assert auto_restarts(good, {_NAME: None}, {_NAME: Restart(count=4, at=1)}, 2) == ([], {})


@pytest.mark.parametrize(
    ("count", "minutes", "most", "expected"),
    [
        (1, 1, None, False),
        (1, 2, None, True),
        (3, 12, None, True),
        (9, 60, None, True),
        (2, 60, 2, False),
    ],
)
def test_restarts_wait_as_strimzis_do(
    count: int, minutes: int, most: int | None, expected: bool
) -> None:
    assert due(Restart(count=count, at=0), minutes, most) is expected
