"""A worker with secrets in every setting that can hold one: none is in anything that it shows or writes."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from heliograph.embedded import Cluster
from heliograph.embedded.ports import free_port
from support.clusters.guarded import PASSWORD, STORE_PASSWORD, Files, client_key, inline, password
from support.clusters.reading import offsets, read_topics, topics_of
from support.clusters.writing import create_topics, numbered, write
from support.flows.planting import (
    PACKAGE,
    USER,
    USERS_PASSWORD,
    Asking,
    HttpsListener,
    Sent,
    lines_of_key,
    passwords,
)
from support.flows.services import Service, service, spark_environment
from support.flows.watching import Watch
from support.waiting import PATIENCE_SECONDS, eventually

_OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
#: Of every connector; each kind of client, and whatever a user's own class may be given.
_PREFIXES = (
    *("source.cluster.", "target.cluster.", "source.consumer.", "target.producer."),
    *("source.admin.", "target.admin.", "producer.override.", "admin.", ""),
)
_UI_PAGES = (
    *("/environment/", "/jobs/", "/stages/", "/stages/stage/?id=0&attempt=0", "/executors/"),
    *("/SQL/", "/SQL/execution/?id=0", "/StreamingQuery/"),
    "/executors/threadDump/?executorId=driver",
    "/api/v1/applications",
)
_HERE = {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
_OWN = ("my.filter.password", "my.api.key", "my.auth.token", "my.client.secret")
#: As Connect's: it holds configurations in clear, and is to be kept by ACLs (docs/security.md).
_CONFIG_TOPIC = "planted-config"


def connector(guarded: Cluster, **settings: str) -> dict[str, str]:
    return {
        "connector.class": f"{PACKAGE}MirrorSourceConnector",
        "source.cluster.alias": "planted-a",
        "target.cluster.alias": "planted-b",
        "source.cluster.bootstrap.servers": guarded.bootstrap_servers,
        "target.cluster.bootstrap.servers": guarded.bootstrap_servers,
        "topics": "of-plants",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
        **settings,
    }


def cluster(side: str, servers: str, settings: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{side}.cluster.{name}": value
        for name, value in {"bootstrap.servers": servers, **settings}.items()
    }


@pytest.fixture
def worker_properties(guarded: Cluster, files: Files, tmp_path: Path) -> dict[str, str]:
    users, secrets = tmp_path / "users.properties", tmp_path / "secrets.properties"
    users.write_text(f"{USER} = {USERS_PASSWORD}\n")
    login = password("SCRAM-SHA-512")["sasl.jaas.config"]
    secrets.write_text(f"login = {login}\n")
    kinds = ("config", "offset", "status")
    return {
        "bootstrap.servers": guarded.bootstrap("SASL"),
        **password("SCRAM-SHA-512"),
        **{f"producer.{name}": value for name, value in password("SCRAM-SHA-512").items()},
        "group.id": "planted",
        **{f"{kind}.storage.topic": f"planted-{kind}" for kind in kinds},
        **{f"{kind}.storage.replication.factor": "1" for kind in kinds},
        "rest.users.file": str(users),
        "rest.connector.allowed.paths": f"{files.folder},{tmp_path}",
        "rest.connector.allowed.urls": "http://127.0.0.1:9/",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "connector.client.config.override.policy": "All",
    }


def test_no_planted_secret_is_shown_or_written(
    guarded: Cluster, files: Files, tmp_path: Path, worker_properties: dict[str, str]
) -> None:
    create_topics(guarded, {"of-plants": 1})
    write(guarded, "of-plants", numbered(range(10)))
    events, ui = tmp_path / "events", free_port()
    events.mkdir()
    environment = spark_environment(
        tmp_path,
        {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.eventLog.compress": "false",
        },
    )
    sent = Sent()
    https = HttpsListener("listeners.https.", tmp_path, sent)
    admin = HttpsListener("admin.listeners.https.", tmp_path, sent)
    properties = {
        **worker_properties,
        **https.settings,
        **admin.settings,
        "admin.listeners": admin.address,
    }
    arguments = ("--master", "local[2]", "--conf", "spark.ui.enabled=true")
    arguments += ("--conf", f"spark.ui.port={ui}")

    with service(
        tmp_path,
        "serve",
        properties,
        *arguments,
        environment=environment,
        listeners=[https.address],
        debug=True,
    ) as worker:
        watch = Watch(worker.process.pid)
        watch.start()
        asking = Asking(worker)
        eventually(lambda: asking.ask("GET", "/connectors")[0], lambda status: status == 200)
        assert (https.ask("/connectors"), admin.ask("/admin/loggers")) == (401, 401)
        _send_working(asking, guarded, files, tmp_path)
        _send_failing(asking, guarded, files, sent)
        _send_all_settings(asking, guarded, sent)
        _await_work(asking, worker, guarded)
        asking.read_everything("good", "refused", "stores", "key", "oauth", "setting-0")
        pages = _pages_of_ui(ui)
        assert worker.stop() == 0
        shown = {**watch.stop(), **asking.answers, **pages, "log": worker.said()}

    shown |= {str(p): p.read_text(errors="replace") for p in events.rglob("*") if p.is_file()}
    shown |= _records(guarded)
    secrets = [PASSWORD, STORE_PASSWORD, USERS_PASSWORD, *sent.secrets]
    secrets += lines_of_key(client_key(files.client)["ssl.keystore.key"])
    secrets += lines_of_key(files.client.key())
    _assert_looked_everywhere(guarded, shown, sent)
    for where, text in shown.items():
        for secret in secrets:
            assert secret not in text, (where, secret)
            assert quote(secret) not in text, (where, secret)


def test_a_listener_whose_store_cannot_be_opened_says_so_without_its_password(
    tmp_path: Path, worker_properties: dict[str, str]
) -> None:
    sent = Sent()
    https = HttpsListener("listeners.https.", tmp_path, sent)
    for name in ("ssl.keystore.password", "ssl.truststore.password"):
        wrong = {**https.settings, **sent.plant(f"listeners.https.{name}")}
        properties = {**worker_properties, **wrong}
        with service(
            tmp_path, "serve", properties, listeners=[https.address], debug=True
        ) as worker:
            assert worker.process.wait(PATIENCE_SECONDS) != 0
            said = worker.said()
        assert f"listeners.https.{name.replace('password', 'location')}" in said
        for secret in sent.secrets:
            assert secret not in said


def _send_working(asking: Asking, guarded: Cluster, files: Files, folder: Path) -> None:
    login = {"sasl.jaas.config": f"${{file:{folder}/secrets.properties:login}}"}
    source = password("SCRAM-SHA-512") | login
    target = inline(files) | client_key(files.client)
    config = connector(
        guarded,
        **cluster("source", guarded.bootstrap("SASL"), source),
        **cluster("target", guarded.bootstrap("MUTUAL"), target),
    )
    assert asking.create("good", config) == 201


def _send_failing(asking: Asking, guarded: Cluster, files: Files, sent: Sent) -> None:
    """Secrets that are wrong: what is said of them must not hold them, either."""
    url = "sasl.oauthbearer.token.endpoint.url"
    stores = {
        "security.protocol": "SSL",
        "ssl.truststore.location": files.path("trust.jks"),
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": files.path("client.p12"),
    }
    for name, listener, settings in (
        (
            "refused",
            "SASL",
            password("PLAIN") | sent.plant("sasl.jaas.config"),
        ),
        ("stores", "MUTUAL", stores | sent.plant("ssl.truststore.password")),
        (
            "key",
            "MUTUAL",
            inline(files) | client_key(files.client) | sent.plant("ssl.key.password"),
        ),
        (
            "oauth",
            "SASL",
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "OAUTHBEARER",
                url: "http://127.0.0.1:9/",
                "sasl.oauthbearer.client.credentials.client.id": "us",
                **sent.plant("sasl.oauthbearer.client.credentials.client.secret"),
                "sasl.jaas.config": f"{_OAUTH} required;",
            },
        ),
    ):
        its = cluster("source", guarded.bootstrap(listener), settings)
        config = connector(guarded, **its) | {"source.cluster.alias": f"planted-{name}"}
        assert asking.create(name, config) == 201, asking.answers


def _send_all_settings(asking: Asking, guarded: Cluster, sent: Sent) -> None:
    """Each as a connector of its own, which need not work; and all at once, to be looked over."""
    names = [f"{prefix}{name}" for prefix in _PREFIXES for name in passwords()]
    everything: dict[str, str] = {}
    for number, name in enumerate([*names, *_OWN]):
        setting = sent.plant(name)
        everything |= setting
        asking.create(f"setting-{number}", connector(guarded, **setting), "STOPPED")
    plugin = f"{PACKAGE}MirrorSourceConnector"
    asking.ask(
        "PUT", f"/connector-plugins/{plugin}/config/validate", connector(guarded, **everything)
    )
    asking.ask("PUT", "/connectors/setting-0/config", connector(guarded, **everything))
    asking.ask("PATCH", "/connectors/setting-0/config", everything)


def _await_work(asking: Asking, worker: Service, guarded: Cluster) -> None:
    remote = "planted-a.of-plants"
    eventually(
        lambda: remote in topics_of(guarded) and offsets(guarded, remote)[1],
        lambda end: end == 10,
    )
    eventually(worker.said, lambda said: "http://127.0.0.1:9/: no token" in said)
    for name in ("refused", "stores", "key"):
        eventually(
            lambda name=name: asking.ask("GET", f"/connectors/{name}/status")[1],
            lambda status: status["connector"]["state"] == "FAILED",
        )
    assert "DEBUG" in worker.said()


def _pages_of_ui(port: int) -> dict[str, str]:
    """Spark's UI, on request: settings, jobs with their plans, threads. It answers this machine only."""
    found = {}
    for page in _UI_PAGES:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        connection.request("GET", page)
        answer = connection.getresponse()
        assert answer.status == 200, (page, answer.status)
        found[f"UI {page}"] = answer.read().decode()
        connection.close()
    assert {c.laddr.ip for c in psutil.net_connections("tcp") if _listens(c, port)} <= _HERE
    return found


def _listens(connection: Any, port: int) -> bool:
    return connection.status == psutil.CONN_LISTEN and connection.laddr.port == port


def _records(guarded: Cluster) -> dict[str, str]:
    """Of all internal topics but the config topic."""
    topics = [
        topic for topic in topics_of(guarded) if "planted" in topic and topic != _CONFIG_TOPIC
    ]
    return {
        f"topic {topic}-{number}": "\n".join(
            f"{(r.key or b'').decode('latin-1')} {(r.value or b'').decode('latin-1')}"
            for r in records
        )
        for (topic, number), records in read_topics(guarded, topics).items()
    }


def _assert_looked_everywhere(guarded: Cluster, shown: dict[str, str], sent: Sent) -> None:
    """The search would have found something, and has been through all that it should."""
    every = "\n".join(shown)
    for part in (
        "cmdline of",
        "environ of",
        "GET /connectors/good/config",
        "topic planted-status",
        "UI /SQL/",
    ):
        assert part in every
    for part in ("topic planted-offset", "topic mm2-heliograph.planted-a.internal", "eventlog"):
        assert part in every
    assert any("pyspark" in text for where, text in shown.items() if "cmdline" in where)
    assert any("SparkListenerJobEnd" in text for text in shown.values())
    stored = "".join(
        (record.value or b"").decode("latin-1")
        for records in read_topics(guarded, [_CONFIG_TOPIC]).values()
        for record in records
    )
    kept = [secret for secret in sent.secrets if secret in stored]
    assert len(kept) > len(passwords()), "settings with secrets were taken by the worker"
