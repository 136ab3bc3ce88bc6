"""A configuration from REST is checked against the allow-list again when a file is opened."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from heliograph.client.security.key_stores import shippable, with_material
from heliograph.client.security.opening import read_file
from heliograph.client.security.sasl import new_mechanism
from heliograph.client.security.sasl.tokens import token_for
from heliograph.errors import BadKeyMaterial
from heliograph.permitted import Permitted
from heliograph.security import (
    AwsIam,
    Credentials,
    GivenToken,
    Kerberos,
    Sasl,
    Secret,
    Security,
    Store,
    Tls,
    TokenEndpoint,
)


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    """A folder that REST may name, beside a file that it may not, with links of all kinds."""
    folder = tmp_path / "allowed"
    (folder / "..2026_data").mkdir(parents=True)
    (folder / "..2026_data/token").write_text("mounted")
    (folder / "..data").symlink_to("..2026_data")
    (folder / "token").symlink_to("..data/token")  # as Kubernetes mounts a Secret
    (tmp_path / "private").write_text("private")
    (folder / "out").symlink_to(tmp_path / "private")
    (folder / "folder_out").symlink_to(tmp_path)
    return folder


def through_rest(allowed: Path, **changes: object) -> Security:
    return replace(Security(permitted=Permitted(paths=frozenset({str(allowed)}))), **changes)  # type: ignore[arg-type]


def test_a_file_within_is_read_also_by_the_links_of_a_mounted_secret(allowed: Path) -> None:
    assert read_file(f"{allowed}/token", "s", through_rest(allowed)) == b"mounted"


@pytest.mark.parametrize(
    "name", ["out", "folder_out/private", "../private", "..data/../../private", "a\0b"]
)
def test_a_file_outside_is_not_read_by_whatever_way(allowed: Path, name: str) -> None:
    with pytest.raises(BadKeyMaterial, match="REST may name"):
        read_file(f"{allowed}/{name}", "s", through_rest(allowed))


def test_the_operators_own_configuration_may_name_any_file(allowed: Path) -> None:
    assert read_file(f"{allowed}/out", "s", Security()) == b"private"


def test_a_folder_that_is_itself_a_link_is_the_operators_choice(allowed: Path) -> None:
    link = allowed.parent / "link"
    link.symlink_to(allowed)

    assert read_file(f"{link}/token", "s", through_rest(link)) == b"mounted"


def test_a_pipe_or_a_device_is_no_file(allowed: Path) -> None:
    os.mkfifo(allowed / "pipe")

    with pytest.raises(BadKeyMaterial, match="expected a regular file"):
        read_file(f"{allowed}/pipe", "s", through_rest(allowed))
    with pytest.raises(BadKeyMaterial, match="expected a regular file"):
        read_file("/dev/zero", "s", Security())


def login(credentials: Credentials, mechanism: str) -> Sasl:
    return Sasl(mechanism=mechanism, credentials=credentials)


def test_every_door_is_held_to_it(allowed: Path) -> None:
    private = str(allowed.parent / "private")
    store = Tls(truststore=Store(name="truststore", type="PEM", location=private))
    endpoint = TokenEndpoint(url="http://127.0.0.1:9", client_id="a", client_secret=Secret("b"))
    keytab = Kerberos(service="kafka", keytab=private)

    def login_of(credentials: Credentials, mechanism: str = "OAUTHBEARER") -> Security:
        return through_rest(allowed, sasl=login(credentials, mechanism))

    doors = (
        lambda: with_material(through_rest(allowed, tls=store)),
        lambda: shippable(login_of(replace(endpoint, tls=store))),
        lambda: shippable(login_of(keytab, "GSSAPI")),
        lambda: new_mechanism(login_of(keytab, "GSSAPI"), "host"),
        lambda: new_mechanism(login_of(Kerberos(service="kafka"), "GSSAPI"), "host"),
        lambda: new_mechanism(login_of(AwsIam(), "AWS_MSK_IAM"), "host"),
        lambda: new_mechanism(login_of(AwsIam()), "host"),
        lambda: new_mechanism(login_of(endpoint), "host"),
        lambda: token_for(endpoint, login_of(endpoint)),
        lambda: token_for(GivenToken(location=private), through_rest(allowed)),
    )
    for door in doors:
        with pytest.raises(BadKeyMaterial, match=r"rest\.connector\.allowed\."):
            door()
