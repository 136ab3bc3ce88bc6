"""What leaves this process for the tasks, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.config.mirror_config import FlowSetup
from heliograph.runtime import task_setups as module
from heliograph.runtime.task_setups import TaskSetups
from support.configurations.mm2_files import BASE, Reader

_JAAS = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";'
)
_LOGIN = {
    "us.security.protocol": "SASL_PLAINTEXT",
    "us.sasl.mechanism": "PLAIN",
    "us.sasl.jaas.config": _JAAS,
}


def setup_of(folder: Path, properties: dict[str, str]) -> FlowSetup:
    config = Reader(folder)(BASE + "".join(f"{k} = {v}\n" for k, v in properties.items()))
    source, target = (config.cluster(alias) for alias in ("us", "eu"))
    return FlowSetup(flow=config.flow("us->eu"), source=source, target=target, offsets=target)


def spark(*, encrypts: bool) -> Any:
    return SimpleNamespace(encrypts=encrypts)


def test_secrets_that_travel_in_the_clear_are_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    setups, asked = TaskSetups(spark(encrypts=False)), setup_of(tmp_path, _LOGIN)

    setups.pack([asked])
    setups.pack([asked])

    (told,) = caplog.messages
    assert told.startswith("Spark does not encrypt what it sends to its executors")


@pytest.mark.parametrize(("encrypts", "login"), [(True, _LOGIN), (False, {})])
def test_nothing_is_said_where_nobody_can_read_a_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, encrypts: bool, login: dict[str, str]
) -> None:
    TaskSetups(spark(encrypts=encrypts)).pack([setup_of(tmp_path, login)])

    assert not caplog.messages


def test_a_file_that_has_changed_outdates_the_setups_and_is_looked_at_every_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    store = tmp_path / "ca.pem"
    store.write_text("one")
    trust = {
        "us.security.protocol": "SSL",
        "us.ssl.truststore.type": "PEM",
        "us.ssl.truststore.location": str(store),
    }
    setups = TaskSetups(spark(encrypts=True))
    setups.pack([setup_of(tmp_path, trust)])

    assert not setups.outdated()
    store.write_text("another")
    assert not setups.outdated()
    clock.now += 6
    assert setups.outdated()
