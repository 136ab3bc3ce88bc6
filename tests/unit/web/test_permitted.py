"""Files and modules that a request names are used only if the worker's configuration permits it."""

from __future__ import annotations

import pytest

from support.rest.asking import HEARTBEAT, Asking

TRUSTSTORE = "source.cluster.ssl.truststore.location"


def create(asking: Asking, **changes: str) -> tuple[int, str]:
    config = {"name": "c", "config": {**HEARTBEAT, **changes}}
    answer = asking.ask("POST", "/connectors", config)
    return answer.status, answer.body().decode()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (TRUSTSTORE, "/etc/shadow"),
        ("target.cluster.ssl.keystore.location", "keys.p12"),
        ("producer.override.ssl.keystore.location", "/etc/keys.p12"),
        ("ssl.truststore.location", "/etc/trust.jks"),
        ("source.cluster.sasl.kerberos.kinit.cmd", "/tmp/evil"),
        ("source.cluster.sasl.oauthbearer.assertion.private.key.file", "/etc/key.pem"),
        ("source.cluster.sasl.oauthbearer.token.endpoint.url", "file:///etc/shadow"),
        ("sasl.jaas.config", 'Krb5LoginModule required keyTab="/etc/krb5.keytab" useKeyTab=true;'),
        ("config.providers", "file"),
        ("config.providers.file.class", "FileConfigProvider"),
        ("replication.policy.class", "os:system"),
    ],
)
def test_files_and_code_are_refused_by_default(name: str, value: str) -> None:
    asking = Asking()

    status, message = create(asking, **{name: value})

    assert status == 400
    assert name in message
    assert asking.herder.connectors() == []


def test_a_file_in_a_permitted_folder_may_be_named() -> None:
    asking = Asking(rest_connector_allowed_paths="/etc/kafka/trust")

    assert create(asking, **{TRUSTSTORE: "/etc/kafka/trust/a.jks"})[0] == 201
    assert create(asking, **{TRUSTSTORE: "/etc/kafka/trust/../shadow"})[0] == 400
    assert create(asking, **{TRUSTSTORE: "/etc/kafka/trusted.jks"})[0] == 400


def test_a_file_of_the_workers_own_may_be_named() -> None:
    asking = Asking(ssl_truststore_location="/etc/kafka/worker.jks")

    assert create(asking, **{TRUSTSTORE: "/etc/kafka/worker.jks"})[0] == 201


def test_a_permitted_module_may_be_named() -> None:
    asking = Asking(rest_connector_allowed_modules="company.policies")

    assert create(asking, **{"replication.policy.class": "company.policies.eu:Policy"})[0] == 201
    assert create(asking, **{"replication.policy.class": "company.other:Policy"})[0] == 400


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        (TRUSTSTORE, "${file:/etc/stores:path}", 201),
        (TRUSTSTORE, "/etc/shadow${file:/etc/stores:empty}", 400),
        (TRUSTSTORE, "/etc/kafka/trust/${file:/etc/stores:dots}", 400),
        ("sasl.jaas.config", 'M required password="${file:/p:k}";', 201),
        ("sasl.jaas.config", 'M required password="${file:/p:k}" keyTab="/etc/k";', 400),
        ("replication.policy.class", "os:sys${file:/p:rest}", 400),
    ],
)
def test_a_reference_stands_for_a_whole_value_or_for_nothing(
    name: str, value: str, status: int
) -> None:
    asking = Asking(rest_connector_allowed_paths="/etc/kafka/trust")

    assert create(asking, **{name: value})[0] == status


def test_patch_and_put_are_held_to_it_as_well() -> None:
    asking = Asking()
    create(asking)

    changed = asking.ask("PATCH", "/connectors/c/config", {TRUSTSTORE: "/etc/shadow"})
    replaced = asking.ask("PUT", "/connectors/c/config", {**HEARTBEAT, TRUSTSTORE: "/etc/shadow"})

    assert (changed.status, replaced.status) == (400, 400)
    assert TRUSTSTORE not in asking.herder.config("c")


def test_validation_tells_it_of_the_setting() -> None:
    found = Asking().content(
        "PUT",
        "/connector-plugins/MirrorHeartbeat/config/validate",
        {**HEARTBEAT, "name": "c", "ssl.truststore.location": "/etc/shadow"},
    )
    (wrong,) = (each["value"] for each in found["configs"] if each["value"]["errors"])

    assert wrong["name"] == "ssl.truststore.location"
    assert "rest.connector.allowed.paths" in wrong["errors"][0]
