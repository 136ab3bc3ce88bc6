"""Roles of users with hashed passwords and of certificates."""

from __future__ import annotations

import http.client
import ssl
from pathlib import Path

import pytest

from harness.certificates import Authority, Identity
from heliograph.config.security.rest_users import User
from heliograph.security import Secret
from heliograph.web import gate, passwords
from heliograph.web.listener.attempts import BURST, SECONDS_EACH, Attempts
from heliograph.web.passwords import Passwords, hashed
from support.rest.asking import HEARTBEAT, JSON_BODY, Asking
from support.rest.listening import PATIENCE, basic, get, head, send, serving

HASH = hashed("s3same")
AUTHORITY = Authority("rest authority")
WORKER = AUTHORITY.issue("worker", ["localhost"])
HTTPS = "listeners.https.ssl"


@pytest.fixture
def file(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "users.properties"
    path.write_text(f"writer = {HASH} write\nreader = {HASH} read\nanyone = {HASH}\nold = pl ain\n")
    return {"rest_users_file": str(path)}


def asked(asking: Asking, user: str, method: str, target: str, content: object = None) -> int:
    password = "pl ain" if user == "old" else "s3same"
    headers = {"authorization": basic(user, password)}
    return asking.ask(method, target, content, headers=headers).status


def test_the_read_role_may_get_and_nothing_else(file: dict[str, str]) -> None:
    asking = Asking(**file)

    assert asked(asking, "reader", "GET", "/connectors") == 200
    assert asked(asking, "reader", "HEAD", "/connectors") == 200
    assert asked(asking, "reader", "OPTIONS", "/connectors") == 200
    for method, target, body in [
        ("POST", "/connectors", {"name": "c", "config": HEARTBEAT}),
        ("PUT", "/connectors/c/config", HEARTBEAT),
        ("PUT", "/connectors/c/pause", None),
        ("PATCH", "/connectors/c/offsets", {}),
        ("DELETE", "/connectors/c", None),
        ("PUT", "/admin/loggers/root", {"level": "DEBUG"}),
        ("POST", "/nowhere", None),
    ]:
        assert asked(asking, "reader", method, target, body) == 403, (method, target)
    assert asking.herder.connectors() == []


@pytest.mark.parametrize("user", ["writer", "anyone", "old"])
def test_the_write_role_may_do_everything_and_is_what_a_line_without_a_role_means(
    file: dict[str, str], user: str
) -> None:
    creation = {"name": "c", "config": HEARTBEAT}

    assert asked(Asking(**file), user, "POST", "/connectors", creation) == 201


def test_a_refused_change_says_which_role_it_needs(file: dict[str, str]) -> None:
    headers = {"authorization": basic("reader", "s3same")}

    answer = Asking(**file).ask("DELETE", "/connectors/c", headers=headers)

    assert answer.content == {
        "error_code": 403,
        "message": "User reader has the role read; DELETE needs the role write.",
    }


@pytest.mark.parametrize(
    "password",
    ["s3sam", "", HASH, "S3SAME", "s3same "],
    ids=["short", "empty", "the hash itself", "in capitals", "with a blank"],
)
def test_only_the_password_fits_its_hash(file: dict[str, str], password: str) -> None:
    headers = {"authorization": basic("writer", password)}

    assert Asking(**file).ask("GET", "/connectors", headers=headers).status == 401


def test_two_hashes_of_a_password_differ() -> None:
    assert hashed("s3same") != HASH
    assert HASH.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_a_right_password_is_checked_once_a_minute_and_a_wrong_one_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []
    fits = passwords._fits
    monkeypatch.setattr(passwords, "_fits", lambda p, h: bool(checked.append(p)) or fits(p, h))
    now = [0.0]
    known = Passwords({"a": User(password=Secret(HASH), hashed=True)}, clock=lambda: now[0])

    assert not known.remembers("a", "s3same")
    assert known.right("a", "s3same")
    assert known.remembers("a", "s3same")
    assert not known.remembers("a", "s3sam")
    assert not known.remembers("b", "s3same")
    assert not known.right("a", "wrong")
    assert not known.right("b", "s3same")
    assert known.remembers("a", "s3same"), "a wrong one changes nothing"
    now[0] = 61.0
    assert not known.remembers("a", "s3same")
    assert checked == ["s3same", "wrong", "s3same"], "an unknown name takes as long"


def test_attempts_are_limited_by_address_and_come_back() -> None:
    now = [0.0]
    attempts = Attempts(clock=lambda: now[0])

    assert [attempts.take("a") for _ in range(BURST)] == [0.0] * BURST
    assert attempts.take("a") == SECONDS_EACH
    assert attempts.take("b") == 0.0
    now[0] += SECONDS_EACH
    assert attempts.take("a") == 0.0
    assert attempts.take("a") > 0
    attempts.give_back("a")
    assert attempts.take("a") == 0.0


def test_an_address_that_guesses_is_refused_and_the_others_are_not(
    file: dict[str, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time stands still: on a slow machine the guesses take longer than it takes to get an attempt back."""
    monkeypatch.setattr(gate, "Attempts", lambda: Attempts(clock=lambda: 0.0))
    known = {"Authorization": basic("reader", "s3same")}
    with serving({"rest.users.file": file["rest_users_file"]}) as server:
        assert get(server.port, **known) == 200
        statuses = [
            get(server.port, Authorization=basic("reader", f"guess{n}")) for n in range(BURST + 2)
        ]

        assert statuses == [401] * BURST + [429] * 2
        assert get(server.port, **known) == 200, "a password that was right a moment ago"
        assert get(server.port, source="127.0.0.2", Authorization=basic("writer", "s3same")) == 200
    assert "429 for a request from 127.0.0.1: too many wrong passwords" in caplog.text


def identify(context: ssl.SSLContext, identity: Identity, folder: Path) -> ssl.SSLContext:
    path = folder / "client.pem"
    path.write_text(identity.key() + identity.pem)
    context.load_cert_chain(path)
    return context


def by_certificate(
    port: int, folder: Path, identity: Identity | None, method: str, **headers: str
) -> int:
    context = ssl.create_default_context(cadata=AUTHORITY.identity.pem)
    if identity is not None:
        identify(context, identity, folder)
    connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=context)
    try:
        body = "{}" if method == "PUT" else None
        connection.request(method, "/connectors/c/config", body, JSON_BODY | headers)
        return connection.getresponse().status
    finally:
        connection.close()


def mutual(roles: str, **more: str) -> dict[str, str]:
    return {
        "listeners": "https://localhost:0",
        "rest.certificate.roles": roles,
        f"{HTTPS}.client.auth": "requested",
        f"{HTTPS}.keystore.type": "PEM",
        f"{HTTPS}.keystore.key": WORKER.key(),
        f"{HTTPS}.keystore.certificate.chain": WORKER.pem,
        f"{HTTPS}.truststore.type": "PEM",
        f"{HTTPS}.truststore.certificates": AUTHORITY.identity.pem,
        **more,
    }


def test_a_certificate_has_the_role_of_its_name(tmp_path: Path) -> None:
    roles = "CN=deployer:write; monitor:read"
    with serving(mutual(roles)) as server:

        def ask(identity: Identity | None, method: str) -> int:
            return by_certificate(server.port, tmp_path, identity, method)

        deployer, monitor = AUTHORITY.issue("deployer"), AUTHORITY.issue("monitor")
        assert ask(deployer, "GET") == 404
        assert ask(deployer, "PUT") == 400
        assert ask(monitor, "GET") == 404
        assert ask(monitor, "PUT") == 403
        assert ask(AUTHORITY.issue("stranger"), "GET") == 403
        assert ask(AUTHORITY.issue("CN=deployer"), "GET") == 403
        assert ask(None, "GET") == 403


def test_any_other_certificate_may_have_a_role(tmp_path: Path) -> None:
    with serving(mutual("*:read")) as server:
        stranger = AUTHORITY.issue("stranger")

        assert by_certificate(server.port, tmp_path, stranger, "GET") == 404
        assert by_certificate(server.port, tmp_path, stranger, "PUT") == 403
        assert by_certificate(server.port, tmp_path, None, "GET") == 403


def test_a_certificate_or_a_password(tmp_path: Path, file: dict[str, str]) -> None:
    settings = mutual("monitor:read", **{"rest.users.file": file["rest_users_file"]})
    with serving(settings) as server:

        def ask(identity: Identity | None, method: str, **headers: str) -> int:
            return by_certificate(server.port, tmp_path, identity, method, **headers)

        monitor = AUTHORITY.issue("monitor")
        writer = {"Authorization": basic("writer", "s3same")}
        assert ask(monitor, "GET") == 404
        assert ask(monitor, "PUT") == 403
        assert ask(monitor, "PUT", **writer) == 400
        assert ask(None, "PUT", **writer) == 400
        assert ask(None, "GET") == 401
        assert ask(AUTHORITY.issue("stranger"), "GET") == 401
        assert ask(monitor, "GET", Authorization=basic("writer", "wrong")) == 401


def test_roles_of_certificates_hold_for_listeners_without_tls_too() -> None:
    with serving(mutual("*:write", listeners="https://localhost:0,http://localhost:0")) as server:
        port = next(each.port for each in server.listening if each.scheme == "http")

        assert send(port, head("GET", "/connectors"))[0] == 403
