from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from heliograph.embedded import Cluster, Listener, SecurityProtocol, Tls

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin",
}
USERS = {"admin": 'a "quoted" \\ secret', "alice": "alice's secret"}


def admin_client(bootstrap_servers: str, **settings: Any) -> AdminClient:
    dotted = {key.replace("_", "."): value for key, value in settings.items()}
    return AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0, **dotted})


def create(admin: AdminClient, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)


def test_plain_users_meet_the_authorizer_and_a_wrong_password_stays_out() -> None:
    listener = Listener(
        protocol=SecurityProtocol.SASL_PLAINTEXT, mechanisms=("PLAIN",), users=USERS
    )
    with Cluster("guarded", listeners=[listener], settings=AUTHORIZER) as cluster:

        def login(user: str, password: str) -> AdminClient:
            return admin_client(
                cluster.bootstrap_servers,
                security_protocol="SASL_PLAINTEXT",
                sasl_mechanism="PLAIN",
                sasl_username=user,
                sasl_password=password,
            )

        create(login("admin", USERS["admin"]), "allowed")
        with pytest.raises(KafkaException) as refused:
            create(login("alice", USERS["alice"]), "refused")
        with pytest.raises(KafkaException) as stranger:
            login("alice", "guessed").list_topics(timeout=2)

    assert refused.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert stranger.value.args[0].code() == KafkaError._TRANSPORT


@pytest.mark.parametrize("nodes", [1, 3])
def test_scram_users_are_there_from_the_start(nodes: int) -> None:
    listener = Listener(
        protocol=SecurityProtocol.SASL_PLAINTEXT,
        mechanisms=("SCRAM-SHA-256", "SCRAM-SHA-512"),
        users={"alice": "secret"},
    )
    with Cluster("scram", nodes=nodes, listeners=[listener]) as cluster:
        for mechanism in listener.mechanisms:
            admin = admin_client(
                cluster.bootstrap_servers,
                security_protocol="SASL_PLAINTEXT",
                sasl_mechanism=mechanism,
                sasl_username="alice",
                sasl_password="secret",
            )
            assert len(admin.list_topics(timeout=30).brokers) == nodes


def test_unsecured_oauth_tokens_are_taken() -> None:
    listener = Listener(protocol=SecurityProtocol.SASL_PLAINTEXT, mechanisms=("OAUTHBEARER",))
    with Cluster("oauth", listeners=[listener]) as cluster:
        admin = admin_client(
            cluster.bootstrap_servers,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            enable_sasl_oauthbearer_unsecure_jwt="true",
            sasl_oauthbearer_config="principal=alice",
        )
        admin.poll(0)
        assert len(admin.list_topics(timeout=30).brokers) == 1


def test_tls_from_pem_files_beside_a_plain_listener(tmp_path: Path) -> None:
    key, certificate, keystore = (tmp_path / name for name in ("key", "cert", "keystore.pem"))
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    keystore.write_text(key.read_text() + certificate.read_text())
    listeners = [
        Listener(protocol=SecurityProtocol.SSL, tls=Tls(keystore=keystore)),
        Listener(name="PLAIN"),
    ]
    with Cluster("tls", listeners=listeners) as cluster:
        over_tls = admin_client(
            cluster.bootstrap_servers, security_protocol="SSL", ssl_ca_location=str(certificate)
        )
        over_plain = admin_client(cluster.bootstrap("PLAIN"))

        ids = [admin.list_topics(timeout=30).cluster_id for admin in (over_tls, over_plain)]

        assert ids == [cluster.cluster_id] * 2
        assert cluster.bootstrap_servers != cluster.bootstrap("PLAIN")
