"""Secrets are accepted and never shown."""

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
    assert "[hidden], which stands for a stored value" in answer.body().decode()


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


LOGIN = {
    "source.cluster.security.protocol": "SASL_SSL",
    "source.cluster.sasl.mechanism": "PLAIN",
    "source.cluster.sasl.jaas.config": 'M required username="u" password="tr0mbone";',
    "target.cluster.sasl.jaas.config": 'M required username="t" password="b4ssoon";',
}
ELSEWHERE = [
    ("source.cluster.bootstrap.servers", "evil:9092"),
    ("source.admin.bootstrap.servers", "evil:9092"),
    ("consumer.bootstrap.servers", "evil:9092"),
    ("source.cluster.security.protocol", "SASL_PLAINTEXT"),
    ("source.consumer.sasl.mechanism", "SCRAM-SHA-256"),
    ("source.cluster.ssl.truststore.certificates", "-----BEGIN CERTIFICATE-----…"),
    ("source.cluster.ssl.endpoint.identification.algorithm", ""),
    ("source.cluster.sasl.login.callback.handler.class", "JaasClientOauthLoginCallbackHandler"),
]


@pytest.fixture
def logged_in() -> Asking:
    asking = Asking(rest_connector_allowed_urls="https://idp/")
    asking.ask("POST", "/connectors", {"name": "c", "config": {**HEARTBEAT, **LOGIN}})
    return asking


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(("name", "value"), ELSEWHERE)
def test_a_hidden_secret_does_not_follow_a_changed_address(
    logged_in: Asking, method: str, name: str, value: str
) -> None:
    before = dict(logged_in.herder.config("c"))
    shown = logged_in.content("GET", "/connectors/c/config")
    content = {**shown, name: value} if method == "PUT" else {name: value}

    answer = logged_in.ask(method, "/connectors/c/config", content)

    assert answer.status == 400
    refusal = (
        f".sasl.jaas.config: the stored value is not reused while the same request changes {name}"
    )
    assert refusal in answer.body().decode()
    assert logged_in.herder.config("c") == before


def test_a_setting_that_is_left_out_is_a_change_as_well(logged_in: Asking) -> None:
    shown = logged_in.content("GET", "/connectors/c/config")
    del shown["source.cluster.security.protocol"]

    put = logged_in.ask("PUT", "/connectors/c/config", shown)
    patched = logged_in.ask(
        "PATCH", "/connectors/c/config", {"source.cluster.security.protocol": None}
    )

    assert (put.status, patched.status) == (400, 400)


def test_a_secret_that_is_sent_itself_goes_with_a_changed_address(logged_in: Asking) -> None:
    changes = {
        "source.cluster.bootstrap.servers": "other:9092",
        "source.cluster.sasl.jaas.config": LOGIN["source.cluster.sasl.jaas.config"],
    }
    shown = logged_in.content("GET", "/connectors/c/config")

    assert logged_in.ask("PATCH", "/connectors/c/config", changes).status == 200
    assert logged_in.ask("PUT", "/connectors/c/config", {**shown, **changes}).status == 200
    stored = logged_in.herder.config("c")
    assert stored["target.cluster.sasl.jaas.config"] == LOGIN["target.cluster.sasl.jaas.config"]


def test_a_secret_of_a_users_own_class_does_not_follow_its_url() -> None:
    asking = Asking()
    config = {**HEARTBEAT, "my.filter.url": "https://here", "my.filter.api.key": "tr0mbone"}
    asking.ask("POST", "/connectors", {"name": "c", "config": config})

    moved = asking.ask("PATCH", "/connectors/c/config", {"my.filter.url": "https://there"})
    renewed = asking.ask("PATCH", "/connectors/c/config", {"my.filter.api.key": "n3w"})

    assert (moved.status, renewed.status) == (400, 200)


def test_what_is_shown_anyway_may_go_anywhere() -> None:
    asking = Asking(rest_mask_secrets="false")
    asking.ask("POST", "/connectors", {"name": "c", "config": {**HEARTBEAT, **LOGIN}})

    answer = asking.ask("PATCH", "/connectors/c/config", dict([ELSEWHERE[0]]))

    assert answer.status == 200
