"""mm2.properties and what placeholders fetch, damaged: read, or refused with a list of problems."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.config.formats.mm2_properties import load
from heliograph.config.formats.properties import PropertiesFile, parse_properties
from heliograph.config.mirror_client_config import MirrorClientConfig, mirror_client_config
from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.options import OPTIONS
from heliograph.errors import ConfigError
from support.configurations.mm2_files import BASE
from support.fuzz.laws import at_most, survives
from support.fuzz.mutation import mutants
from support.repository import ROOT

EXAMPLES = [path.read_bytes() for path in sorted((ROOT / "examples").glob("*.properties"))]
PROVIDERS = b"""\
config.providers = file, dir, env
config.providers.file.class = FileConfigProvider
config.providers.dir.class = DirectoryConfigProvider
config.providers.env.class = EnvVarConfigProvider
config.providers.env.param.allowlist.pattern = A.*
us.ssl.keystore.password = ${file:/nowhere/secrets:key}-${env:A}
eu.ssl.keystore.password = ${dir:/nowhere:key}
topics = ${TOPICS}
"""
VALUES = [
    "",
    ",",
    "true",
    "-1",
    "0",
    "9" * 5000,
    "1e400",
    "nan",
    "٣",
    r"\u0000",
    r"\ud800",
    "a:b:c",
    "[::1]:9092",
    "host:99999",
    "host:٣",
    ":",
    "a" * 300 + ":9092",
    "(",
    "(" * 2000,
    "[" * 2000,
    "(.*)-x => $1-y",
    "${env:A}",
    "${file:/a\\u0000b:c}",
    "${file:/dev/null:c}",
    "${dir:/:\\u0000}",
    "${x:${y:z}}",
    "${" * 300,
    "read_committed",
    "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
]
NAMES = sorted({name for _, name in OPTIONS} | {"clusters", "config.providers", "x"})
PREFIXES = ["", "us.", "us->eu.", "us.consumer.", "eu.admin.", "source.", "->", "us->", "\\u0000"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties")


@st.composite
def settings_files(draw: st.DrawFn) -> bytes:
    """A file that works, and some lines with options of all kinds and values of no kind."""
    lines = draw(
        st.lists(
            st.tuples(st.sampled_from(PREFIXES), st.sampled_from(NAMES), st.sampled_from(VALUES)),
            max_size=4,
        )
    )
    return BASE.encode() + "".join(f"{p}{n} = {v}\n" for p, n, v in lines).encode()


def check_file(folder: Path, data: bytes) -> None:
    path = folder / "mm2.properties"
    path.write_bytes(data)

    outcome = survives(
        lambda: load(path, (), {"A": "1", "TOPICS": "a"}), len(data), anyway=16 << 20
    )

    assert isinstance(outcome, MirrorConfig | ConfigError)


@at_most(40)
@given(data=mutants([*EXAMPLES, BASE.encode() + PROVIDERS], most=6) | st.binary(max_size=100))
def test_a_damaged_file_is_read_or_its_problems_are_reported(folder: Path, data: bytes) -> None:
    check_file(folder, data)


@at_most(60)
@given(data=settings_files())
def test_strange_values_are_accepted_or_reported(folder: Path, data: bytes) -> None:
    check_file(folder, data)


@given(st.sampled_from(["", "${file:/x:", "\\u"]), st.binary(max_size=200))
def test_any_text_is_properties_or_refused(start: str, data: bytes) -> None:
    text = start + data.decode("latin-1")

    outcome = survives(lambda: parse_properties(text, "mm2.properties"), len(text))

    assert isinstance(outcome, PropertiesFile | ConfigError)


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=5))
def test_strange_values_of_a_client_are_accepted_or_reported(
    properties: dict[str, str],
) -> None:
    size = sum(map(len, properties.values()))

    outcome = survives(
        lambda: mirror_client_config({"bootstrap.servers": "a:1", **properties}),
        size,
        anyway=16 << 20,
    )

    assert isinstance(outcome, MirrorClientConfig | ConfigError)


@pytest.mark.parametrize("reference", ["${file:%s:key}", "${dir:%s:key}"])
@at_most(20)
@given(data=st.binary(max_size=60) | mutants([b"key = value\n", b"key=\\u00e9\n"]))
def test_files_that_placeholders_name_may_hold_anything(
    folder: Path, reference: str, data: bytes
) -> None:
    secrets = folder / "secrets"
    secrets.mkdir(exist_ok=True)
    (secrets / "key").write_bytes(data)
    place = secrets / "key" if "file" in reference else secrets
    setting = f"us.ssl.keystore.password = {reference % place}\n"

    check_file(folder, BASE.encode() + PROVIDERS[: PROVIDERS.index(b"us.ssl")] + setting.encode())
