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


def listening(settings: dict[str, str], environment: dict[str, str]) -> list[str]:
    return [str(each) for each in read_rest_config(settings, environment).listeners]


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
        ({"rest.port": "28082"}, ["http://:28082"]),
        ({"rest.port": "28082", "rest.host.name": "localhost"}, ["http://localhost:28082"]),
        ({"rest.host.name": "0.0.0.0"}, ["http://0.0.0.0:8083"]),
        ({"rest.advertised.host.name": "w.example"}, ["http://:8083"]),
        ({"rest.advertised.port": "80"}, ["http://:8083"]),
        (
            {"rest.advertised.port": "80", "listeners": "http://localhost:1"},
            ["http://localhost:1"],
        ),
    ],
)
def test_only_this_machine_is_served_unless_a_setting_is_for_other_hosts(
    settings: dict[str, str], listeners: list[str]
) -> None:
    config = read_rest_config(settings | KEYSTORE, {})

    assert [str(each) for each in config.listeners] == listeners


def test_the_container_image_serves_every_address_as_connect_does() -> None:
    image = {"HELIOGRAPH_CONTAINER": "1"}

    assert listening({}, image) == ["http://:8083"]
    assert listening({"listeners": "http://localhost:8083"}, image) == ["http://localhost:8083"]
    assert listening({"rest.host.name": "localhost"}, image) == ["http://localhost:8083"]
    assert listening({}, {"HELIOGRAPH_CONTAINER": "0"}) == ["http://localhost:8083"]


@pytest.mark.parametrize(
    "settings", [{}, {"rest.port": "28082"}, {"rest.advertised.host.name": "w.example"}]
)
def test_dedicated_mode_stays_on_localhost_unless_listeners_is_set(
    settings: dict[str, str],
) -> None:
    config = read_rest_config(settings, {"HELIOGRAPH_CONTAINER": "1"}, dedicated=True)

    assert all(each.is_loopback for each in config.listeners)
    opened = {**settings, "listeners": "http://:8083"}
    assert not read_rest_config(opened, {}, dedicated=True).listeners[0].is_loopback


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://:8083", "REST listens on http://0.0.0.0:8083: reachable from other hosts"),
        ("http://[::]:8083", "REST listens on http://0.0.0.0:8083: reachable from other hosts"),
        (
            "http://192.0.2.7:8083",
            "REST listens on http://192.0.2.7:8083: reachable from other hosts",
        ),
        (
            "http://localhost:8083",
            "REST listens on http://localhost:8083: reachable from this machine only; set "
            "listeners=http://:8083 to be reachable from other hosts",
        ),
    ],
)
def test_where_it_listens_and_who_can_reach_it_is_one_sentence(address: str, sentence: str) -> None:
    (listener,) = read_rest_config({"listeners": address}, {}).listeners

    assert listener.reach == sentence


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({}, False),
        ({"listeners": "http://127.0.0.1:8083"}, False),
        ({"rest.port": "8083"}, True),
        ({"listeners": "http://:8083"}, True),
        ({"listeners": "https://:8443"}, True),
        ({"listeners": "https://:8443", "ssl.client.auth": "required"}, False),
        ({"listeners": "http://:8083,https://:8443", "ssl.client.auth": "required"}, True),
    ],
)
def test_an_api_that_other_hosts_reach_without_a_login_is_warned_of(
    settings: dict[str, str], warned: bool
) -> None:
    warnings = read_rest_config(settings | KEYSTORE, {}).warnings

    assert any("has no users" in each for each in warnings) == warned


def test_an_api_with_users_is_not_warned_of(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("alice = secret\n")
    settings = {"listeners": "http://:8083", "rest.users.file": str(users)}

    assert not any("has no users" in each for each in read_rest_config(settings, {}).warnings)


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
        ("listeners", "http://localhost:99999", "expected a port from 1 to 65535"),
        ("listeners", "", "expected one or more"),
        ("rest.advertised.port", "eighty", "expected a whole number from 1 to 65535"),
        ("rest.advertised.listener", "ftp", "expected http or https"),
        ("rest.mask.secrets", "perhaps", "expected true or false"),
        ("rest.request.max.bytes", "0", "expected a whole number of at least 1"),
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
