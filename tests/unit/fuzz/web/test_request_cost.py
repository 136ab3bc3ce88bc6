"""A law of every field that REST takes: twice the text costs at most twice the time, up to the cap.

Measured in CPU time of this thread over four times the length: a cost that is linear grows 4 times, a
quadratic one 16 times. In between is room for a busy machine; what still looks wrong is measured again.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import re
import time
from collections.abc import Callable, Iterator

import pytest

from heliograph.client.security.key_stores import with_material
from heliograph.config.connectors.field_limits import (
    MOST_OF_A_NAME,
    MOST_OF_A_VALUE,
    MOST_SETTINGS,
    most_of,
)
from heliograph.config.connectors.read_connectors import read_connector
from heliograph.config.options import OPTIONS, Scope
from heliograph.errors import HeliographError, InvalidPattern
from heliograph.model import ClusterConfig
from heliograph.policy.java_regex import JavaPattern
from support.configurations.forms_files import SOURCE, worker
from support.rest.asking import HEARTBEAT, Asking

#: Four times this is what a quadratic parser takes tenths of a second for.
_LENGTH = 4 << 10
#: Of fields that are read character by character, where less shows it.
_SLOW_LENGTH = 2 << 10
_GROWTH = 9.0
#: Where one run is enough.
_CLEARLY_LINEAR = 6.0
#: Below this, what is fixed costs more than what grows.
_FLOOR_SECONDS = 0.01
_RUNS = 4

#: Texts that make a careless parser go back, or begin anew at each character.
SHAPES: dict[str, Callable[[int], str]] = {
    "letters": lambda n: "a" * n,
    "digits": lambda n: "9" * n,
    "zeros": lambda n: "0" * (n - 1) + "x",
    "blanks": lambda n: "a" + " " * (n - 2) + "b",
    "commas": lambda n: "," * n,
    "blank commas": lambda n: (" , " * n)[:n],
    "colons": lambda n: ("a:" * n)[:n],
    "dots": lambda n: ("a." * n)[:n],
    "dashes": lambda n: "-" * n,
    "slashes": lambda n: "/" * n,
    "quotes": lambda n: '"' * n,
    "backslashes": lambda n: "\\" * n,
    "equals": lambda n: ("a=" * n)[:n],
    "parentheses": lambda n: "(" * n,
    "brackets": lambda n: ("[a" * n)[:n],
    "open placeholders": lambda n: ("${" * n)[:n],
    "nested placeholders": lambda n: ("${" * n)[: n - 1] + "}",
    "providers": lambda n: ("${a:" * n)[:n],
    "file options": lambda n: ("keyTab" * n)[:n],
    "spaced file options": lambda n: ("file " * n)[:n],
    "module without end": lambda n: "M required " + ('a="b" ' * n)[: n - 11],
    "modules": lambda n: ("M required;" * n)[:n],
    "comments": lambda n: ("/*" * n)[:n],
    "PEM beginnings": lambda n: ("-----BEGIN CERTIFICATE-----" * n)[:n],
    "PEM labels": lambda n: ("-----BEGIN A-----END A" * n)[:n],
    "URL": lambda n: "http://" + ("%2e/" * n)[: n - 7],
    "hosts": lambda n: ("a:1," * n)[:n],
    "ranges": lambda n: ("[1," * n)[:n],
    "rename": lambda n: ("a=>b," * n)[:n],
    "surrogates": lambda n: "\U0001f4a9" * n,
    "controls": lambda n: "\x01" * n,
}

NAMES = sorted(
    {o.name for o in OPTIONS.values() if o.scope is Scope.CONNECTOR and o.renamed_to is None}
    | {
        f"{prefix}{name}"
        for scope, name in OPTIONS
        if scope is Scope.CLIENT
        for prefix in ("source.cluster.", "producer.override.")
    }
    | {"my.own", "transforms", "connector.plugin.version", "key.converter"}
)
#: Without which a configuration is refused before anything else is read.
_KEPT = {"connector.class", "name", "enabled"}
#: Regular expressions and JAAS lines; beside them a quadratic cost of another field would not be seen.
_COSTLY = (
    *("topics", "topics.exclude", "groups", "config.properties.exclude"),
    *("source.cluster.sasl.jaas.config", "replication.policy.topic.rename"),
)
_PATTERNS = ("a|", "(a)", "[a-z]", "a*", r"\w+", "a,", "[^a&&[b]]", r"\p{L}", "(?:a|b)?", r"\Qa\E")


def cost(prepared: Callable[[], object]) -> float:
    """CPU time of this thread; what the collector does is not the text's fault."""
    gc.disable()
    began = time.thread_time()
    try:
        prepared()
        return time.thread_time() - began
    finally:
        gc.enable()


def growth(action: Callable[[int], Callable[[], object]], length: int = _LENGTH) -> str | None:
    """What is wrong with the cost of `action(n)()`; None if it is linear. Measured again, with another text,
    so that no cache answers, only where it seems to be wrong: the least of several runs counts."""
    short = long = math.inf
    for run in range(_RUNS):
        long = min(long, cost(action(4 * length - run)))
        if long < _FLOOR_SECONDS:
            return None
        short = min(short, cost(action(length - run)))
        if long < _CLEARLY_LINEAR * short + _FLOOR_SECONDS:
            return None
    if long < _GROWTH * short + _FLOOR_SECONDS:
        return None
    return f"{length} characters: {short:.3f} s, {4 * length}: {long:.3f} s"


def test_the_law_tells_a_quadratic_parser_from_a_linear_one() -> None:
    """The three of the security review, as they were."""
    assert growth(lambda n: lambda: "a".join(SHAPES["blanks"](n))) is None
    for careless, text, length in (
        (r"\s*,\s*", " ", _LENGTH // 2),
        (r"\$\{(?:[^}:]*):(?:([^}:]*):)?([^}]*)\}", "${", _LENGTH // 2),
        (r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", "-----BEGIN A-----", _LENGTH),
    ):
        pattern = re.compile(careless, re.DOTALL)
        found = growth(lambda n: lambda: pattern.findall((text * n)[:n]), length)  # noqa: B023
        assert found is not None


def filled(names: list[str], shape: Callable[[int], str], length: int) -> dict[str, str]:
    return {name: shape(max(min(length, most_of(name)), 16)) for name in names if name not in _KEPT}


def requested(names: list[str], shape: Callable[[int], str], length: int) -> Callable[[], object]:
    asking = Asking()
    body = json.dumps({"name": "c", "config": {**HEARTBEAT, **filled(names, shape, length)}})
    return lambda: asking.ask("POST", "/connectors", body.encode())


def read(names: list[str], shape: Callable[[int], str], length: int) -> Callable[[], object]:
    its = worker()
    config = {**SOURCE, **filled(names, shape, length)}
    return lambda: read_connector("c", config, its, its.permitted)


def narrowed(
    kind: Callable[..., Callable[[], object]], shape: Callable[[int], str]
) -> Iterator[str]:
    """Fields that are read character by character one by one, all others at once; if that is too much, which
    of them it is."""
    others = [name for name in NAMES if not name.endswith(_COSTLY)]
    suspects = [name for name in NAMES if name.endswith(_COSTLY)]
    if growth(lambda n: kind(others, shape, n)) is not None:
        suspects += others
    for name in suspects:
        length = _SLOW_LENGTH if name.endswith(_COSTLY) else _LENGTH
        wrong = growth(lambda n, name=name: kind([name], shape, n), length)  # type: ignore[misc]
        if wrong is not None:
            yield f"{name}: {wrong}"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_request_costs_what_its_length_justifies(shape: str) -> None:
    assert list(narrowed(requested, SHAPES[shape])) == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_connector_is_read_in_time_that_its_length_justifies(shape: str) -> None:
    assert list(narrowed(read, SHAPES[shape])) == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "GSSAPI"])
def test_logins_and_stores_are_read_in_time_that_their_length_justifies(
    shape: str, mechanism: str
) -> None:
    """What only a protocol and a mechanism bring into use."""
    its = worker()

    def opened(length: int) -> Callable[[], object]:
        text = SHAPES[shape](length)
        config = {
            **SOURCE,
            "source.cluster.security.protocol": "SASL_SSL",
            "source.cluster.sasl.mechanism": mechanism,
            "source.cluster.sasl.kerberos.service.name": "kafka",
            "source.cluster.sasl.jaas.config": f'M required clientId="{text}" {text};',
            "source.cluster.sasl.oauthbearer.token.endpoint.url": "https://idp/",
            "source.cluster.ssl.truststore.type": "PEM",
            "source.cluster.ssl.truststore.certificates": text,
            "source.cluster.ssl.keystore.type": "PEM",
            "source.cluster.ssl.keystore.certificate.chain": text,
            "source.cluster.ssl.keystore.key": text,
            "source.cluster.ssl.cipher.suites": text,
        }
        return lambda: _open(read_connector("c", config, its, its.permitted).clusters)

    assert growth(opened) is None


def _open(clusters: tuple[ClusterConfig, ...]) -> None:
    for cluster in clusters:
        for security in (cluster.security, *dict(cluster.by_client).values()):
            try:
                with_material(security)
            except HeliographError:
                continue


@pytest.mark.parametrize("text", _PATTERNS)
def test_a_pattern_is_compiled_in_time_that_its_length_justifies(text: str) -> None:
    def compiled(length: int) -> Callable[[], object]:
        pattern = text * (length // len(text)) + str(length)

        def compile_it() -> None:
            with contextlib.suppress(InvalidPattern):
                JavaPattern(pattern)

        return compile_it

    assert growth(compiled, _SLOW_LENGTH) is None


@pytest.mark.parametrize("values", ["a", "${file:/x:y}", "[hidden]", "a:b"])
def test_many_settings_cost_what_their_number_justifies(values: str) -> None:
    asking = Asking()
    asking.ask("POST", "/connectors", {"name": "c", "config": HEARTBEAT})
    its = worker()

    def many(number: int) -> Callable[[], object]:
        config = {
            **HEARTBEAT,
            **{f"source.cluster.ssl.x{n}.password": values for n in range(number)},
        }
        body = json.dumps(config).encode()

        def ask() -> None:
            asking.ask("PUT", "/connectors/c/config", body)
            asking.ask("PATCH", "/connectors/c/config", body)
            read_connector("c", config, its, its.permitted)

        return ask

    assert growth(many, (MOST_SETTINGS - 50) // 4) is None


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/connectors/{}"),
        ("POST", "/connectors/c/tasks/{}/restart"),
        ("GET", "/connectors?expand={}"),
        ("GET", "/admin/loggers/{}"),
        ("PUT", "/admin/loggers/{}"),
        ("GET", "/connector-plugins/{}/config"),
        ("GET", "/connector-plugins/MirrorSourceConnector/config?version={}"),
        ("GET", "/{}"),
    ],
)
@pytest.mark.parametrize("text", ["a", "%61", "a.", "9", "-", "/a", "[1,", "%", "{", "heliograph."])
def test_a_path_costs_what_its_length_justifies(method: str, target: str, text: str) -> None:
    asking = Asking()

    def asked(length: int) -> Callable[[], object]:
        path = target.format((text * length)[:length])
        return lambda: asking.ask(method, path, b'{"level": "INFO"}')

    assert growth(asked, 16 << 10) is None


@pytest.mark.parametrize(
    "text", ["[", "{", '{"a":', "9", '"', "\\u0061", " ", "-", "1e", ",", "\x00"]
)
@pytest.mark.parametrize("target", ["/connectors", "/connectors/c/config", "/connectors/c/offsets"])
def test_a_body_costs_what_its_length_justifies(target: str, text: str) -> None:
    asking = Asking()
    asking.ask("POST", "/connectors", {"name": "c", "config": HEARTBEAT})
    asking.ask("PUT", "/connectors/c/stop")

    def asked(length: int) -> Callable[[], object]:
        body = (text * length)[:length]
        offsets = json.dumps({"offsets": [{"partition": {"cluster": body}, "offset": None}]})
        return lambda: [
            asking.ask("PATCH", target, each)
            for each in (body.encode(), f'{{"a": {body}}}'.encode(), offsets.encode())
        ]

    assert growth(asked) is None


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"a" * (MOST_OF_A_NAME + 1): "b"}, f"a name of at most {MOST_OF_A_NAME} characters"),
        ({"topics": "a" * (MOST_OF_A_VALUE + 1)}, f"expected at most {MOST_OF_A_VALUE} characters"),
        (
            {f"a{n}": "b" for n in range(MOST_SETTINGS)},
            f"expected at most {MOST_SETTINGS} settings",
        ),
        ({"topics": "${a:b:c}" * 21}, "expected at most 20 placeholders, found 21"),
        ({"topic.filter.class": "a" * 1025}, "expected at most 1024 characters, found 1025"),
    ],
)
def test_what_is_longer_than_its_cap_is_refused(config: dict[str, str], sentence: str) -> None:
    asking = Asking()
    asking.ask("POST", "/connectors", {"name": "c", "config": HEARTBEAT})
    wrong = {**HEARTBEAT, **config}

    for method, target, body in (
        ("POST", "/connectors", {"name": "d", "config": wrong}),
        ("PUT", "/connectors/c/config", wrong),
        ("PATCH", "/connectors/c/config", wrong),
        ("PUT", "/connector-plugins/MirrorHeartbeat/config/validate", wrong),
    ):
        answer = asking.ask(method, target, body)
        assert answer.status == 400
        assert sentence in answer.body().decode()


@pytest.mark.parametrize("name", ["a" * 257, "a." * 100])
def test_a_logger_with_an_endless_name_is_refused(name: str) -> None:
    for method in ("GET", "PUT"):
        answer = Asking().ask(method, f"/admin/loggers/{name}", {"level": "INFO"})
        assert answer.status == 400
