"""What leaves this process for the tasks, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.config.mirror_config import FlowSetup
from heliograph.errors import ConfigError
from heliograph.plan.spark.protection import Protection
from heliograph.runtime.epoch import task_setups as module
from heliograph.runtime.epoch.task_setups import TaskSetups
from support.configurations.mm2_files import BASE, Reader

_JAAS = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";'
)
_LOGIN = {
    "us.security.protocol": "SASL_PLAINTEXT",
    "us.sasl.mechanism": "PLAIN",
    "us.sasl.jaas.config": _JAAS,
}


def setup_of(folder: Path, properties: dict[str, str]) -> FlowSetup:
    config = Reader(folder)(BASE + "".join(f"{k} = {v}\n" for k, v in properties.items()))
    source, target = (config.cluster(alias) for alias in ("us", "eu"))
    return FlowSetup(flow=config.flow("us->eu"), source=source, target=target, offsets=target)


def spark(*, protects: bool) -> Any:
    protection = Protection(master="spark://head:7077", authenticates=protects, encrypts=protects)
    return SimpleNamespace(protection=protection)


def test_secrets_are_refused_where_spark_does_not_protect_them_and_nothing_is_packed(
    tmp_path: Path,
) -> None:
    setups = TaskSetups(spark(protects=False), accepts_unencrypted=False)
    secret, plain = setup_of(tmp_path, _LOGIN), setup_of(tmp_path, {})

    assert setups.refusal(plain) is None
    assert "expected spark.authenticate=true" in (setups.refusal(secret) or "")
    assert len(setups.pack([plain])) == 1
    with pytest.raises(ConfigError, match="flow us->eu: Spark at spark://head:7077: expected"):
        setups.pack([plain, secret])


def test_secrets_of_the_cluster_that_keeps_offsets_count_too(tmp_path: Path) -> None:
    setups = TaskSetups(spark(protects=False), accepts_unencrypted=False)
    plain, secret = setup_of(tmp_path, {}), setup_of(tmp_path, _LOGIN)

    assert setups.refusal(replace(plain, offsets=secret.source)) is not None


def test_accepted_secrets_that_travel_unprotected_are_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    setups = TaskSetups(spark(protects=False), accepts_unencrypted=True)
    asked = setup_of(tmp_path, _LOGIN)

    setups.pack([asked])
    setups.pack([asked])

    (told,) = caplog.messages
    assert told.startswith("Spark at spark://head:7077: passwords and keys of the clusters go")


@pytest.mark.parametrize("accepts", [True, False])
@pytest.mark.parametrize(("protects", "login"), [(True, _LOGIN), (False, {})])
def test_nothing_is_said_where_no_secret_can_be_read(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    protects: bool,
    login: dict[str, str],
    accepts: bool,
) -> None:
    setups = TaskSetups(spark(protects=protects), accepts_unencrypted=accepts)

    assert len(setups.pack([setup_of(tmp_path, login)])) == 1
    assert not caplog.messages


@pytest.mark.parametrize(
    ("mechanism", "jaas", "refused"),
    [
        ("SCRAM-SHA-512", "scram.ScramLoginModule required username='u' password='p';", True),
        ("GSSAPI", "M required useKeyTab=true keyTab='/k' principal='p';", True),
        ("GSSAPI", "M required useTicketCache=true;", False),
        ("AWS_MSK_IAM", "software.amazon.msk.auth.iam.IAMLoginModule required;", False),
    ],
)
def test_an_identity_that_executors_have_themselves_is_no_secret_of_ours(
    tmp_path: Path, mechanism: str, jaas: str, refused: bool
) -> None:
    module_name = "org.apache.kafka.common.security.scram.ScramLoginModule"
    login = {
        "us.security.protocol": "SASL_SSL",
        "us.sasl.mechanism": mechanism,
        "us.sasl.kerberos.service.name": "kafka",
        "us.sasl.jaas.config": jaas.replace("scram.ScramLoginModule", module_name)
        .replace("M ", "com.sun.security.auth.module.Krb5LoginModule ")
        .replace("'", '"'),
    }
    setups = TaskSetups(spark(protects=False), accepts_unencrypted=False)

    assert (setups.refusal(setup_of(tmp_path, login)) is not None) == refused


def test_a_file_that_has_changed_outdates_the_setups_and_is_looked_at_every_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    store = tmp_path / "ca.pem"
    store.write_text("one")
    trust = {
        "us.security.protocol": "SSL",
        "us.ssl.truststore.type": "PEM",
        "us.ssl.truststore.location": str(store),
    }
    setups = TaskSetups(spark(protects=True), accepts_unencrypted=False)
    setups.pack([setup_of(tmp_path, trust)])

    assert not setups.outdated()
    store.write_text("another")
    assert not setups.outdated()
    clock.now += 6
    assert setups.outdated()
