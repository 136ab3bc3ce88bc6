"""GSSAPI against a real KDC and a real broker: `make kerberos`. Elsewhere both are missing, as a rule."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_client_config import mirror_client_config
from heliograph.embedded import QUICK_JVM, Cluster, Listener, SecurityProtocol
from heliograph.errors import SecurityFailed
from heliograph.spark.session import LocalSpark
from heliograph.wire.messages import MetadataRequest
from support.clusters.guarded import SHARED, cluster_properties
from support.clusters.kdc import REALM, Kdc
from support.clusters.reading import assert_mirrored
from support.clusters.writing import create_topics, numbered, write
from support.flows.mirroring import load_properties, mirror_once
from support.waiting import PATIENCE_SECONDS, eventually

pytest.importorskip("gssapi", reason="python-gssapi is not installed; make kerberos")
if not Kdc.is_here():
    pytest.skip("krb5kdc is not on the PATH; make kerberos", allow_module_level=True)

_MODULE = "com.sun.security.auth.module.Krb5LoginModule required"
_MIRROR = f"mirror@{REALM}"
_SESSION_MS = 2500


class Realm(NamedTuple):
    kdc: Kdc
    keytab: Path
    broker: Cluster


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    folder = tmp_path_factory.mktemp("kdc")
    kdc = Kdc(folder)
    kdc.start()
    keytab = kdc.keytab("mirror")
    service = f"kafka/127.0.0.1@{REALM}"
    login = f'{_MODULE} useKeyTab=true storeKey=true keyTab="{kdc.keytab("kafka/127.0.0.1")}"'
    kerberos = {
        "sasl.enabled.mechanisms": "GSSAPI,PLAIN",
        "gssapi.sasl.jaas.config": f'{login} principal="{service}";',
        "sasl.kerberos.service.name": "kafka",
        "gssapi.connections.max.reauth.ms": str(_SESSION_MS),
    }
    broker = Cluster(
        "kerberos",
        listeners=[
            Listener(),
            Listener(
                name="SASL",
                protocol=SecurityProtocol.SASL_PLAINTEXT,
                mechanisms=("PLAIN",),
                users={"alice": "secret"},
            ),
        ],
        settings={f"listener.name.sasl.{name}": value for name, value in kerberos.items()},
        jvm_args=(*QUICK_JVM, f"-Djava.security.krb5.conf={kdc.config}"),
    )
    # Of Kerberos' own library, in this process and in Spark's workers.
    ours = {"KRB5_CONFIG": str(kdc.config), "KRB5CCNAME": f"FILE:{folder / 'tickets'}"}
    with pytest.MonkeyPatch.context() as patch, broker:
        for name, value in ours.items():
            patch.setenv(name, value)
        yield Realm(kdc, keytab, broker)
    kdc.stop()


def login(options: str, **settings: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": f"{_MODULE} {options};",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }


def with_keytab(path: Path | str, principal: str = _MIRROR) -> dict[str, str]:
    return login(f'useKeyTab=true storeKey=true keyTab="{path}" principal="{principal}"')


def opened(realm: Realm, settings: Mapping[str, str]) -> ClusterClient:
    properties = {"bootstrap.servers": realm.broker.bootstrap("SASL"), **settings}
    config = mirror_client_config(properties, subject="kerberos")
    return ClusterClient(config.admin, client_id="test", timeout=PATIENCE_SECONDS)


def test_a_keytab_opens_and_opens_again_when_a_session_ends(realm: Realm) -> None:
    client = opened(realm, with_keytab(realm.keytab))
    try:
        assert client.refresh([]).cluster_id == realm.broker.cluster_id
        connection = client.connection(1)

        def look() -> int:
            client.call_any(MetadataRequest(topics=[], max_version=12))
            client.call(1, MetadataRequest(topics=[], max_version=12))
            return connection.logins

        eventually(look, lambda logins: logins >= 3)
        assert client.connection(1) is connection
    finally:
        client.close()


def test_a_ticket_that_somebody_took_opens(realm: Realm) -> None:
    cache = Path(os.environ["KRB5CCNAME"].removeprefix("FILE:"))
    realm.kdc.take_ticket(_MIRROR, realm.keytab, cache)
    client = opened(realm, login("useTicketCache=true"))
    try:
        assert client.refresh([]).cluster_id == realm.broker.cluster_id
    finally:
        client.close()
        cache.unlink()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (with_keytab("/nowhere"), "sasl.jaas.config: keyTab /nowhere: no such file"),
        (login("useTicketCache=true"), "sasl.jaas.config: GSSAPI: kafka@127.0.0.1: "),
        (
            login("useTicketCache=true", sasl_kerberos_service_name="kafak"),
            "GSSAPI: kafak@127.0.0.1: ",
        ),
    ],
    ids=["no keytab", "no ticket", "no such service"],
)
def test_what_is_missing_is_said(realm: Realm, settings: dict[str, str], sentence: str) -> None:
    client = opened(realm, settings)
    try:
        with pytest.raises(SecurityFailed) as caught:
            client.refresh([])
    finally:
        client.close()

    assert sentence in str(caught.value)


def test_tasks_log_in_with_the_keytab_that_they_are_sent(realm: Realm, tmp_path: Path) -> None:
    broker = realm.broker
    create_topics(broker, {"tickets": 1})
    write(broker, "tickets", numbered(range(10)))
    properties = SHARED | {
        "clusters": "ka, kb",
        **cluster_properties("ka", broker, "SASL", with_keytab(realm.keytab)),
        **cluster_properties("kb", broker, "SASL", with_keytab(realm.keytab)),
        "ka->kb.enabled": "true",
        "ka->kb.topics": "tickets",
    }
    spark = LocalSpark(slots=2)  # one that knows of the realm
    try:
        outcome = mirror_once(spark, load_properties(tmp_path, properties))
    finally:
        spark.close()

    assert outcome.good, outcome
    assert assert_mirrored(broker, broker, {"tickets": "ka.tickets"}) == 10
