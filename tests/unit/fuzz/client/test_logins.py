"""Key stores that are none, and brokers and token endpoints that say what they like."""

from __future__ import annotations

import base64
import math
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from hypothesis import given
from hypothesis import strategies as st

from harness.certificates import Authority
from heliograph.client.security.jks import MAGIC
from heliograph.client.security.key_stores import with_material
from heliograph.client.security.sasl import new_mechanism
from heliograph.client.security.sasl.token_endpoint import read_answer
from heliograph.client.security.sasl.tokens import expiry
from heliograph.client.security.tls import new_context
from heliograph.config.options.values import InvalidValue
from heliograph.config.security.jaas import parse_jaas
from heliograph.errors import HeliographError, LoginFailed
from heliograph.security import (
    Password,
    Sasl,
    Secret,
    Security,
    Store,
    Tls,
    TokenEndpoint,
    UnsecuredToken,
)
from support.fuzz.laws import at_most, survives
from support.fuzz.mutation import mutants

PASSWORD = "secret"
AUTHORITY = Authority("ours")
IDENTITY = AUTHORITY.issue("alice")
PEM = (IDENTITY.key() + IDENTITY.pem + AUTHORITY.identity.pem).encode()
P12 = serialize_key_and_certificates(
    *(b"alice", IDENTITY.private, IDENTITY.certificate, [AUTHORITY.identity.certificate]),
    BestAvailableEncryption(PASSWORD.encode()),
)
#: One certificate; without a password nothing is checked.
JKS = b"".join(
    [
        MAGIC,
        *((2).to_bytes(4, "big"), (1).to_bytes(4, "big"), (2).to_bytes(4, "big")),
        *(b"\x00\x02ca", bytes(8), b"\x00\x05X.509"),
        *((3).to_bytes(4, "big"), b"DER", bytes(20)),
    ]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stores")


def store(folder: Path, name: str, kind: str, content: bytes, password: str | None) -> Security:
    path = folder / "store"
    path.write_bytes(content)
    secret = None if password is None else Secret(password)
    found = Store(name=name, type=kind, location=str(path), password=secret)
    return Security(tls=Tls(**{name: found}))  # type: ignore[arg-type]


@given(
    content=mutants([PEM, JKS]) | st.binary(max_size=200),
    kind=st.sampled_from(["JKS", "PEM"]),
    name=st.sampled_from(["truststore", "keystore"]),
    password=st.sampled_from([None, PASSWORD]),
)
def test_a_store_is_read_or_refused(
    folder: Path, content: bytes, kind: str, name: str, password: str | None
) -> None:
    security = store(folder, name, kind, content, None if kind == "PEM" else password)
    survives(lambda: new_context(with_material(security)), len(content))


@pytest.mark.filterwarnings("ignore:PKCS#12 bundle")  # of cryptography: BER instead of DER
@at_most(40)
@given(content=mutants([P12], least=1), name=st.sampled_from(["truststore", "keystore"]))
def test_a_pkcs12_file_is_read_or_refused(folder: Path, content: bytes, name: str) -> None:
    security = store(folder, name, "PKCS12", content, PASSWORD)
    survives(lambda: new_context(with_material(security)), len(content))


LINE = "org.apache.kafka.X required username=\"alice\" password='a/b' n=5 /* c */ // d\n;"


@given(line=st.text(max_size=80) | mutants([LINE.encode()]).map(lambda b: b.decode("latin-1")))
def test_a_jaas_line_is_read_or_refused(line: str) -> None:
    def parse() -> object:
        try:
            return parse_jaas(line)
        except InvalidValue as e:
            return e

    survives(parse, len(line))


CHALLENGE = b"r=nonce%s,s=QSXCR+Q6sek8bf92,i=4096"
WORDS = [CHALLENGE, b"v=aGVsbG8=", b"e=other-error", b'{"status":"invalid_token"}', b"", b"\x01"]


@given(
    words=st.lists(mutants(WORDS) | st.binary(max_size=50), min_size=1, max_size=3),
    mechanism=st.sampled_from(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]),
)
def test_a_broker_that_says_anything_is_answered_or_left(
    words: list[bytes], mechanism: str
) -> None:
    ours = new_mechanism(_security(mechanism), "here")
    nonce = ours.start().rpartition(b"r=")[2]

    def login() -> bytes | None:
        said: bytes | None = b""
        for word in words:
            said = ours.answer(word.replace(b"nonce%s", nonce + b"x"))
        return said

    survives(login, sum(map(len, words)))


def _security(mechanism: str) -> Security:
    if mechanism == "OAUTHBEARER":
        return Security(
            sasl=Sasl(mechanism=mechanism, credentials=UnsecuredToken(claims=(("sub", '"a"'),)))
        )
    password = Password(username="alice", password=Secret(PASSWORD))
    return Security(sasl=Sasl(mechanism=mechanism, credentials=password))


def test_a_broker_cannot_keep_us_busy_with_iterations() -> None:
    ours = new_mechanism(_security("SCRAM-SHA-256"), "here")
    nonce = ours.start().rpartition(b"r=")[2]
    challenge = b"r=" + nonce + b"x,s=QSXCR+Q6sek8bf92,i=2000000000"

    assert isinstance(survives(lambda: ours.answer(challenge), len(challenge)), LoginFailed)


ENDPOINT = TokenEndpoint(url="https://here", client_id="id", client_secret=Secret("secret"))
ANSWER = b'{"access_token":"a.eyJleHAiOjF9.c","expires_in":3600}'


@given(body=mutants([ANSWER, b"[" * 3000, b'{"access_token":1e999}']) | st.binary(max_size=80))
def test_an_endpoint_that_says_anything_gives_a_token_or_is_refused(body: bytes) -> None:
    found = survives(lambda: read_answer(ENDPOINT, body), len(body))

    if not isinstance(found, HeliographError):
        token, seconds = found
        assert token
        assert seconds is None or seconds < 1e12
        expiry(token)


@given(claims=mutants([b'{"exp":1}', b"[" * 3000, b'{"exp":NaN}', b'{"exp":1e999}']))
def test_a_token_says_when_it_ends_or_does_not(claims: bytes) -> None:
    token = f"a.{base64.urlsafe_b64encode(claims).decode()}.c"

    until = survives(lambda: expiry(token), len(token))

    assert until is None or math.isfinite(until)  # type: ignore[arg-type]
