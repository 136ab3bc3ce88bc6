from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.security.rest_users import read_certificate_roles, read_users
from heliograph.config.security.role import Role
from heliograph.errors import ConfigError

HASH = "$argon2id$v=19$m=19456,t=2,p=1$kwRxMnSYMOqpOxh2+1GAEg$ZvSbdW3jZyYbfTz9nYR2oF3uXwZxHf4i2yXcN4mP8jk"


def in_file(folder: Path, text: str) -> str:
    path = folder / "users.properties"
    path.write_text(text)
    return str(path)


def test_a_hash_may_have_a_role(tmp_path: Path) -> None:
    users = read_users(in_file(tmp_path, f"a = {HASH} read\nb = {HASH}   write\nc = {HASH}\n"))

    assert {name: (user.hashed, user.role) for name, user in users.items()} == {
        "a": (True, Role.READ),
        "b": (True, Role.WRITE),
        "c": (True, Role.WRITE),
    }
    assert HASH not in repr(users)


@pytest.mark.parametrize("password", ["s3same read", "a, read", "$money$", "$argon", "{x}"])
def test_a_plain_password_is_the_whole_value(tmp_path: Path, password: str) -> None:
    (user,) = read_users(in_file(tmp_path, f"a = {password}\n")).values()

    assert (user.password, user.hashed, user.role) == (password, False, Role.WRITE)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (f"{HASH} raed", "expected the role read or write, found 'raed'"),
        ("$2y$10$abcdefghijklmnopqrstuv", "found a hash of another kind"),
        ("$apr1$abc$def", "found a hash of another kind"),
        ("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "found a hash of another kind"),
        (HASH.replace("argon2id", "argon2i"), "found a hash of another kind"),
        (HASH.replace("p=1", "p=1,keyid=x"), "found a hash of another kind"),
        (HASH[:-30], "found a hash of another kind"),
        (HASH.replace("t=2", "t=0"), "is not supported; make a hash with `heliograph password`"),
        (
            HASH.replace("m=19456", "m=99999999"),
            "is not supported; make a hash with `heliograph password`",
        ),
        (
            HASH.replace("m=19456", "m=7"),
            "is not supported; make a hash with `heliograph password`",
        ),
    ],
)
def test_what_would_let_the_wrong_ones_in_is_refused(
    tmp_path: Path, value: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        read_users(in_file(tmp_path, f"alice = {value}\n"))

    assert "alice" in str(caught.value)
    assert value not in str(caught.value)


def test_roles_of_certificates() -> None:
    roles = read_certificate_roles("CN=alice,O=Ex:ample:write ; monitor:read;*:read;")

    assert roles is not None
    assert roles.role("CN=alice,O=Ex:ample", "alice") is Role.WRITE
    assert roles.role("CN=monitor,O=Other", "monitor") is Role.READ
    assert roles.role("CN=x", "x") is Role.READ
    assert roles.role("CN=x", None) is Role.READ
    assert read_certificate_roles(" ; ") is None


@pytest.mark.parametrize("text", ["CN=alice", "CN=alice:admin", ":read", "alice:", "a:read;b"])
def test_unknown_roles_are_errors(text: str) -> None:
    with pytest.raises(ConfigError, match=r"rest\.certificate\.roles: expected"):
        read_rest_config({"rest.certificate.roles": text}, {})


def test_roles_of_certificates_need_certificates() -> None:
    with pytest.raises(ConfigError, match="has no effect without client certificates"):
        read_rest_config({"rest.certificate.roles": "alice:read"}, {})
