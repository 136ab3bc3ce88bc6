"""Security settings of one client, and of the clients of a file."""

from __future__ import annotations

import pickle

import pytest

from heliograph.config.mirror_client_config import mirror_client_config
from heliograph.config.security.connection import read_security
from heliograph.model import ClientKind
from heliograph.security import (
    PLAINTEXT,
    AwsIam,
    GivenToken,
    Kerberos,
    Password,
    Security,
    TokenEndpoint,
    UnsecuredToken,
)
from support.configurations.mm2_files import BASE, Reader

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
IAM = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}
IAM_MODULE = "software.amazon.msk.auth.iam.IAMLoginModule required"


def security(settings: dict[str, str]) -> Security:
    found, problems = read_security(settings)
    assert problems == []
    return found


def problem(settings: dict[str, str]) -> str:
    _, (found,) = read_security(settings)
    return found.describe(found.setting, settings.get(found.setting))


def sasl(mechanism: str, jaas: str, **more: str) -> dict[str, str]:
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism}
    return settings | {"sasl.jaas.config": jaas} | {k.replace("_", "."): v for k, v in more.items()}


def credentials(settings: dict[str, str]) -> object:
    found = security(settings).sasl
    assert found is not None
    return found.credentials


def test_without_settings_there_is_no_security() -> None:
    assert security({}) == security({"security.protocol": "plaintext"}) == PLAINTEXT


def test_tls_verifies_host_names_by_default() -> None:
    tls = security({"security.protocol": "ssl"}).tls
    assert tls is not None
    assert tls.verify_host
    assert tls.truststore is None
    lax = {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": ""}
    tls = security(lax).tls
    assert tls is not None
    assert not tls.verify_host


def test_stores_are_files_or_stand_in_the_configuration() -> None:
    files = security(
        {
            "security.protocol": "SSL",
            "ssl.truststore.location": "/t.jks",
            "ssl.truststore.password": "hush",
            "ssl.keystore.location": "/k.p12",
            "ssl.keystore.type": "pkcs12",
            "ssl.key.password": "hush",
        }
    ).tls
    assert files is not None
    assert files.truststore is not None
    assert (files.truststore.type, files.truststore.location) == ("JKS", "/t.jks")
    assert files.keystore is not None
    assert (files.keystore.type, files.keystore.is_read) == ("PKCS12", False)
    inline = security(
        {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": "-----BEGIN …",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": "-----BEGIN …",
            "ssl.keystore.key": "hush",
        }
    ).tls
    assert inline is not None
    assert inline.truststore is not None
    assert inline.truststore.is_read
    for each in (files, inline):
        assert "hush" not in repr(each)
        assert pickle.loads(pickle.dumps(each)) == each


def test_an_old_ssl_protocol_holds_where_no_list_is_given() -> None:
    old = {"security.protocol": "SSL", "ssl.protocol": "TLSv1.2"}
    for settings, protocols in (
        (old, ("TLSv1.2",)),
        (old | {"ssl.enabled.protocols": "TLSv1.3,TLSv1.2,TLSv1.1"}, ("TLSv1.2", "TLSv1.3")),
    ):
        tls = security(settings).tls
        assert tls is not None
        assert tls.protocols == protocols


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_user_and_password_stand_in_the_jaas_line(mechanism: str) -> None:
    found = credentials(sasl(mechanism, f'{SCRAM} username="alice" password="hush";'))

    assert found == Password(username="alice", password="hush")  # type: ignore[arg-type]
    assert "hush" not in repr(found)


def test_delegation_tokens_log_in_with_scram() -> None:
    found = credentials(
        sasl("SCRAM-SHA-256", f'{SCRAM} username="id" password="h" tokenauth="true";')
    )

    assert isinstance(found, Password)
    assert found.is_token


def test_lines_of_msk_guides() -> None:
    assert credentials(IAM | {"sasl.jaas.config": f"{IAM_MODULE};"}) == AwsIam()
    options = (
        'awsProfileName="p" awsRoleArn="arn:aws:iam::1:role/r" awsRoleSessionName="s" '
        'awsStsRegion="eu-west-1" awsDebugCreds=true'
    )
    found = credentials(IAM | {"sasl.jaas.config": f"{IAM_MODULE} {options};"})
    assert found == AwsIam(
        profile="p",
        role_arn="arn:aws:iam::1:role/r",
        role_session_name="s",
        sts_region="eu-west-1",
    )
    as_oauth = sasl(
        "OAUTHBEARER",
        f"{OAUTH} awsProfileName=p;",
        sasl_login_callback_handler_class="software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
    )
    assert credentials(as_oauth) == AwsIam(profile="p")


def test_tokens_come_from_an_endpoint_by_client_credentials() -> None:
    handler = "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"
    shared = {
        "sasl.login.callback.handler.class": handler,
        "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
    }
    old = sasl("OAUTHBEARER", f'{OAUTH} clientId="me" clientSecret="hush" scope="s";') | shared
    new = sasl("OAUTHBEARER", f"{OAUTH};") | shared
    new |= {
        "sasl.oauthbearer.client.credentials.client.id": "me",
        "sasl.oauthbearer.client.credentials.client.secret": "hush",
        "sasl.oauthbearer.scope": "s",
    }

    found = credentials(old)

    assert found == credentials(new)
    assert isinstance(found, TokenEndpoint)
    assert (found.url, found.client_id, found.scope) == ("https://idp/token", "me", "s")
    assert "hush" not in repr(found)


def test_tokens_come_from_a_file() -> None:
    settings = sasl("OAUTHBEARER", f"{OAUTH};") | {
        "sasl.oauthbearer.token.endpoint.url": "file:///run/a%20token"
    }

    assert credentials(settings) == GivenToken(location="/run/a token")


def test_strimzis_handler_is_understood() -> None:
    handler = {
        "sasl.login.callback.handler.class": (
            "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
        )
    }
    line = (
        f'{OAUTH} oauth.client.id="me" oauth.client.secret="hush" '
        'oauth.token.endpoint.uri="https://sso/token" oauth.ssl.truststore.location="/ca.p12" '
        'oauth.ssl.truststore.type="PKCS12";'
    )

    found = credentials(sasl("OAUTHBEARER", line) | handler)

    assert isinstance(found, TokenEndpoint)
    assert found.url == "https://sso/token"
    assert found.tls.truststore is not None
    assert found.tls.truststore.type == "PKCS12"
    given = credentials(sasl("OAUTHBEARER", f'{OAUTH} oauth.access.token="t";') | handler)
    assert given == GivenToken(token="t")  # type: ignore[arg-type]


def test_unsecured_tokens_carry_the_claims_of_the_line() -> None:
    line = (
        f'{OAUTH} unsecuredLoginStringClaim_sub="alice" unsecuredLoginNumberClaim_n="2" '
        'unsecuredLoginListClaim_scope=",a,b" unsecuredLoginExtension_x="y" '
        'unsecuredLoginLifetimeSeconds="30";'
    )

    assert credentials(sasl("OAUTHBEARER", line)) == UnsecuredToken(
        claims=(("sub", '"alice"'), ("n", "2"), ("scope", '["a", "b"]')),
        lifetime_seconds=30,
        extensions=(("x", "y"),),
    )


def test_kerberos_by_keytab_or_ticket_cache() -> None:
    module = "com.sun.security.auth.module.Krb5LoginModule required"
    by_file = sasl(
        "GSSAPI",
        f'{module} useKeyTab=true keyTab="/k" principal="mm2@R";',
        sasl_kerberos_service_name="kafka",
    )
    by_cache = sasl("GSSAPI", f"{module} useTicketCache=true serviceName=kafka;")

    assert credentials(by_file) == Kerberos(service="kafka", principal="mm2@R", keytab="/k")
    assert credentials(by_cache) == Kerberos(service="kafka")


SSL = {"security.protocol": "SSL"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (SSL | {"ssl.truststore.location": "/t", "ssl.truststore.type": "BCFKS"},
         "ssl.truststore.type: expected JKS, PKCS12 or PEM, found 'BCFKS'"),
        (SSL | {"ssl.truststore.certificates": "hush"},
         "ssl.truststore.type: expected PEM, since the certificates are in the configuration itself"),
        (SSL | {"ssl.truststore.location": "/t", "ssl.truststore.certificates": "hush",
                "ssl.truststore.type": "PEM"},
         "ssl.truststore.certificates: expected either this or ssl.truststore.location, found both"),
        (SSL | {"ssl.keystore.type": "PEM", "ssl.keystore.key": "hush"},
         "ssl.keystore.certificate.chain: missing; expected a key and its certificates, both as PEM"),
        (SSL | {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/k",
                "ssl.keystore.password": "hush"},
         "ssl.keystore.password: not allowed: a PEM store has no password; set ssl.key.password for the key"),
        (SSL | {"ssl.endpoint.identification.algorithm": "none"},
         "ssl.endpoint.identification.algorithm: expected https, or an empty value to accept "
         "any host name, found 'none'"),
        (SSL | {"ssl.enabled.protocols": "TLSv1"},
         "ssl.enabled.protocols: expected TLSv1.2 or TLSv1.3, found 'TLSv1'"),
        (sasl("DIGEST-MD5", "hush"),
         "sasl.mechanism: expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, "
         "AWS_MSK_IAM, GSSAPI, found 'DIGEST-MD5'"),
        (sasl("PLAIN", ""),
         "sasl.jaas.config: missing; expected the login module of PLAIN and its options"),
        (sasl("PLAIN", f"{SCRAM} username=hush password=hush"),
         "sasl.jaas.config: not in JAAS format: expected a semicolon at the end"),
        (sasl("PLAIN", f"{SCRAM} username=hush;"),
         "sasl.jaas.config: password is missing; PLAIN needs username and password, found the "
         "options username of ScramLoginModule"),
        (sasl("PLAIN", f"{SCRAM};", sasl_login_callback_handler_class="my.Own"),
         "sasl.login.callback.handler.class: expected one of AbstractLogin$DefaultLoginCallbackHandler, "
         "IAMOAuthBearerLoginCallbackHandler, JaasClientOauthLoginCallbackHandler, "
         "OAuthBearerLoginCallbackHandler, OAuthBearerUnsecuredLoginCallbackHandler (other Java classes "
         "cannot run here), found 'my.Own'"),
        (IAM | {"sasl.jaas.config": f"{IAM_MODULE};", "security.protocol": "SASL_PLAINTEXT"},
         "security.protocol: expected SASL_SSL, since AWS_MSK_IAM requires TLS, found 'SASL_PLAINTEXT'"),
        (sasl("OAUTHBEARER", f"{OAUTH};"),
         "sasl.jaas.config: no source of tokens: expected sasl.oauthbearer.token.endpoint.url, or for "
         'tests the option unsecuredLoginStringClaim_sub="…"'),
        (sasl("OAUTHBEARER", f"{OAUTH};") | {"sasl.oauthbearer.token.endpoint.url": "https://x"},
         "sasl.jaas.config: clientId is missing; expected it here or as "
         "sasl.oauthbearer.client.credentials.client.id"),
        (sasl("GSSAPI", "m.K required;"),
         "sasl.kerberos.service.name: missing; it is usually kafka"),
    ],
)  # fmt: skip
def test_a_problem_names_its_setting_and_no_secret(settings: dict[str, str], sentence: str) -> None:
    assert problem(settings) == sentence
    assert "hush" not in sentence


# ── of a file ────────────────────────────────────────────────────────────────────────────────


def test_each_side_and_each_kind_of_client_has_security_of_its_own(mm2: Reader) -> None:
    mirror = mm2(
        BASE
        + "us.security.protocol = SSL\neu.security.protocol = SASL_PLAINTEXT\n"
        + f"eu.sasl.mechanism = PLAIN\neu.sasl.jaas.config = {SCRAM} username=a password=b;\n"
        + f"eu.producer.sasl.jaas.config = {SCRAM} username=writer password=b;\n"
    )

    us, eu = mirror.cluster("us"), mirror.cluster("eu")
    assert us.security.tls is not None
    assert us.security.sasl is None
    users = {
        kind: eu.for_client(kind).security.sasl.credentials.username  # type: ignore[union-attr]
        for kind in ClientKind
    }
    assert users == {"consumer": "a", "producer": "writer", "admin": "a"}
    assert eu.security.key("sasl.jaas.config") == "eu.sasl.jaas.config"
    writer = eu.for_client(ClientKind.PRODUCER).security
    assert writer.key("sasl.jaas.config") == "eu.producer.sasl.jaas.config"


def test_a_flow_may_reach_its_clusters_in_its_own_way(mm2: Reader) -> None:
    mirror = mm2(BASE + "us->eu.source.consumer.security.protocol = SSL\n")

    assert mirror.cluster("us").by_client == ()
    own = mirror.cluster("us", "us->eu")
    assert own.for_client(ClientKind.CONSUMER).security.tls is not None
    assert own.for_client(ClientKind.ADMIN).security == PLAINTEXT
    assert own.for_client(ClientKind.CONSUMER).for_client(ClientKind.ADMIN).security == PLAINTEXT
    assert mirror.cluster("eu", "us->eu") == mirror.cluster("eu")


def test_a_problem_names_the_key_and_the_line_once(mm2: Reader) -> None:
    assert mm2.problems(
        BASE + "eu.security.protocol = SASL_SSL\neu.sasl.mechanism = PLAIN\n"
        "eu.sasl.jaas.config = password=hunter2;\n"
    ) == [
        "eu.sasl.jaas.config: not in JAAS format: expected the control flag required, requisite, "
        "sufficient or optional after the class (mm2.properties:7)"
    ]
    assert mm2.problems(BASE + "eu.security.protocol = sasl_ssl\neu.sasl.mechanism = PLAIN\n") == [
        "eu.sasl.jaas.config: missing; expected the login module of PLAIN and its options "
        "(mm2.properties)"
    ]


def test_credentials_that_no_protocol_asks_for_are_reported(mm2: Reader) -> None:
    mirror = mm2(BASE + f"eu.sasl.jaas.config = {SCRAM} username=a password=b;\n")

    assert mirror.warnings == (
        "eu.sasl.jaas.config: has no effect: security.protocol is PLAINTEXT (mm2.properties:5)",
    )


def test_security_of_a_flow_without_a_client_has_no_effect(mm2: Reader) -> None:
    assert mm2(BASE + "us->eu.ssl.truststore.location = /t\n").warnings == (
        "us->eu.ssl.truststore.location: has no effect, as in MM2; write us.ssl.truststore.location "
        "or eu.ssl.truststore.location (mm2.properties:5)",
    )


def test_what_needs_java_is_refused(mm2: Reader) -> None:
    assert mm2.problems(BASE + "eu.ssl.engine.factory.class = my.Factory\n") == [
        "eu.ssl.engine.factory.class: not supported by this version; leave the setting out "
        "(mm2.properties:5)"
    ]


def test_a_mirror_client_logs_in_as_its_properties_say() -> None:
    config = mirror_client_config(
        {
            "bootstrap.servers": "a:1",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.jaas.config": f"{SCRAM} username=a password=b;",
            "consumer.sasl.mechanism": "SCRAM-SHA-512",
        }
    )

    assert config.admin.security.sasl is not None
    assert config.admin.security.sasl.mechanism == "SCRAM-SHA-256"
    assert config.consumer.security.sasl is not None
    assert config.consumer.security.sasl.mechanism == "SCRAM-SHA-512"
