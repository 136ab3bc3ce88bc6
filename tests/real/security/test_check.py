"""`heliograph check` on a broker with every kind of listener: what it finds, and what it advises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import javaproperties
import pytest

from heliograph.embedded import Cluster
from heliograph.embedded.ports import free_port
from support.clusters.guarded import (
    PASSWORD,
    SHARED,
    UNKNOWN_USER,
    Files,
    cluster_properties,
    inline,
    password,
    trust,
)
from support.clusters.reading import offsets
from support.clusters.writing import admin, create_topics, numbered, write
from support.commands import Done, heliograph_here

TOPIC = "checked-orders"


@pytest.fixture(scope="module", autouse=True)
def topic(guarded: Cluster) -> None:
    create_topics(guarded, {TOPIC: 1})
    write(guarded, TOPIC, numbered(range(3)))


def check(
    folder: Path,
    guarded: Cluster,
    listener: str,
    settings: Mapping[str, str],
    *options: str,
    **more: str,
) -> Done:
    """Of the flow here->there: `there` is reached as alice, `here` as the settings say."""
    properties = SHARED | {
        "clusters": "here, there",
        "here->there.enabled": "true",
        "topics": TOPIC,
        **cluster_properties("here", guarded, listener, dict(settings)),
        **cluster_properties("there", guarded, "SASL", password("PLAIN")),
        **more,
    }
    path = folder / "mm2.properties"
    path.write_text(javaproperties.dumps(properties, timestamp=False))
    return heliograph_here("check", path, *options)


def steps(done: Done, cluster: str = "here") -> dict[str, dict[str, Any]]:
    report = json.loads(done.stdout)
    found = [login for login in report["logins"] if login["cluster"] == cluster]
    return {step["name"]: step for login in found for step in login["steps"]}


def test_a_way_in_that_works_is_told_step_by_step(
    guarded: Cluster, files: Files, tmp_path: Path
) -> None:
    over_tls = trust(files, "JKS") | password("PLAIN") | {"security.protocol": "SASL_SSL"}
    done = check(tmp_path, guarded, "SASLTLS", over_tls)

    assert done.returncode == 0, done.stdout
    assert "as admin, consumer, producer: SASL_SSL, PLAIN as alice" in done.stdout
    for name in ("resolve", "connect", "authenticate", "versions", "describe", "brokers", "read"):
        assert f"  ok       {name}" in done.stdout
    assert "certificate of CN=broker, issued by CN=ours, valid from" in done.stdout
    assert "for the names localhost, 127.0.0.1" in done.stdout
    assert "Kafka 4.3 or newer" in done.stdout
    assert f"may be created: here.{TOPIC}" in done.stdout
    assert "Nothing was changed.\nok: nothing failed" in done.stdout
    assert PASSWORD not in done.stdout + done.stderr
    assert not [name for name in admin(guarded).list_topics().topics if "check-" in name]


FAILURES = {
    "a wrong authority": (
        "UNKNOWN", inline, "tls", "add the authority's certificate of CN=theirs to",
    ),
    "a wrong host name": (
        "ELSEWHERE", inline, "tls", "use a name of the certificate", "elsewhere.example",
    ),
    "an expired certificate": ("EXPIRED", inline, "tls", "renew the certificate on the broker"),
    "a wrong password": (
        "SASL", lambda _: password("PLAIN", "guess"), "authenticate", "user and password in here.sasl.jaas",
    ),
    "TLS on a plaintext port": (
        "CLIENT", inline, "tls", "set here.security.protocol=PLAINTEXT",
    ),
    "plaintext on a port for TLS": (
        "TLS", lambda _: {}, "versions", "set security.protocol=SSL", "CN=broker",
    ),
    "no login on a port that wants one": (
        "SASL", lambda _: {}, "authenticate", "set security.protocol=SASL_PLAINTEXT",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FAILURES)
def test_every_way_to_fail_has_a_remedy(
    guarded: Cluster, files: Files, tmp_path: Path, what: str
) -> None:
    listener, settings, name, remedy, *details = FAILURES[what]
    done = check(tmp_path, guarded, listener, settings(files), "-o", "json")

    step = steps(done)[name]
    assert done.returncode == 1
    assert step["outcome"] == "failed"
    assert remedy in step["remedy"]
    assert all(detail in step["detail"] + step["remedy"] for detail in details)
    assert steps(done, "there")["brokers"]["outcome"] == "ok", "the other side is checked"


def test_an_address_that_is_none(guarded: Cluster, tmp_path: Path) -> None:
    refused = {"here.bootstrap.servers": f"127.0.0.1:{free_port()}"}
    unresolved = {"here.bootstrap.servers": "kafka.invalid:9092"}
    for servers, name in ((refused, "connect"), (unresolved, "resolve")):
        done = check(tmp_path, guarded, "CLIENT", {}, "-o", "json", **servers)
        assert done.returncode == 1
        assert list(steps(done))[-1] == name
        assert steps(done)[name]["outcome"] == "failed"


def test_missing_rights_are_told_with_the_command_that_grants_them(
    guarded: Cluster, tmp_path: Path
) -> None:
    login = password("PLAIN", user=UNKNOWN_USER)
    done = check(tmp_path, guarded, "SASL", login)

    assert done.returncode == 1
    assert f"no right to READ: {TOPIC}" in done.stdout
    assert f"--allow-principal User:{UNKNOWN_USER} --operation Read --topic {TOPIC}" in done.stdout
    assert "no right to READ: mm2-offset-syncs.there.internal" in done.stdout


def test_clients_with_logins_of_their_own_are_checked_as_such(
    guarded: Cluster, tmp_path: Path
) -> None:
    wrong = password("PLAIN", "guess")["sasl.jaas.config"]
    done = check(
        *(tmp_path, guarded, "SASL", password("PLAIN"), "-o", "json"),
        **{"here.consumer.sasl.jaas.config": wrong},
    )
    report = json.loads(done.stdout)
    outcomes = {
        tuple(login["clients"]): login["steps"][-1]["outcome"]
        for login in report["logins"]
        if login["cluster"] == "here"
    }
    assert outcomes == {("consumer",): "failed", ("admin", "producer"): "ok"}


def test_with_write_a_topic_is_created_written_read_and_removed(
    guarded: Cluster, tmp_path: Path
) -> None:
    done = check(tmp_path, guarded, "SASL", password("PLAIN"), "--write")

    assert done.returncode == 0, done.stdout
    for alias in ("here", "there"):
        assert f"changed: {alias}: created topic mm2-heliograph-check-" in done.stdout
    assert done.stdout.count("a record was written and read again") == 2
    assert "Nothing was changed" not in done.stdout
    assert not [name for name in admin(guarded).list_topics().topics if "check-" in name]
    assert offsets(guarded, TOPIC) == (0, 3)


def test_a_bad_configuration_is_exit_code_2(guarded: Cluster, tmp_path: Path) -> None:
    done = check(tmp_path, guarded, "SASL", {}, **{"here.security.protocol": "TLS"})
    assert done.returncode == 2
    assert "here.security.protocol" in done.stderr


def test_a_worker_is_checked_on_its_own_cluster(guarded: Cluster, tmp_path: Path) -> None:
    worker = {
        "bootstrap.servers": guarded.bootstrap("SASL"),
        "group.id": "checked-workers",
        **{f"{each}.storage.topic": f"checked-{each}" for each in ("config", "offset", "status")},
        **{f"{each}.storage.replication.factor": "1" for each in ("config", "offset", "status")},
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        **password("PLAIN"),
    }
    path = tmp_path / "worker.properties"
    path.write_text(javaproperties.dumps(worker, timestamp=False))
    done = heliograph_here("check", path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "rights of worker checked-workers" in done.stdout
    assert "may be created: checked-config" in done.stdout


def test_init_writes_a_file_and_checks_it(
    guarded: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for alias in ("HERE", "THERE"):
        monkeypatch.setenv(f"{alias}_PASSWORD", PASSWORD)
    servers = guarded.bootstrap("SASL")
    options = ("--source", f"here={servers}", "--target", f"there={servers}", "--user", "alice")
    done = heliograph_here(
        *("init", tmp_path / "mm2.properties", *options, "--security", "SASL_PLAINTEXT"),
        *("--topics", TOPIC, "--one-way", "--check"),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "flows: here->there" in done.stdout
    assert "ok: nothing failed" in done.stdout
