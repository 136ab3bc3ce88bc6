"""Secrets go in, and never out."""

from __future__ import annotations

from typing import Any

import pytest

from support.rest.asking import HEARTBEAT, Asking

PASSWORD = "source.cluster.ssl.truststore.password"
JAAS = "target.cluster.sasl.jaas.config"
SECRETS = {
    PASSWORD: "tr0mbone",
    JAAS: 'PlainLoginModule required username="u" password="tr0mbone";',
}


@pytest.fixture
def asking() -> Asking:
    asking = Asking()
    asking.ask("POST", "/connectors", {"name": "c", "config": {**HEARTBEAT, **SECRETS}})
    return asking


@pytest.mark.parametrize(
    "target",
    [
        "/connectors/c",
        "/connectors/c/config",
        "/connectors/c/tasks",
        "/connectors?expand=info&expand=status",
    ],
)
def test_secrets_are_hidden_in_every_answer(asking: Asking, target: str) -> None:
    answer = asking.ask("GET", target)

    assert answer.status == 200
    assert "tr0mbone" not in answer.body().decode()
    assert answer.body().decode().count("[hidden]") == 2


def test_creation_does_not_echo_secrets() -> None:
    answer = Asking().ask("POST", "/connectors", {"name": "c", "config": {**HEARTBEAT, **SECRETS}})

    assert answer.status == 201
    assert "tr0mbone" not in answer.body().decode()


def test_configuration_that_was_read_can_be_sent_back(asking: Asking) -> None:
    config: dict[str, Any] = asking.content("GET", "/connectors/c/config")

    answer = asking.ask("PUT", "/connectors/c/config", {**config, "tasks.max": "2"})

    assert answer.status == 200
    assert asking.herder.config("c")[PASSWORD] == "tr0mbone"
    assert asking.herder.config("c")["tasks.max"] == "2"


def test_hidden_value_in_a_patch_changes_nothing(asking: Asking) -> None:
    answer = asking.ask("PATCH", "/connectors/c/config", {PASSWORD: "[hidden]", JAAS: "new"})

    assert answer.status == 200
    assert asking.herder.config("c")[PASSWORD] == "tr0mbone"
    assert asking.herder.config("c")[JAAS] == "new"


@pytest.mark.parametrize(
    ("method", "target", "content"),
    [
        ("POST", "/connectors", {"name": "n", "config": {**HEARTBEAT, PASSWORD: "[hidden]"}}),
        ("PUT", "/connectors/n/config", {**HEARTBEAT, PASSWORD: "[hidden]"}),
        ("PATCH", "/connectors/c/config", {"admin.ssl.key.password": "[hidden]"}),
    ],
)
def test_hidden_value_of_which_none_is_stored_is_refused(
    asking: Asking, method: str, target: str, content: object
) -> None:
    answer = asking.ask(method, target, content)

    assert answer.status == 400
    assert "[hidden], which stands for one that is stored" in answer.body().decode()


def test_references_to_config_providers_are_shown() -> None:
    asking = Asking()
    reference = "${file:/etc/secrets:password}"

    asking.ask("POST", "/connectors", {"name": "c", "config": {**HEARTBEAT, PASSWORD: reference}})

    assert asking.content("GET", "/connectors/c/config")[PASSWORD] == reference


def test_validation_hides_passwords(asking: Asking) -> None:
    answer = asking.ask(
        "PUT",
        "/connector-plugins/MirrorHeartbeat/config/validate",
        {
            **HEARTBEAT,
            "name": "c",
            "ssl.key.password": "tr0mbone",
            "admin.override.api.key": "tr0mbone",
        },
    )

    assert answer.status == 200
    assert "tr0mbone" not in answer.body().decode()


def test_sentences_that_repeat_a_configuration_hide_its_secrets() -> None:
    answer = Asking().ask("POST", "/connectors", {"name": "c", "config": SECRETS})

    assert answer.status == 400
    assert "contains no connector type" in answer.body().decode()
    assert "tr0mbone" not in answer.body().decode()


def test_whoever_wants_connects_own_way_gets_it() -> None:
    asking = Asking(rest_mask_secrets="false")

    asking.ask("POST", "/connectors", {"name": "c", "config": {**HEARTBEAT, **SECRETS}})

    assert asking.content("GET", "/connectors/c/config")[PASSWORD] == "tr0mbone"
