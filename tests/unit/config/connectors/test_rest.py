"""Settings of the REST API."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.connectors.rest import Listener, read_rest_config
from heliograph.config.security.rest_users import User
from heliograph.errors import ConfigError
from heliograph.security import Secret

KEYSTORE = {"ssl.keystore.location": "worker.p12"}
EXTENSION = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"


@pytest.mark.parametrize(
    ("settings", "listeners"),
    [
        ({}, ["http://localhost:8083"]),
        ({"listeners": "http://:8083"}, ["http://:8083"]),
        (
            {"listeners": "HTTP://localhost:8080, https://0.0.0.0:8443"},
            ["http://localhost:8080", "https://0.0.0.0:8443"],
        ),
        ({"listeners": "http://[::1]:8083"}, ["http://[::1]:8083"]),
        ({"rest.port": "28082"}, ["http://localhost:28082"]),
        ({"rest.host.name": "0.0.0.0"}, ["http://0.0.0.0:8083"]),
    ],
)
def test_only_this_machine_is_served_unless_an_address_is_given(
    settings: dict[str, str], listeners: list[str]
) -> None:
    config = read_rest_config(settings | KEYSTORE, {})

    assert [str(each) for each in config.listeners] == listeners


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({}, "http://localhost:8083/"),
        ({"listeners": "http://:8083"}, "http://here:8083/"),
        ({"listeners": "http://0.0.0.0:8083"}, "http://here:8083/"),
        ({"listeners": "https://:8443,http://:8083"}, "http://here:8083/"),
        ({"listeners": "https://:8443"}, "https://here:8443/"),
        (
            {"listeners": "http://:1,https://:2", "rest.advertised.listener": "https"},
            "https://here:2/",
        ),
        (
            {"rest.advertised.host.name": "w.example", "rest.advertised.port": "80"},
            "http://w.example:80/",
        ),
        # As Confluent's images hand it on from docker-compose.yml, quotes and all.
        (
            {"rest.port": "28082", "rest.advertised.host.name": '"localhost"'},
            "http://localhost:28082/",
        ),
        ({"listeners": "http://[::1]:8083"}, "http://[::1]:8083/"),
    ],
)
def test_workers_advertise_what_others_can_reach(settings: dict[str, str], url: str) -> None:
    assert read_rest_config(settings | KEYSTORE, {}).advertised_url("here") == url


def test_admin_listeners_are_those_of_everything_or_some_or_none() -> None:
    def admin(**settings: str) -> tuple[Listener, ...] | None:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        return read_rest_config(named, {}).admin_listeners

    assert admin() is None
    assert admin(admin_listeners="") == ()
    assert admin(admin_listeners="http://localhost:1") == (
        Listener(scheme="http", host="localhost", port=1),
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("listeners", "localhost:8083", "expected http://host:port or https://host:port"),
        ("listeners", "ftp://localhost:8083", "expected http://host:port or https://host:port"),
        ("listeners", "http://localhost:99999", "expected http://host:port or https://host:port"),
        ("listeners", "", "expected one or more"),
        ("rest.advertised.port", "eighty", "expected a number from 0 to 65535"),
        ("rest.advertised.listener", "ftp", "expected http or https"),
        ("rest.mask.secrets", "perhaps", "expected true or false"),
        ("rest.request.max.bytes", "0", "expected a number from 1 to"),
        ("response.http.headers.config", "remove Server: x", "with an action of set, add"),
        (
            "response.http.headers.config",
            "set X-Y",
            "expected '[action] [header name]:[header value]'",
        ),
        (
            "rest.extension.classes",
            "com.example.Audit",
            "found com.example.Audit; other Java classes cannot run here",
        ),
        ("rest.extension.classes", EXTENSION, "needs a file of users"),
        ("rest.users.file", "/no/such/file", "/no/such/file"),
    ],
)
def test_bad_settings_are_errors(name: str, value: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_rest_config({name: value}, {})

    assert sentence in str(caught.value)


def test_users_come_from_the_file_that_connects_extension_reads(tmp_path: Path) -> None:
    users = tmp_path / "credentials.properties"
    users.write_text("alice=s3same\nbob = 1234\n")
    jaas = tmp_path / "jaas.conf"
    jaas.write_text(
        "KafkaConnect {\n"
        "  org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule required\n"
        f'  file="{users}";\n'
        "};\n"
    )
    options = {"KAFKA_OPTS": f"-Xmx1g -Djava.security.auth.login.config={jaas} -Da=b"}

    config = read_rest_config({"rest.extension.classes": EXTENSION}, options)

    assert config.users == {
        "alice": User(password=Secret("s3same")),
        "bob": User(password=Secret("1234")),
    }
    assert "the passwords of alice, bob are in plain text" in config.warnings[0]
    assert "s3same" not in repr(config)


def test_a_file_without_users_is_an_error(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("# no users yet\n")

    with pytest.raises(ConfigError, match="no users"):
        read_rest_config({"rest.users.file": str(users)}, {})


def test_tls_settings_with_a_prefix_stand_alone() -> None:
    own = {"ssl.keystore.location": "kafka.p12", "ssl.client.auth": "required"}
    rest = {"listeners.https.ssl.keystore.location": "rest.p12"}
    https = {"listeners": "https://:8443"}

    plain, prefixed = (read_rest_config(each | https, {}).tls for each in (own, own | rest))

    assert plain is not None
    assert prefixed is not None
    assert plain.security.tls is not None
    assert prefixed.security.tls is not None
    assert plain.security.tls.keystore is not None
    assert prefixed.security.tls.keystore is not None
    assert (plain.security.tls.keystore.location, plain.client_auth) == ("kafka.p12", "required")
    assert (prefixed.security.tls.keystore.location, prefixed.client_auth) == ("rest.p12", "none")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "ssl.keystore.location: missing; an https listener needs a key"),
        (
            {
                "listeners.https.ssl.keystore.location": "worker.zip",
                "listeners.https.ssl.keystore.type": "ZIP",
            },
            "listeners.https.ssl.keystore.type: expected",
        ),
        ({"ssl.client.auth": "perhaps"}, "ssl.client.auth: expected none, requested or required"),
    ],
)
def test_tls_that_cannot_work_is_an_error(settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_rest_config({"listeners": "https://:8443", **settings}, {})

    assert sentence in str(caught.value)
