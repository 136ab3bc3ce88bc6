from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from harness.certificates import Authority
from heliograph.client.security.credential_bundle import CredentialBundle, carries_secrets
from heliograph.model import ClientKind, ClusterConfig
from heliograph.security import PLAINTEXT, Password, Sasl, Secret, Security, Store, Tls


def trusting(path: Path) -> Security:
    return Security(tls=Tls(truststore=Store(name="truststore", type="PEM", location=str(path))))


def cluster(usual: Security, **by_client: Security) -> ClusterConfig:
    return ClusterConfig(
        alias="a",
        bootstrap_servers=("a:1",),
        properties=(("sasl.jaas.config", "a secret"),),
        security=usual,
        by_client=tuple((ClientKind(kind), each) for kind, each in by_client.items()),
    )


def trusted(packed: ClusterConfig, kind: ClientKind = ClientKind.ADMIN) -> str | None:
    tls = packed.for_client(kind).security.tls
    assert tls is not None
    assert tls.truststore is not None
    return tls.truststore.certificates


def test_clusters_travel_with_what_their_files_hold_and_no_secret_twice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    here, nowhere = tmp_path / "ca.pem", tmp_path / "later.pem"
    pem = Authority("ours").identity.pem
    here.write_text(pem)
    asked = cluster(trusting(here), admin=trusting(here), consumer=trusting(nowhere))

    packed = CredentialBundle().pack(asked)

    assert trusted(packed, ClientKind.ADMIN) == pem
    assert trusted(packed, ClientKind.CONSUMER) is None
    assert packed.properties == ()
    assert caplog.messages == [
        f"cluster 'a': ssl.truststore.location: {nowhere}: no such file; tasks will try the path themselves"
    ]


def test_a_file_that_is_replaced_is_packed_anew_and_a_broken_one_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ca.pem"
    old, new = Authority("old").identity.pem, Authority("new").identity.pem
    shipment, asked = CredentialBundle(), cluster(trusting(path))

    assert trusted(shipment.pack(asked)) is None  # not there yet
    assert not shipment.stale()
    path.write_text(old)
    assert shipment.stale()
    assert trusted(shipment.pack(asked)) == old
    assert not shipment.stale()
    path.unlink()
    assert shipment.stale()
    assert trusted(shipment.pack(asked)) == old
    assert caplog.messages[-1].endswith("no such file; using it as read before")
    path.write_text(new)
    assert trusted(shipment.pack(asked)) == new


def test_settings_keep_the_names_that_their_own_cluster_has_for_them(tmp_path: Path) -> None:
    shipment = CredentialBundle()

    for alias in ("a", "b"):
        its = replace(trusting(tmp_path), keys=(("sasl.jaas.config", f"{alias}.sasl.jaas.config"),))
        assert shipment.pack(cluster(its)).security.key("sasl.jaas.config").startswith(alias)


def test_what_travels_shows_no_secret_where_it_is_printed() -> None:
    password = Password(username="alice", password=Secret("canary"))
    sasl = Security(sasl=Sasl(mechanism="PLAIN", credentials=password))
    arrived = pickle.loads(pickle.dumps(CredentialBundle().pack(cluster(sasl))))

    assert arrived.security.sasl.credentials.password == "canary"
    assert "canary" not in f"{arrived!r} {arrived}"
    assert carries_secrets(arrived)
    assert carries_secrets(cluster(PLAINTEXT, producer=sasl))
    assert not carries_secrets(cluster(trusting(Path("ca.pem"))))
