"""Connections to real brokers by every login, and what is said where there is none."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.net import cluster
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.connection import Connection
from heliograph.client.net.poller import wait
from heliograph.config.mirror_client_config import mirror_client_config
from heliograph.embedded import Cluster
from heliograph.errors import ClientError, LoginFailed
from heliograph.wire.messages import ApiVersionsRequest, MetadataRequest
from support.clusters.guarded import (
    PASSWORD,
    SESSION_MS,
    STORE_PASSWORD,
    Files,
    client_key,
    inline,
    logins,
    password,
    trust,
    unsecured_token,
)
from support.waiting import PATIENCE_SECONDS

WAYS = (
    *("pem", "inline", "jks", "mutual-pem", "mutual-pkcs12"),
    *("plain", "scram256", "scram512", "oauth", "plain-tls", "scram-tls"),
)


@contextmanager
def client(guarded: Cluster, listener: str, settings: Mapping[str, str]) -> Iterator[ClusterClient]:
    properties = {"bootstrap.servers": guarded.bootstrap(listener), **settings}
    config = mirror_client_config(properties, subject="guarded")
    opened = ClusterClient(config.admin, client_id="test", timeout=PATIENCE_SECONDS)
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in(guarded: Cluster, files: Files, way: str) -> None:
    listener, settings = logins(files)[way]
    with client(guarded, listener, settings) as opened:
        assert opened.refresh([]).cluster_id == guarded.cluster_id
        assert opened.call(1, MetadataRequest(topics=[], max_version=12)).cluster_id


def test_no_way_in_is_left_out(files: Files) -> None:
    assert logins(files).keys() == set(WAYS)


REFUSALS = {
    "wrong password": (
        "SASL",
        lambda files: password("PLAIN", "guess"),
        "sasl.jaas.config: the broker refuses the login by PLAIN: Authentication failed: Invalid "
        "username or password",
    ),
    "wrong password by SCRAM": (
        "SASL",
        lambda files: password("SCRAM-SHA-512", "guess"),
        "sasl.jaas.config: the broker refuses the login by SCRAM-SHA-512: Authentication failed",
    ),
    "a mechanism that the broker does not offer": (
        "SASLTLS",
        lambda files: inline(files) | password("SCRAM-SHA-256") | {"security.protocol": "SASL_SSL"},
        "sasl.mechanism: expected one of PLAIN, SCRAM-SHA-512, which the broker offers, found "
        "SCRAM-SHA-256",
    ),
    "a login where none is wanted": (
        "CLIENT",
        lambda files: password("PLAIN"),
        "this listener accepts no login; check security.protocol and the port",
    ),
    "a token of the past": (
        "SASL",
        lambda files: unsecured_token(-60),
        "sasl.jaas.config: the broker refuses the login by OAUTHBEARER",
    ),
    "an expired certificate": (
        "EXPIRED",
        inline,
        "the broker's certificate, or one above it, has expired; renew it on the broker",
    ),
    "a self-signed certificate": (
        "SELFSIGNED",
        lambda files: trust(files, "PEM"),
        "the broker's certificate is self-signed and not in ssl.truststore.location: {ca}",
    ),
    "an authority that is not trusted": (
        "UNKNOWN",
        lambda files: trust(files, "PEM"),
        "the broker's certificate is signed by no authority in ssl.truststore.location: {ca}",
    ),
    "nobody but the machine's authorities is trusted": (
        "TLS",
        lambda files: {"security.protocol": "SSL"},
        "signed by no authority in what this machine trusts; set ssl.truststore.location",
    ),
    "another host's certificate": (
        "ELSEWHERE",
        inline,
        "the broker's certificate is not for '127.0.0.1' "
        "(ssl.endpoint.identification.algorithm=https)",
    ),
    "no certificate of ours": (
        "MUTUAL",
        inline,
        "the broker wants a certificate of this client",
    ),
    "a certificate of ours that the broker does not trust": (
        "MUTUAL",
        lambda files: inline(files) | client_key(files.stranger),
        "the broker refuses the certificate of ssl.keystore.certificate.chain",
    ),
    "TLS where there is none": (
        "CLIENT",
        inline,
        "closed during the TLS handshake; the broker may be stopping, or the listener has no TLS",
    ),
    "no TLS where there is some": (
        "TLS",
        lambda files: {},
        "a TLS server answered; the listener may need security.protocol=SSL",
    ),
    "no login where one is wanted": (
        "SASL",
        lambda files: {},
        "the broker closed the connection at the first request; a listener that wants SASL",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSALS)
def test_every_refusal_has_its_own_sentence(guarded: Cluster, files: Files, what: str) -> None:
    listener, settings, sentence = REFUSALS[what]
    with (
        client(guarded, listener, settings(files)) as opened,
        pytest.raises(ClientError) as caught,
    ):
        opened.refresh([])

    assert sentence.format(ca=files.path("ca.pem")) in str(caught.value)
    assert str(caught.value).startswith("cluster 'guarded': ")
    for secret in (PASSWORD, STORE_PASSWORD, "guess"):
        assert secret not in str(caught.value)


def test_host_names_are_not_looked_at_where_that_is_switched_off(
    guarded: Cluster, files: Files
) -> None:
    lax = inline(files) | {"ssl.endpoint.identification.algorithm": ""}
    with client(guarded, "ELSEWHERE", lax) as opened:
        assert opened.refresh([]).cluster_id == guarded.cluster_id


@pytest.mark.parametrize(
    ("settings", "version"),
    [
        ({"ssl.protocol": "TLSv1.2"}, "TLSv1.2"),
        ({"ssl.enabled.protocols": "TLSv1.3"}, "TLSv1.3"),
        ({"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}, "TLSv1.2"),
    ],
)
def test_versions_and_cipher_suites_are_those_of_the_settings(
    guarded: Cluster, files: Files, settings: dict[str, str], version: str
) -> None:
    with client(guarded, "TLS", inline(files) | settings) as opened:
        opened.refresh([])
        transport = opened.connection(1)._transport  # type: ignore[attr-defined]
        assert transport._socket.version() == version


def test_who_was_refused_logs_in_again_after_a_pause_and_not_before(
    guarded: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or brokers, and whatever is behind them, would lock the account."""
    opened: list[tuple[str, int]] = []
    now = time.monotonic()

    def connect(host: str, port: int, **others: Any) -> Connection:
        opened.append((host, port))
        return Connection(host, port, **others)

    monkeypatch.setattr(cluster, "Connection", connect)
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now))
    with client(guarded, "SASL", password("PLAIN", "guess")) as refused:
        for _ in range(3):
            with pytest.raises(LoginFailed, match="Invalid username or password"):
                refused.refresh([])
        assert len(opened) == 1
        now += 60
        with pytest.raises(LoginFailed, match="Invalid username or password"):
            refused.refresh([])

    assert len(opened) == 2


def test_connections_log_in_again_before_their_sessions_end_and_lose_nothing(
    guarded: Cluster,
) -> None:
    """Two are busy, by password and by token; the third is idle past its session, and logs in first."""
    with (
        client(guarded, "SASL", password("SCRAM-SHA-256")) as by_password,
        client(guarded, "SASL", unsecured_token(5)) as by_token,
        client(guarded, "SASL", password("SCRAM-SHA-256")) as idle,
    ):
        for each in (by_password, by_token, idle):
            each.refresh([])
        connections = [by_password.connection(1), by_token.connection(1)]
        at_rest = idle.connection(1)
        sent, answered = [0, 0], [0, 0]
        end = time.monotonic() + SESSION_MS / 1000 + 0.5
        while time.monotonic() < end or answered != sent:
            for number, connection in enumerate(connections):
                while connection.in_flight < 5 and time.monotonic() < end:
                    connection.send(
                        *(ApiVersionsRequest.API_KEY, 0, []),
                        lambda _, number=number: _add(answered, number),  # type: ignore[misc]
                    )
                    _add(sent, number)
                connection.pump()
            wait(connections, 0.05)

        assert min(sent) > 100
        assert idle.call(1, MetadataRequest(topics=[], max_version=12)).cluster_id
        assert idle.connection(1) is at_rest
        for connection in (*connections, at_rest):
            assert connection.logins >= 2


def _add(counts: list[int], number: int) -> None:
    counts[number] += 1
