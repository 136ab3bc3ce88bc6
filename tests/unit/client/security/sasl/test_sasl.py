"""SASL mechanisms against the vectors of their specifications, and an independent signer."""

from __future__ import annotations

import base64
import hmac
import http.server
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from heliograph.client.security.sasl import new_mechanism
from heliograph.client.security.sasl.aws import payload, region_of, sign, signed_token
from heliograph.client.security.sasl.aws_credentials import AwsCredentials, find_credentials
from heliograph.client.security.sasl.scram import Scram
from heliograph.client.security.sasl.tokens import Token, TokenSource, expiry, token_for, unsecured
from heliograph.errors import LoginFailed, Unreachable
from heliograph.security import (
    AwsIam,
    Kerberos,
    Password,
    Sasl,
    Secret,
    Security,
    TokenEndpoint,
    UnsecuredToken,
)
from support.waiting import PATIENCE_SECONDS, eventually

ALICE = Password(username="alice", password=Secret("hush"))


def security(mechanism: str, credentials: object) -> Security:
    return Security(sasl=Sasl(mechanism=mechanism, credentials=credentials))  # type: ignore[arg-type]


def test_plain_sends_user_and_password() -> None:
    mechanism = new_mechanism(security("PLAIN", ALICE), "broker")

    assert mechanism.start() == b"\0alice\0hush"
    assert mechanism.answer(b"") is None


# ── SCRAM ────────────────────────────────────────────────────────────────────────────────────

#: RFC 7677, section 3
RFC_PASSWORD = Password(username="user", password=Secret("pencil"))
RFC_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def scram() -> Scram:
    return Scram("SCRAM-SHA-256", RFC_PASSWORD, nonce=RFC_NONCE)


def test_scram_as_in_the_rfc() -> None:
    mechanism = scram()

    assert mechanism.start() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert mechanism.answer(SERVER_FIRST) == CLIENT_FINAL
    assert mechanism.answer(SERVER_FINAL) is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([SERVER_FIRST, b"v=AAAA"], "did not prove that it knows the password"),
        ([SERVER_FIRST, b"?"], "did not prove that it knows the password"),
        ([b"r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096"], "did not repeat our nonce"),
        ([b"r=other,s=W22Z,i=4096"], "did not repeat our nonce"),
        ([b"r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1"], "expected 4096 to 100000 iterations, found 1"),
        ([b"r=rOprNGfwEbeRWgbNEkqOx,s=?,i=1"], "challenge cannot be parsed"),
        ([b"e=unknown-user"], "the broker refuses the login: unknown-user"),
    ],
)
def test_a_broker_that_does_not_know_the_password_is_not_trusted(
    words: list[bytes], sentence: str
) -> None:
    mechanism = scram()
    mechanism.start()

    for word in words[:-1]:
        mechanism.answer(word)
    with pytest.raises(LoginFailed, match=sentence):
        mechanism.answer(words[-1])


def test_scram_names_with_commas_and_delegation_tokens() -> None:
    odd = Password(username="a=b,c", password=Secret("x"), is_token=True)

    assert Scram("SCRAM-SHA-512", odd, nonce="n").start() == b"n,,n=a=3Db=2Cc,r=n,tokenauth=true"


# ── OAUTHBEARER ──────────────────────────────────────────────────────────────────────────────

UNSECURED = UnsecuredToken(
    claims=(("sub", '"alice"'),), lifetime_seconds=60, extensions=(("x", "y"),)
)


def test_an_unsecured_token_says_who_and_until_when() -> None:
    token = unsecured(UNSECURED, 1000.0)

    header, claims, signature = token.split(".")
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "none"}
    assert json.loads(base64.urlsafe_b64decode(claims + "==")) == {
        "sub": "alice",
        "iat": 1000.0,
        "exp": 1060.0,
    }
    assert signature == ""
    assert expiry(token) == 1060.0
    assert expiry("opaque") is None


def test_a_broker_finds_no_unsecured_token_from_the_future() -> None:
    """It compares with its own clock, in full milliseconds."""
    claims = unsecured(UNSECURED, 1000.0009).split(".")[1]

    assert json.loads(base64.urlsafe_b64decode(claims + "=="))["iat"] == 1000


def test_oauthbearer_sends_token_and_extensions() -> None:
    mechanism = new_mechanism(security("OAUTHBEARER", UNSECURED), "broker")

    head, auth, extension, *rest = mechanism.start().decode().split("\x01")
    assert (head, extension, rest) == ("n,,", "x=y", ["", ""])
    assert auth.startswith("auth=Bearer ey")
    assert mechanism.answer(b"") is None


def test_a_token_that_is_refused_is_answered_before_the_broker_fails() -> None:
    mechanism = new_mechanism(security("OAUTHBEARER", UNSECURED), "broker")
    mechanism.start()

    assert mechanism.answer(b'{"status":"invalid_token"}') == b"\x01"
    with pytest.raises(LoginFailed, match="refuses the token: invalid_token"):
        mechanism.answer(b"more")


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Gives out a token to `me` with the secret `hush/+`."""

    asked: list[dict[str, list[str]]] = []  # noqa: RUF012 - of the one server of these tests
    redirected: list[str] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        Endpoint.asked.append(parse_qs(body))
        if self.path == "/broken":
            self._answer(503, {})
        elif self.path.startswith("/moved/"):
            self.send_response(int(self.path.rpartition("/")[2]))
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/odd":
            self._answer(200, {"token": "x"})
        elif self.headers["Authorization"] != f"Basic {base64.b64encode(b'me:hush/+').decode()}":
            self._answer(401, {"error": "invalid_client", "error_description": "who are you"})
        else:
            self._answer(200, {"access_token": f"token-{len(Endpoint.asked)}", "expires_in": 60})

    def do_GET(self) -> None:  # as urllib asks where a redirect points
        Endpoint.redirected.append(self.headers["Authorization"])
        self._answer(200, {"access_token": "stolen", "expires_in": 60})

    def _answer(self, code: int, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def endpoint() -> Iterator[TokenEndpoint]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield TokenEndpoint(
            url=f"http://127.0.0.1:{server.server_port}/token",
            client_id="me",
            client_secret=Secret("hush/+"),
            scope="kafka",
        )
        server.shutdown()


def test_a_token_is_fetched_once_and_shared(endpoint: TokenEndpoint) -> None:
    first = token_for(endpoint, Security())

    assert first == token_for(replace(endpoint), Security())
    assert Endpoint.asked[0] == {"grant_type": ["client_credentials"], "scope": ["kafka"]}


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_with_the_clients_secret(
    endpoint: TokenEndpoint, code: int
) -> None:
    moved = replace(endpoint, url=endpoint.url.replace("/token", f"/moved/{code}"))

    with pytest.raises(LoginFailed, match=f"HTTP {code}: it redirects to another address"):
        token_for(moved, Security())

    assert Endpoint.redirected == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:,{}"])
def test_only_http_is_spoken_to_a_token_endpoint(endpoint: TokenEndpoint, url: str) -> None:
    with pytest.raises(Unreachable, match="unknown url type"):
        token_for(replace(endpoint, url=url), Security())


@pytest.mark.parametrize(
    ("path", "secret", "kind", "sentence"),
    [
        (
            "/token",
            "guess",
            LoginFailed,
            r"HTTP 401 \(who are you\); check the client's id and secret",
        ),
        ("/broken", "hush/+", Unreachable, "no token: HTTP 503"),
        ("/odd", "hush/+", LoginFailed, "expected JSON with access_token"),
    ],
)
def test_an_endpoint_without_a_token_is_named(
    endpoint: TokenEndpoint, path: str, secret: str, kind: type[Exception], sentence: str
) -> None:
    other = replace(
        endpoint, url=endpoint.url.replace("/token", path), client_secret=Secret(secret)
    )

    with pytest.raises(kind, match=sentence) as caught:
        token_for(other, Security())

    assert other.url in str(caught.value)
    assert secret not in str(caught.value)


def test_an_endpoint_that_is_not_there_is_waited_for() -> None:
    nowhere = TokenEndpoint(
        url="http://127.0.0.1:1/token", client_id="me", client_secret=Secret("hush")
    )

    with pytest.raises(Unreachable, match="Connection refused"):
        token_for(nowhere, Security())


def test_a_token_is_renewed_aside_while_the_old_one_is_still_good() -> None:
    fetched, renewed = [], threading.Event()

    def fetch() -> Token:
        if fetched:
            renewed.set()
        fetched.append(1)
        since = time.time() - 50 * (len(fetched) == 1)
        return Token(text=f"t{len(fetched)}", since=since, until=since + 60)

    source = TokenSource(fetch, window=0.8)

    assert source.get().text == "t1"
    assert source.get().text == "t1"
    assert renewed.wait(PATIENCE_SECONDS)
    eventually(lambda: source.get().text, lambda text: text == "t2")
    assert len(fetched) == 2


# ── AWS ──────────────────────────────────────────────────────────────────────────────────────

HOST = "b-1.mine.abc123.c2.kafka.eu-west-1.amazonaws.com"
KEYS = AwsCredentials(
    access_key="AKIDEXAMPLE",
    secret_key=Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    session_token=Secret("session/token+=="),
)
NOW = 1_700_000_000.0


def botocore_query(host: str, fields: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The query of the same request, signed by botocore at the same moment."""
    moment = datetime.strptime(fields["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_, **__: moment)
    keys = BotoCredentials(KEYS.access_key, str(KEYS.secret_key), str(KEYS.session_token))
    request = AWSRequest("GET", f"https://{host}/?Action=kafka-cluster%3AConnect")
    SigV4QueryAuth(keys, "kafka-cluster", "eu-west-1", expires=900).add_auth(request)
    return urlsplit(request.url).query


def test_the_signature_is_botocores(monkeypatch: pytest.MonkeyPatch) -> None:
    query = sign(HOST, "eu-west-1", KEYS, NOW)

    theirs = dict(parse_qsl(botocore_query(HOST, query.fields, monkeypatch)))
    assert theirs == query.fields | {"X-Amz-Signature": query.signature}


def test_a_verifier_that_knows_the_key_accepts_the_payload_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = json.loads(payload(HOST, "eu-west-1", KEYS, NOW))

    assert said["version"] == "2020_10_22"
    assert said["action"] == "kafka-cluster:Connect"
    assert said["host"] == HOST
    assert said["x-amz-expires"] == "900"
    assert said["x-amz-signedheaders"] == "host"
    fields = {"X-Amz-Date": said["x-amz-date"]}
    theirs = dict(parse_qsl(botocore_query(said["host"], fields, monkeypatch)))
    assert hmac.compare_digest(theirs["X-Amz-Signature"], said["x-amz-signature"])
    elsewhere = dict(parse_qsl(botocore_query("b-2", fields, monkeypatch)))
    assert elsewhere["X-Amz-Signature"] != said["x-amz-signature"]


def test_msks_token_for_oauthbearer_is_a_signed_address(monkeypatch: pytest.MonkeyPatch) -> None:
    token = signed_token("eu-west-1", KEYS, NOW)

    url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    assert url.netloc == "kafka.eu-west-1.amazonaws.com"
    fields = dict(parse_qsl(url.query))
    assert fields.pop("User-Agent").startswith("heliograph/")
    assert fields == dict(parse_qsl(botocore_query(url.netloc, fields, monkeypatch)))


def test_the_region_is_in_the_brokers_name_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert region_of(HOST) == "eu-west-1"
    assert region_of("boot-x.c1.kafka-serverless.us-gov-west-1.amazonaws.com") == "us-gov-west-1"
    with pytest.raises(LoginFailed, match="set AWS_REGION"):
        region_of("localhost")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert region_of("localhost") == "us-east-1"


def test_credentials_of_the_environment_and_of_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    file = tmp_path / "credentials"
    file.write_text("[p]\naws_access_key_id = OTHER\naws_secret_access_key = hush\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))

    assert find_credentials(AwsIam(), "eu-west-1").access_key == "AKID"
    assert find_credentials(AwsIam(profile="p"), "eu-west-1").access_key == "OTHER"
    with pytest.raises(LoginFailed, match=r"no credentials: .*\(nobody\)"):
        find_credentials(AwsIam(profile="nobody"), "eu-west-1")
    assert "hush" not in repr(find_credentials(AwsIam(), "eu-west-1"))


def test_kerberos_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(LoginFailed, match=r"install heliograph\[kerberos\]"):
        new_mechanism(security("GSSAPI", Kerberos(service="kafka")), "broker")
