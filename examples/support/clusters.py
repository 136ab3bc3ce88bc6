"""The clusters of the stories: listeners as of Event Streams, Strimzi, MSK and Event Hubs.

| listener | stands for | login |
|---|---|---|
| CLIENT | the local cluster of Docker Compose | none |
| TLS | Strimzi's route: TLS, certificate of a private authority | none |
| SASL | Event Streams (PLAIN, user `token`), Strimzi and MSK (SCRAM-SHA-512) | over TLS |
| HUB | Event Hubs (PLAIN, user `$ConnectionString`) | over TLS |

Super user is the administrator on CLIENT; the others have the rights that a story gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.certificates import Authority, keytool
from heliograph.embedded import Cluster, Listener, SecurityProtocol, Tls
from heliograph.embedded.ports import HeldPorts

#: Fictitious, as all secrets of the stories.
API_KEY = "am_5tories-0f-event-5treams"
SCRAM_USER, SCRAM_PASSWORD = "mirror-maker", "scram-5ecret-0f-the-5tories"
HUB_KEY_NAME, HUB_KEY = "mm2-policy", "ZmljdGl0aW91cyBrZXkgb2YgYSBzdG9yeQ=="
STORE_PASSWORD = "password"
SECRETS = (API_KEY, SCRAM_PASSWORD, HUB_KEY)

_AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "log.retention.ms": "-1",
    "auto.create.topics.enable": "true",  # Kafka's default; a user without the right creates nothing
}


@dataclass(frozen=True, kw_only=True)
class Keys:
    """`ca.crt` as a Strimzi Secret has it, `truststore.jks` as keytool makes it of that."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def truststore(self) -> Path:
        return self.folder / "truststore.jks"


def make_keys(folder: Path) -> Keys:
    keys, authority = Keys(folder=folder), Authority("cluster-ca v0")
    server = authority.issue("kafka", ["localhost", "127.0.0.1"])
    keys.ca.write_text(authority.identity.pem)
    (folder / "server.pem").write_text(server.key() + server.pem)
    keytool(
        *("-import", "-trustcacerts", "-alias", "root", "-file", keys.ca, "-storetype", "JKS"),
        *("-keystore", keys.truststore, "-storepass", STORE_PASSWORD),
    )
    return keys


def guarded(name: str, keys: Keys, nodes: int) -> Cluster:
    tls = Tls(keystore=keys.folder / "server.pem")
    with HeldPorts() as held:
        ports = tuple(held.take() for _ in range(nodes))
    return Cluster(
        name,
        nodes=nodes,
        heap="256m",
        settings=_AUTHORIZER,
        listeners=[
            Listener(),
            Listener(name="TLS", protocol=SecurityProtocol.SSL, tls=tls),
            Listener(
                name="SASL",
                protocol=SecurityProtocol.SASL_SSL,
                mechanisms=("PLAIN", "SCRAM-SHA-512"),
                users={"token": API_KEY, SCRAM_USER: SCRAM_PASSWORD},
                tls=tls,
            ),
            Listener(
                name="HUB",
                protocol=SecurityProtocol.SASL_SSL,
                mechanisms=("PLAIN",),
                users={"$ConnectionString": connection_string(f"127.0.0.1:{ports[0]}")},
                tls=tls,
                ports=ports,
            ),
        ],
    )


def connection_string(address: str) -> str:
    """The password of Event Hubs; it contains the address."""
    return f"Endpoint=sb://{address}/;SharedAccessKeyName={HUB_KEY_NAME};SharedAccessKey={HUB_KEY}"
