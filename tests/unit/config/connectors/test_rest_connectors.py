"""Connectors of the config topic came through REST: what they name, once parsed, must be permitted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from heliograph.config.connectors.read_connectors import Connector, read_connector
from support.configurations.forms_files import SOURCE, worker

TLS = {"source.cluster.security.protocol": "SSL"}
OAUTH = {
    "source.cluster.security.protocol": "SASL_SSL",
    "source.cluster.sasl.mechanism": "OAUTHBEARER",
}
TOKEN_URL = "source.cluster.sasl.oauthbearer.token.endpoint.url"
JAAS = "source.cluster.sasl.jaas.config"
CLIENT = 'OAuthBearerLoginModule required clientId="me" clientSecret="hush";'


def through_rest(config: dict[str, str], more: str = "", **environment: str) -> Connector:
    its = worker(more, environment)
    return read_connector("c", {**SOURCE, **config}, its, its.permitted)


def test_a_file_that_is_not_permitted_is_a_problem_and_the_operators_own_is_none() -> None:
    config = {**SOURCE, **TLS, "source.cluster.ssl.truststore.location": "/etc/shadow"}

    (problem,) = through_rest(config).problems

    assert problem.startswith("source.cluster.ssl.truststore.location: ")
    assert "rest.connector.allowed.paths" in problem
    assert not through_rest(config, "rest.connector.allowed.paths = /etc/shadow\n").problems
    assert not read_connector("c", config, worker()).problems


def test_the_value_of_a_placeholder_is_checked_as_if_written_there(tmp_path: Path) -> None:
    (tmp_path / "stores.properties").write_text(
        'path = /etc/shadow\njaas = " useKeyTab="true" keyTab="/etc/shadow\n'
    )
    providers = (
        "config.providers = file\nconfig.providers.file.class = FileConfigProvider\n"
        f"config.providers.file.param.allowed.paths = {tmp_path}\n"
    )
    reference = f"${{file:{tmp_path}/stores.properties:%s}}"

    (named,) = through_rest(
        {**TLS, "source.cluster.ssl.truststore.location": reference % "path"}, providers
    ).problems
    (injected,) = through_rest(
        {
            "source.cluster.security.protocol": "SASL_SSL",
            "source.cluster.sasl.mechanism": "GSSAPI",
            "source.cluster.sasl.kerberos.service.name": "kafka",
            JAAS: f'M required principal="{reference % "jaas"}";',
        },
        providers,
    ).problems

    assert named.startswith("source.cluster.ssl.truststore.location: ")
    assert injected.startswith(f"{JAAS}: ")
    assert "/etc/shadow" not in named + injected


@pytest.mark.parametrize("limit", ["provider", "rest", "none"])
def test_a_provider_reads_for_rest_only_where_the_worker_lets_it(
    tmp_path: Path, limit: str
) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/a.properties").write_text("topics = orders\n")
    (tmp_path / "private.properties").write_text("topics = orders\n")
    (tmp_path / "secrets/link").symlink_to(tmp_path / "private.properties")
    provider = "config.providers = f, d\nconfig.providers.f.class = FileConfigProvider\n"
    provider += "config.providers.d.class = DirectoryConfigProvider\n"
    provider += {
        "provider": f"config.providers.f.param.allowed.paths = {tmp_path}/secrets\n"
        f"config.providers.d.param.allowed.paths = {tmp_path}/secrets\n",
        "rest": f"rest.connector.allowed.paths = {tmp_path}/secrets\n",
        "none": "",
    }[limit]

    def problems(reference: str) -> tuple[str, ...]:
        return through_rest({"topics": reference}, provider).problems

    within = problems(f"${{f:{tmp_path}/secrets/a.properties:topics}}")
    assert bool(within) == (limit == "none")
    assert problems(f"${{f:{tmp_path}/private.properties:topics}}")
    assert problems(f"${{f:{tmp_path}/secrets/../private.properties:topics}}")
    assert problems(f"${{f:{tmp_path}/secrets/link:topics}}")
    assert problems(f"${{d:{tmp_path}/secrets:link}}")
    assert problems(f"${{d:{tmp_path}:private.properties}}")


def test_the_workers_environment_is_open_to_rest_by_its_pattern_only() -> None:
    provider = "config.providers = env\nconfig.providers.env.class = EnvVarConfigProvider\n"
    pattern = "config.providers.env.param.allowlist.pattern = MIRROR_.*\n"
    config = {"topics": "${env:MIRROR_TOPICS}"}

    (closed,) = through_rest(config, provider, MIRROR_TOPICS="orders").problems

    assert "param.allowlist.pattern" in closed
    assert not through_rest(config, provider + pattern, MIRROR_TOPICS="orders").problems
    assert through_rest({"topics": "${env:AWS}"}, provider + pattern, AWS="key").problems


def test_a_token_endpoint_is_asked_only_if_the_worker_lists_it() -> None:
    config = {**OAUTH, JAAS: CLIENT, TOKEN_URL: "https://idp.example.com/realms/a/token"}

    (problem,) = through_rest(config).problems

    assert problem.startswith(f"{TOKEN_URL}: ")
    assert "rest.connector.allowed.urls" in problem
    for allowed in (
        "https://idp.example.com/realms/",
        "https://IDP.example.com:443/realms/a/token",
    ):
        assert not through_rest(config, f"rest.connector.allowed.urls = {allowed}\n").problems
    for other in (
        "https://idp.example.com/realms",
        "http://idp.example.com/",
        "https://idp.example",
    ):
        assert through_rest(config, f"rest.connector.allowed.urls = {other}\n").problems


@pytest.mark.parametrize(
    "url",
    [
        "https://idp.example.com@evil.example.org/realms/token",
        "https://idp.example.com:443@evil.example.org/realms/token",
        "https://evil.example.org\\@idp.example.com/realms/token",
        "https://idp.example.com/realms/../admin",
        "https://idp.example.com/realms/%2e%2e/admin",
        "https://idp.example.com/realms/..%2fadmin",
        "https://idp.example.com.evil.example.org/realms/token",
        "https://idp.example.com:8443/realms/token",
        "//idp.example.com/realms/token",
        "ftp://idp.example.com/realms/token",
    ],
)
def test_no_other_spelling_of_a_url_is_taken_for_one_that_is_listed(url: str) -> None:
    config = {**OAUTH, JAAS: CLIENT, TOKEN_URL: url}

    assert through_rest(
        config, "rest.connector.allowed.urls = https://idp.example.com/realms/\n"
    ).problems


@pytest.mark.parametrize(
    ("mechanism", "jaas", "identity"),
    [
        ("AWS_MSK_IAM", "IAMLoginModule required;", "aws"),
        ("GSSAPI", "Krb5LoginModule required useTicketCache=true;", "kerberos"),
    ],
)
def test_the_workers_own_identity_is_used_only_if_allowed(
    mechanism: str, jaas: str, identity: str
) -> None:
    config = {
        "source.cluster.security.protocol": "SASL_SSL",
        "source.cluster.sasl.mechanism": mechanism,
        "source.cluster.sasl.kerberos.service.name": "kafka",
        JAAS: jaas,
    }

    (problem,) = through_rest(config).problems

    assert f"the worker's own {identity} identity" in problem
    allowed = f"rest.connector.allowed.identities = {identity}\n"
    assert not through_rest(config, allowed).problems


def test_the_workers_producer_logs_in_as_its_own_file_says() -> None:
    """What the worker's file names needs no permission, nor does its own identity towards its cluster."""
    own = (
        "producer.security.protocol = SASL_SSL\nproducer.sasl.mechanism = AWS_MSK_IAM\n"
        "producer.sasl.jaas.config = IAMLoginModule required;\n"
        "producer.ssl.truststore.location = /etc/worker.jks\n"
    )

    assert not through_rest({}, own).problems


def test_the_workers_login_does_not_follow_a_connector_to_another_address() -> None:
    own = (
        "producer.security.protocol = SASL_SSL\nproducer.sasl.mechanism = PLAIN\n"
        'producer.sasl.jaas.config = M required username="worker" password="hush";\n'
    )
    override = {"producer.override.bootstrap.servers": "evil:9092"}
    login = {"producer.override.sasl.jaas.config": 'M required username="me" password="mine";'}

    (problem,) = through_rest(override, own).problems

    assert problem.startswith("producer.override.bootstrap.servers: ")
    assert "producer.override.sasl.jaas.config" in problem
    assert through_rest({"producer.override.security.protocol": "SASL_PLAINTEXT"}, own).problems
    assert not through_rest({**override, **login}, own).problems
    assert not read_connector("c", {**SOURCE, **override}, worker(own)).problems


def test_a_class_is_imported_only_from_modules_that_the_worker_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "marking.py").write_text("import sys\nsys.marked = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    (problem,) = through_rest({"topic.filter.class": "marking:Filter"}).problems

    assert "rest.connector.allowed.modules" in problem
    assert not hasattr(sys, "marked")


@pytest.mark.parametrize(
    "url", ["http://[", "http://a:b/", "http://a:99999999/", "fi\tle:///etc/shadow", "http:///x"]
)
def test_a_url_that_is_none_is_a_problem_and_not_a_failure(url: str) -> None:
    (problem,) = through_rest({**OAUTH, JAAS: CLIENT, TOKEN_URL: url}).problems

    assert problem.startswith(f"{TOKEN_URL}: expected")


@pytest.mark.parametrize("option", ["unsecuredLoginLifetimeSeconds", "unsecuredLoginNumberClaim_x"])
@pytest.mark.parametrize("number", ["inf", "nan", "1e999", "many"])
def test_a_number_that_is_none_is_a_problem_and_not_a_failure(option: str, number: str) -> None:
    jaas = f'M required unsecuredLoginStringClaim_sub="a" {option}="{number}";'

    (problem,) = through_rest({**OAUTH, JAAS: jaas}).problems

    assert problem.startswith(f"{JAAS}: {option}: expected a number")
