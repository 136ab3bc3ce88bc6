"""A broker with every kind of listener, and the client properties that open each."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from harness.certificates import Authority, Identity, keytool
from heliograph.embedded import Cluster, Listener, SecurityProtocol, Tls
from support.waiting import PATIENCE_SECONDS

PASSWORD = "alice's/secret"
#: Of flows with few rights, on either side.
LIMITED_USERS = tuple(
    f"{flow}-{side}" for flow in ("free", "bound", "exact") for side in ("source", "target")
)
#: Logs in, and is granted nothing.
UNKNOWN_USER = "bob"
STORE_PASSWORD = "store secret"
#: The shortest session that brokers and clients can renew in peace: not twice within a second.
#: Of which a renewal has the last tenth: time enough for a busy machine.
SESSION_MS = 5000
_MODULES = "org.apache.kafka.common.security"
_HOSTS = ("localhost", "127.0.0.1")


@dataclass(frozen=True, kw_only=True)
class Files:
    """Of one authority, of a client that it vouches for, and of servers good and bad."""

    folder: Path
    authority: Authority
    client: Identity
    stranger: Identity

    def path(self, name: str) -> str:
        return str(self.folder / name)


def make_files(folder: Path) -> Files:
    ours, theirs = Authority("ours"), Authority("theirs")
    client, stranger = ours.issue("alice"), theirs.issue("mallory")
    (folder / "ca.pem").write_text(ours.identity.pem)
    for name, identity in (
        ("server.pem", ours.issue("broker", _HOSTS)),
        ("expired.pem", ours.issue("broker", _HOSTS, life=timedelta(hours=-1))),
        ("elsewhere.pem", ours.issue("broker", ["elsewhere.example"])),
        ("self-signed.pem", Authority("itself").identity),
        ("unknown.pem", theirs.issue("broker", _HOSTS)),
    ):
        (folder / name).write_text(identity.key() + identity.pem)
    secret = BestAvailableEncryption(STORE_PASSWORD.encode())
    p12 = serialize_key_and_certificates(
        b"alice", client.private, client.certificate, [ours.identity.certificate], secret
    )
    (folder / "client.p12").write_bytes(p12)
    for kind in ("JKS", "PKCS12"):
        keytool(
            *("-importcert", "-alias", "ca", "-file", folder / "ca.pem", "-storetype", kind),
            *("-keystore", folder / f"trust.{kind.lower()}", "-storepass", STORE_PASSWORD),
        )
    return Files(folder=folder, authority=ours, client=client, stranger=stranger)


def guarded_cluster(files: Files) -> Cluster:
    """`alice` may do everything, the others what they are granted."""

    def tls(keystore: str, client_auth: str = "none") -> Tls:
        return Tls(
            keystore=files.folder / keystore,
            truststore=files.folder / "ca.pem",
            client_auth=client_auth,
        )

    def over_tls(listener: str, keystore: str, client_auth: str = "none") -> Listener:
        return Listener(
            name=listener, protocol=SecurityProtocol.SSL, tls=tls(keystore, client_auth)
        )

    users = dict.fromkeys(("alice", UNKNOWN_USER, *LIMITED_USERS), PASSWORD)
    return Cluster(
        "guarded",
        listeners=[
            Listener(),
            over_tls("TLS", "server.pem"),
            over_tls("MUTUAL", "server.pem", "required"),
            over_tls("EXPIRED", "expired.pem"),
            over_tls("ELSEWHERE", "elsewhere.pem"),
            over_tls("SELFSIGNED", "self-signed.pem"),
            over_tls("UNKNOWN", "unknown.pem"),
            Listener(
                name="SASL",
                protocol=SecurityProtocol.SASL_PLAINTEXT,
                mechanisms=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"),
                users=users,
            ),
            Listener(
                name="SASLTLS",
                protocol=SecurityProtocol.SASL_SSL,
                mechanisms=("PLAIN", "SCRAM-SHA-512"),
                users=users,
                tls=tls("server.pem"),
            ),
        ],
        settings={
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:alice;User:CN=alice",
            "log.retention.ms": "-1",
            "group.initial.rebalance.delay.ms": "0",
            "listener.name.sasl.scram-sha-256.connections.max.reauth.ms": str(SESSION_MS),
        },
    )


# ── client properties ────────────────────────────────────────────────────────────────────────


def trust(files: Files, kind: str) -> dict[str, str]:
    found = {"security.protocol": "SSL", "ssl.truststore.type": kind}
    if kind == "PEM":
        return found | {"ssl.truststore.location": files.path("ca.pem")}
    return found | {
        "ssl.truststore.location": files.path(f"trust.{kind.lower()}"),
        "ssl.truststore.password": STORE_PASSWORD,
    }


def inline(files: Files) -> dict[str, str]:
    return {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": files.authority.identity.pem,
    }


def client_key(identity: Identity) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": identity.pem,
        "ssl.keystore.key": identity.key(STORE_PASSWORD),
        "ssl.key.password": STORE_PASSWORD,
    }


def password(mechanism: str, secret: str = PASSWORD, user: str = "alice") -> dict[str, str]:
    kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": (
            f'{_MODULES}.{kind}LoginModule required username="{user}" password="{secret}";'
        ),
    }


def token_file(path: Path, lifetime_seconds: float) -> dict[str, str]:
    """A token that somebody keeps fresh; or does not."""
    parts = ({"alg": "none"}, {"sub": "alice", "exp": time.time() + lifetime_seconds})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(f"{part.rstrip('=')}." for part in encoded))
    fresh.rename(path)
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required;",
        "sasl.oauthbearer.token.endpoint.url": path.as_uri(),
    }


def unsecured_token(lifetime_seconds: int = 3600) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": (
            f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required "
            f'unsecuredLoginStringClaim_sub="alice" '
            f'unsecuredLoginLifetimeSeconds="{lifetime_seconds}";'
        ),
    }


def logins(files: Files) -> dict[str, tuple[str, dict[str, str]]]:
    """Every way in that must work: the listener, and what opens it."""
    over_tls = {"security.protocol": "SASL_SSL"}
    pkcs12_key = {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": files.path("client.p12"),
        "ssl.keystore.password": STORE_PASSWORD,
    }
    return {
        "pem": ("TLS", trust(files, "PEM")),
        "inline": ("TLS", inline(files)),
        "jks": ("TLS", trust(files, "JKS")),
        "mutual-pem": ("MUTUAL", inline(files) | client_key(files.client)),
        "mutual-pkcs12": ("MUTUAL", trust(files, "PKCS12") | pkcs12_key),
        "plain": ("SASL", password("PLAIN")),
        "scram256": ("SASL", password("SCRAM-SHA-256")),
        "scram512": ("SASL", password("SCRAM-SHA-512")),
        "oauth": ("SASL", unsecured_token()),
        "plain-tls": ("SASLTLS", trust(files, "JKS") | password("PLAIN") | over_tls),
        "scram-tls": ("SASLTLS", trust(files, "PEM") | password("SCRAM-SHA-512") | over_tls),
    }


# ── of mirrors ───────────────────────────────────────────────────────────────────────────────

SHARED = {
    "replication.factor": "1",
    "sync.topic.acls.enabled": "false",
    "emit.heartbeats.enabled": "false",
    "heartbeats.replication.enabled": "false",
    "once.timeout.seconds": str(int(PATIENCE_SECONDS)),
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
    "same.cluster.id.policy": "accept",  # all aliases are the one guarded cluster
    **{
        f"{name}.replication.factor": "1"
        for name in (
            *("offset.storage", "config.storage", "status.storage"),
            *("offset-syncs.topic", "checkpoints.topic", "heartbeats.topic"),
        )
    },
}


def cluster_properties(
    alias: str, at: Cluster, listener: str, settings: dict[str, str]
) -> dict[str, str]:
    own = {"bootstrap.servers": at.bootstrap(listener), **settings}
    return {f"{alias}.{name}": value for name, value in own.items()}
