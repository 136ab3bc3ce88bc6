from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from harness.certificates import DAY, Authority
from heliograph.client.net.probe import Probe, Stage, Unresolved
from heliograph.client.security.certificates import TlsSession, read_certificate
from heliograph.errors import ClientError, ConnectionLost, LoginFailed, NotKafka, TlsFailed
from heliograph.inspection.check.report import Outcome
from heliograph.inspection.check.steps import connection_steps, login_failure, login_text
from heliograph.model import ClusterConfig
from heliograph.security import Password, Sasl, Secret, Security, Store, Tls

SERVER = "broker1:9092"
AUTHORITY = Authority("ours")
NOW = datetime.now(UTC)
OVER_TLS = Security(tls=Tls(truststore=Store(name="truststore", location="ca.pem")))
SASL = Sasl(mechanism="PLAIN", credentials=Password(username="alice", password=Secret("hush")))


def cluster(security: Security = Security(), *servers: str) -> ClusterConfig:
    return ClusterConfig(alias="us", bootstrap_servers=servers or (SERVER,), security=security)


def session(days: int = 300) -> TlsSession:
    issued = AUTHORITY.issue("broker", ["broker1", "10.0.0.1"], life=days * DAY)
    der = issued.certificate.public_bytes(Encoding.DER)
    return TlsSession(protocol="TLSv1.3", cipher="AES", certificate=read_certificate(der))


def good(server: str = SERVER, tls: TlsSession | None = None) -> Probe:
    return Probe(
        server=server,
        addresses=("10.0.0.1",),
        connect_ms=2,
        tls=tls,
        version=(4, 3),
        features={"metadata.version": 29},
    )


def bad(stage: Stage, error: ClientError, **more: object) -> Probe:
    return Probe(server=SERVER, failed=stage, error=error, **more)  # type: ignore[arg-type]


def now_ms() -> int:
    return int(NOW.timestamp() * 1000)


def the_failure(found: Probe, security: Security = Security()) -> tuple[str, str, str]:
    step = connection_steps([found], cluster(security), now_ms())[-1]
    assert step.outcome is Outcome.FAILED
    return step.name, step.detail, step.remedy


def test_every_stage_is_told() -> None:
    steps = connection_steps([good(tls=session())], cluster(OVER_TLS), now_ms())

    assert [(step.name, step.outcome) for step in steps] == [
        ("resolve", Outcome.OK),
        ("connect", Outcome.OK),
        ("tls", Outcome.OK),
        ("versions", Outcome.OK),
    ]
    expires = (NOW + 300 * DAY).strftime("%Y-%m-%d")
    assert steps[2].detail.startswith(
        "TLSv1.3, AES; certificate of CN=broker, issued by CN=ours, valid from"
    )
    assert steps[2].detail.endswith(f"to {expires}, for the names broker1, 10.0.0.1")
    assert "Kafka 4.3 or newer" in steps[3].detail
    assert "KRaft, metadata.version=29" in steps[3].detail


def test_a_certificate_that_expires_soon_is_a_warning() -> None:
    tls = connection_steps([good(tls=session(10))], cluster(OVER_TLS), now_ms())[2]
    assert tls.outcome is Outcome.WARNING
    assert "expires in" in tls.remedy
    assert "renew it on the broker" in tls.remedy


def test_brokers_that_are_too_old_are_refused() -> None:
    old = Probe(server=SERVER, addresses=("10.0.0.1",), connect_ms=1, version=(2, 0))
    assert "needs Kafka 2.3" in the_failure(old)[2]


def distrusted(code: int) -> TlsFailed:
    error = TlsFailed("not trusted")
    error.verify_code = code
    return error


@pytest.mark.parametrize(
    ("found", "security", "name", "remedy"),
    [
        (bad(Stage.RESOLVE, Unresolved("no address")), Security(), "resolve", "bootstrap.servers"),
        (bad(Stage.CONNECT, ConnectionLost("refused")), Security(), "connect", "firewalls"),
        (
            bad(Stage.TLS, ConnectionLost("closed"), is_plaintext=True),
            OVER_TLS,
            "tls",
            "set security.protocol=PLAINTEXT, or use the port for TLS",
        ),
        (
            bad(Stage.TLS, ConnectionLost("closed"), is_plaintext=True),
            Security(tls=Tls(), sasl=SASL),
            "tls",
            "set security.protocol=SASL_PLAINTEXT",
        ),
        (
            bad(Stage.VERSIONS, NotKafka("TLS"), is_tls=True),
            Security(sasl=SASL),
            "versions",
            "set security.protocol=SASL_SSL",
        ),
        (bad(Stage.VERSIONS, NotKafka("HTTP")), Security(), "versions", "the port of a Kafka broker"),
        (bad(Stage.TLS, distrusted(10)), OVER_TLS, "tls", "renew the certificate on the broker"),
        (
            bad(Stage.TLS, distrusted(20), shown=session()),
            OVER_TLS,
            "tls",
            "add the authority's certificate of CN=ours to ssl.truststore.location",
        ),
        (
            bad(Stage.TLS, distrusted(62), shown=session()),
            OVER_TLS,
            "tls",
            "use a name of the certificate in bootstrap.servers and the brokers' advertised.listeners "
            "(broker1, 10.0.0.1)",
        ),
    ],
)  # fmt: skip
def test_every_failure_has_its_remedy(
    found: Probe, security: Security, name: str, remedy: str
) -> None:
    step, _, said = the_failure(found, security)
    assert step == name
    assert remedy in said


def test_a_certificate_that_is_not_trusted_is_shown() -> None:
    expired = bad(Stage.TLS, distrusted(10), shown=session(-1))
    assert "it shows the certificate of CN=broker" in the_failure(expired, OVER_TLS)[1]


def test_one_server_of_several_that_fails_is_a_warning() -> None:
    lost = Probe(server="broker2:9092", failed=Stage.CONNECT, error=ConnectionLost("refused"))
    steps = connection_steps([lost, good()], cluster(Security(), "broker2:9092", SERVER), now_ms())
    assert [step.outcome for step in steps] == [Outcome.OK] * 3 + [Outcome.WARNING]
    assert steps[-1].detail == "broker2:9092: refused"


def test_a_refused_login_names_the_setting_under_the_users_name() -> None:
    security = Security(sasl=SASL, keys=(("sasl.jaas.config", "us.sasl.jaas.config"),))
    step = login_failure(LoginFailed("refused"), security)
    assert (step.name, step.outcome) == ("authenticate", Outcome.FAILED)
    assert "us.sasl.jaas.config" in step.remedy


def test_a_listener_that_hangs_up_may_want_a_login() -> None:
    assert "SASL_SSL" in login_failure(ConnectionLost("closed"), OVER_TLS).remedy


@pytest.mark.parametrize(
    ("security", "text"),
    [
        (Security(), "PLAINTEXT"),
        (OVER_TLS, "SSL"),
        (Security(tls=Tls(keystore=Store(name="keystore"))), "SSL, with a client certificate"),
        (Security(tls=Tls(), sasl=SASL), "SASL_SSL, PLAIN as alice"),
    ],
)
def test_a_login_is_told_without_its_secret(security: Security, text: str) -> None:
    assert login_text(security) == text
