from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from heliograph.embedded import Cluster, Listener, SecurityProtocol, Tls
from heliograph.embedded.listener import SCRAM
from support.waiting import PATIENCE_SECONDS

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin",
}
USERS = {"admin": 'a "quoted" \\ secret', "alice": "alice's secret"}


def admin_client(bootstrap_servers: str, **settings: Any) -> AdminClient:
    dotted = {key.replace("_", "."): value for key, value in settings.items()}
    return AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0, **dotted})


def create(admin: AdminClient, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of this machine, its key beside it; `keystore.pem` has both."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    (folder / "keystore.pem").write_text(key.read_text() + certificate.read_text())
    return certificate


@pytest.fixture(scope="module")
def guarded(certificate: Path) -> Iterator[Cluster]:
    """One broker with a listener of every kind, and an authorizer."""
    tls = Tls(keystore=certificate.parent / "keystore.pem")
    sasl = SecurityProtocol.SASL_PLAINTEXT
    listeners = [
        Listener(name="USERS", protocol=sasl, mechanisms=("PLAIN",), users=USERS),
        Listener(name="SCRAM", protocol=sasl, mechanisms=SCRAM, users={"alice": "secret"}),
        Listener(name="OAUTH", protocol=sasl, mechanisms=("OAUTHBEARER",)),
        Listener(name="TLS", protocol=SecurityProtocol.SSL, tls=tls),
        Listener(name="OPEN"),
    ]
    with Cluster("guarded", listeners=listeners, settings=AUTHORIZER) as cluster:
        yield cluster


def test_plain_users_meet_the_authorizer_and_a_wrong_password_stays_out(guarded: Cluster) -> None:
    def login(user: str, password: str) -> AdminClient:
        return admin_client(
            guarded.bootstrap("USERS"),
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


def scram_users_see(cluster: Cluster, nodes: int) -> None:
    for mechanism in SCRAM:
        admin = admin_client(
            cluster.bootstrap("SCRAM"),
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism=mechanism,
            sasl_username="alice",
            sasl_password="secret",
        )
        assert len(admin.list_topics(timeout=PATIENCE_SECONDS).brokers) == nodes


def test_scram_users_are_there_from_the_start(guarded: Cluster) -> None:
    scram_users_see(guarded, 1)


def test_scram_users_are_there_on_every_broker() -> None:
    listener = Listener(
        name="SCRAM",
        protocol=SecurityProtocol.SASL_PLAINTEXT,
        mechanisms=SCRAM,
        users={"alice": "secret"},
    )
    with Cluster("scram", nodes=2, listeners=[listener]) as cluster:
        scram_users_see(cluster, 2)


def test_unsecured_oauth_tokens_are_taken(guarded: Cluster) -> None:
    admin = admin_client(
        guarded.bootstrap("OAUTH"),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        enable_sasl_oauthbearer_unsecure_jwt="true",
        sasl_oauthbearer_config="principal=alice",
    )
    admin.poll(0)
    assert len(admin.list_topics(timeout=PATIENCE_SECONDS).brokers) == 1


def test_tls_from_pem_files_beside_a_plain_listener(guarded: Cluster, certificate: Path) -> None:
    over_tls = admin_client(
        guarded.bootstrap("TLS"), security_protocol="SSL", ssl_ca_location=str(certificate)
    )
    over_plain = admin_client(guarded.bootstrap("OPEN"))

    ids = [
        admin.list_topics(timeout=PATIENCE_SECONDS).cluster_id for admin in (over_tls, over_plain)
    ]

    assert ids == [guarded.cluster_id] * 2
    assert guarded.bootstrap("TLS") != guarded.bootstrap("OPEN")
