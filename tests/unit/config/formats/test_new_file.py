from __future__ import annotations

from pathlib import Path

import javaproperties
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.config.formats.mm2_properties import load
from heliograph.config.formats.new_file import new_file
from heliograph.config.formats.new_mirror import Mechanism, NewCluster, NewMirror, Protocol
from heliograph.security import Password

LOCAL = NewCluster(alias="local", servers="localhost:9092")
CLOUD = NewCluster(
    alias="eu-west",
    servers="broker1:9093,broker2:9093",
    protocol=Protocol.SASL_SSL,
    user="token",
    truststore="/certs/es.jks",
)


def read(folder: Path, mirror: NewMirror) -> str:
    path = folder / "mm2.properties"
    path.write_text(new_file(mirror))
    config = load(path, (), dict.fromkeys(mirror.variables, "hush"))
    assert config.warnings == ()
    return ", ".join(flow.name for flow in config.flows)


def test_the_file_is_one_that_heliograph_reads_without_a_warning(tmp_path: Path) -> None:
    assert read(tmp_path, NewMirror(source=LOCAL, target=CLOUD)) == "local->eu-west"
    both = NewMirror(source=LOCAL, target=CLOUD, both_ways=True)
    assert read(tmp_path, both) == "local->eu-west, eu-west->local"


def test_passwords_come_from_the_environment_unless_they_are_given(tmp_path: Path) -> None:
    mirror = NewMirror(source=LOCAL, target=CLOUD)
    assert mirror.variables == ("EU_WEST_PASSWORD", "EU_WEST_TRUSTSTORE_PASSWORD")
    assert not mirror.has_secrets
    assert 'password="${env:EU_WEST_PASSWORD}"' in new_file(mirror)

    path = tmp_path / "mm2.properties"
    path.write_text(new_file(mirror))
    environment = {"EU_WEST_PASSWORD": "hush", "EU_WEST_TRUSTSTORE_PASSWORD": "hush"}
    sasl = load(path, (), environment).cluster("eu-west").security.sasl
    assert sasl is not None
    assert isinstance(sasl.credentials, Password)
    assert sasl.credentials.password == "hush"


def test_a_pem_truststore_has_no_password() -> None:
    cloud = NewCluster(
        alias="eu", servers="eu:9093", protocol=Protocol.SSL, truststore="/certs/ca.pem"
    )
    mirror = NewMirror(source=LOCAL, target=cloud)
    assert "eu.ssl.truststore.type = PEM" in new_file(mirror)
    assert mirror.variables == ()


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [(Mechanism.PLAIN, "PlainLoginModule"), (Mechanism.SCRAM_512, "ScramLoginModule")],
)
def test_the_login_module_is_the_mechanisms(mechanism: Mechanism, module: str) -> None:
    cluster = NewCluster(
        alias="eu",
        servers="eu:9092",
        protocol=Protocol.SASL_PLAINTEXT,
        mechanism=mechanism,
        user="alice",
        password='a"b\\c',
    )
    mirror = NewMirror(source=LOCAL, target=cluster)
    written = javaproperties.loads(new_file(mirror))["eu.sasl.jaas.config"]
    assert f".{module} required" in written
    assert written.endswith('username="alice" password="a\\"b\\\\c";')
    assert mirror.has_secrets


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1))
def test_every_pattern_is_read_again_as_it_was_given(topics: str) -> None:
    mirror = NewMirror(source=LOCAL, target=CLOUD, topics=topics)
    assert javaproperties.loads(new_file(mirror))["local->eu-west.topics"] == topics
