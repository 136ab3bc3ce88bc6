"""Says in words how far a connection got, with a remedy for each way in which it fails. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from heliograph.client.net.probe import Probe, Stage
from heliograph.client.security.certificates import Certificate, TlsSession
from heliograph.errors import (
    BadKeyMaterial,
    ClientError,
    ConnectionLost,
    LoginFailed,
    TlsFailed,
    Unreachable,
)
from heliograph.inspection.check.report import Outcome, Step
from heliograph.model import ClusterConfig
from heliograph.security import AwsIam, Kerberos, Password, Security

_DAY_MS = 24 * 3600 * 1000
#: Kubernetes and cloud services renew certificates about a month before they expire.
_SOON_DAYS = 30
#: X509_V_ERR_…
_EXPIRED, _NOT_YET_VALID = 10, 9
_WRONG_HOST = frozenset({62, 64})
#: Of the fetch and the offsets that Heliograph needs.
OLDEST_KAFKA = (2, 3)
_MOST_NAMES = 6


def login_text(security: Security) -> str:
    """For example `SASL_SSL, PLAIN as alice`; never a secret."""
    tls, sasl = security.tls, security.sasl
    protocol = ("SASL_SSL" if tls else "SASL_PLAINTEXT") if sasl else "SSL" if tls else "PLAINTEXT"
    if sasl is None:
        own = tls is not None and tls.keystore is not None
        return f"{protocol}, with a client certificate" if own else protocol
    user = user_of(security)
    return f"{protocol}, {sasl.mechanism}" + (f" as {user}" if user else "")


def user_of(security: Security) -> str | None:
    """The user's name, if the configuration has it."""
    match security.sasl.credentials if security.sasl is not None else None:
        case Password(username=name):
            return name
        case Kerberos(principal=str() as principal):
            return principal
        case AwsIam(role_arn=str() as role):
            return role
    return None


def connection_steps(
    probes: Sequence[Probe], config: ClusterConfig, now_ms: int
) -> tuple[Step, ...]:
    """Of the bootstrap server that got furthest; others that fail are warnings if one of them works."""
    best = furthest(probes)
    steps = [*_steps(best, config.security, now_ms)]
    for other in probes:
        if other is not best and other.error is not None:
            outcome = Outcome.WARNING if best.error is None else Outcome.FAILED
            step = _failure(other, config.security)
            steps.append(replace(step, outcome=outcome, detail=f"{other.server}: {step.detail}"))
    return tuple(steps)


def furthest(probes: Sequence[Probe]) -> Probe:
    stages = list(Stage)
    return max(probes, key=lambda p: len(stages) if p.failed is None else stages.index(p.failed))


def _steps(found: Probe, security: Security, now_ms: int) -> Iterable[Step]:
    done = {
        Stage.RESOLVE: ", ".join(found.addresses),
        Stage.CONNECT: f"{found.server} in {found.connect_ms} ms",
        Stage.VERSIONS: _version_text(found),
    }
    for stage in Stage:
        if stage is found.failed:
            yield _failure(found, security)
            return
        if stage is Stage.TLS:
            if found.tls is not None:
                yield tls_step(found.tls, now_ms)
        elif stage is Stage.VERSIONS:
            yield _version_step(found, done[stage])
        else:
            yield Step(name=stage, outcome=Outcome.OK, detail=done[stage])


def _version_text(found: Probe) -> str:
    release = ".".join(map(str, found.version))
    features = ", ".join(f"{name}={level}" for name, level in sorted(found.features.items()))
    kind = f"; KRaft, {features}" if "metadata.version" in found.features else ""
    return f"Kafka {release} or newer, by the APIs that the broker offers{kind}"


def _version_step(found: Probe, detail: str) -> Step:
    if found.version >= OLDEST_KAFKA:
        return Step(name=Stage.VERSIONS, outcome=Outcome.OK, detail=detail)
    oldest = ".".join(map(str, OLDEST_KAFKA))
    return Step(
        name=Stage.VERSIONS,
        outcome=Outcome.FAILED,
        detail=detail,
        remedy=f"Heliograph needs Kafka {oldest} or newer: upgrade the brokers",
    )


def tls_step(session: TlsSession, now_ms: int) -> Step:
    agreed = f"{session.protocol}, {session.cipher}"
    certificate = session.certificate
    if certificate is None:
        return Step(name=Stage.TLS, outcome=Outcome.OK, detail=agreed)
    detail = f"{agreed}; {certificate_text(certificate)}"
    days = (certificate.expires_ms - now_ms) // _DAY_MS
    if days >= _SOON_DAYS:
        return Step(name=Stage.TLS, outcome=Outcome.OK, detail=detail)
    return Step(
        name=Stage.TLS,
        outcome=Outcome.WARNING,
        detail=detail,
        remedy=f"the certificate expires in {max(days, 0)} days: renew it on the broker",
    )


def certificate_text(certificate: Certificate) -> str:
    names = ", ".join(certificate.names[:_MOST_NAMES]) or "none"
    more = len(certificate.names) - _MOST_NAMES
    return (
        f"certificate of {certificate.subject}, issued by {certificate.issuer}, valid from "
        f"{date_text(certificate.begins_ms)} to {date_text(certificate.expires_ms)}, for the names {names}"
        + (f" and {more} more" if more > 0 else "")
    )


def date_text(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")


def _failure(found: Probe, security: Security) -> Step:
    assert found.failed is not None
    assert found.error is not None
    detail = str(found.error)
    if found.shown is not None and found.shown.certificate is not None:
        detail = f"{detail}; it shows the {certificate_text(found.shown.certificate)}"
    return Step(
        name=found.failed,
        outcome=Outcome.FAILED,
        detail=detail,
        remedy=_remedy(found, found.failed, found.error, security),
    )


def _remedy(found: Probe, stage: Stage, error: ClientError, security: Security) -> str:
    protocol = security.key("security.protocol")
    sasl = security.sasl is not None
    match stage:
        case Stage.RESOLVE:
            return "check the host name in bootstrap.servers, and this machine's DNS and /etc/hosts"
        case Stage.CONNECT:
            return (
                "check that the broker runs and listens on this port, and that firewalls, security groups "
                "and VPNs let this machine reach it"
            )
        case Stage.TLS if found.is_plaintext:
            right = "SASL_PLAINTEXT" if sasl else "PLAINTEXT"
            return f"the listener speaks Kafka without TLS: set {protocol}={right}, or use the port for TLS"
        case Stage.TLS:
            return tls_remedy(found, error, security)
        case Stage.VERSIONS if found.is_tls:
            right = "SASL_SSL" if sasl else "SSL"
            return f"the listener speaks TLS: set {protocol}={right}, or use the port without TLS"
    return (
        "check that this is the port of a Kafka broker, and not that of a proxy, ZooKeeper or REST"
    )


def tls_remedy(found: Probe, error: ClientError, security: Security) -> str:
    truststore, keystore = (
        security.key(f"ssl.{name}.location") for name in ("truststore", "keystore")
    )
    certificate = found.shown.certificate if found.shown is not None else None
    match error:
        case BadKeyMaterial():
            return "correct the file, its type or its password"
        case TlsFailed(verify_code=code) if code in _WRONG_HOST:
            names = ", ".join(certificate.names[:_MOST_NAMES]) if certificate else ""
            return (
                "use a name of the certificate in bootstrap.servers and the brokers' advertised.listeners"
                + (f" ({names})" if names else "")
                + f", or issue a certificate for this one; {endpoint(security)}= (empty) verifies no name"
            )
        case TlsFailed(verify_code=code) if code == _EXPIRED:
            return "renew the certificate on the broker"
        case TlsFailed(verify_code=code) if code == _NOT_YET_VALID:
            return "set this machine's clock"
        case TlsFailed(verify_code=int()):
            issuer = f" of {certificate.issuer}" if certificate else ""
            return f"add the authority's certificate{issuer} to {truststore}"
        case ConnectionLost():
            return "check that the port is one for TLS, and that the broker is up"
    return f"set {keystore} to a certificate that the broker trusts, or agree on a TLS version"


def endpoint(security: Security) -> str:
    return security.key("ssl.endpoint.identification.algorithm")


def login_failure(error: ClientError, security: Security) -> Step:
    """After the broker has answered ApiVersions: the login, or the first request after it, failed."""
    jaas, protocol = security.key("sasl.jaas.config"), security.key("security.protocol")
    if isinstance(error, LoginFailed) and security.sasl is not None:
        remedy = (
            f"check {security.key('sasl.mechanism')}, and the user and password in {jaas}; ask the "
            "cluster's operator whether this user exists"
        )
    elif security.sasl is None and isinstance(error, ConnectionLost | Unreachable):
        right = "SASL_SSL" if security.tls is not None else "SASL_PLAINTEXT"
        remedy = f"the listener may want a login: set {protocol}={right}, sasl.mechanism and sasl.jaas.config"
    else:
        remedy = "check the broker's log, and try again"
    return Step(name="authenticate", outcome=Outcome.FAILED, detail=str(error), remedy=remedy)
