from __future__ import annotations

from pathlib import Path

import javaproperties
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.config.formats.properties import Property, parse_properties, read_properties
from heliograph.errors import ConfigError

WORDS = ["a", "b.c", "->", "\\", "\\\\", "\\u00e9", "\\t", "é", "\x85", "\u2028"]
BREAKS = [" ", "\t", "\f", "=", ":", "#", "!", "\n", "\r", "\r\n", "\\\n"]
PIECES = st.sampled_from([*WORDS, *BREAKS])


def values(text: str) -> dict[str, str]:
    parsed = parse_properties(text, "mm2.properties").properties
    return {key: found.value for key, found in parsed.items()}


@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_text_is_read_as_by_javaproperties(text: str) -> None:
    assert values(text) == javaproperties.loads(text)


@given(st.lists(st.sampled_from(["", "# c", "k{}=v", "k{}=v,\\\n  w", "k{} : \\\n\\\n x"])))
def test_every_key_knows_its_line(lines: list[str]) -> None:
    text = "\n".join(line.format(i) for i, line in enumerate(lines))

    parsed = parse_properties(text, "f")

    source = text.split("\n")
    for key, found in parsed.properties.items():
        assert source[found.line - 1].startswith(key)


def test_the_probes_of_the_grammar() -> None:
    text = (
        "# c\n! c2\na.b = 1\nkey\\ with\\ space:v\nlist = one,\\\n   two\ne = \\u00e9\nempty\n"
        "colon:x=y\nblanks = v  \nescapes = \\t|\\n\njaas = a\\\\b\nus->eu.enabled = true\n"
    )

    assert values(text) == {
        "a.b": "1",
        "key with space": "v",
        "list": "one,two",
        "e": "é",
        "empty": "",
        "colon": "x=y",
        "blanks": "v  ",
        "escapes": "\t|\n",
        "jaas": "a\\b",
        "us->eu.enabled": "true",
    }


def test_the_last_value_of_a_key_counts_and_the_warning_names_both_lines() -> None:
    parsed = parse_properties("a = 1\n\na = 2\n", "mm2.properties")

    assert parsed.properties == {"a": Property("2", 3)}
    assert parsed.warnings == (
        "a: set twice, in mm2.properties:1 and mm2.properties:3; line 3 counts",
    )


def test_letters_beyond_ascii_are_latin_1_as_in_java_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "mm2.properties"
    path.write_bytes("# ünreported\nalias = zürich\n".encode())

    parsed = read_properties(path)

    assert parsed.properties["alias"].value == "zÃ¼rich"
    assert len(parsed.warnings) == 1
    assert parsed.warnings[0] == (
        "alias: letters beyond ASCII are read as Latin-1, as in Java; "
        r"write them as \uXXXX (mm2.properties:2)"
    )


def test_a_byte_order_mark_is_left_out_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "mm2.properties"
    path.write_bytes(b"\xef\xbb\xbfclusters = a, b\n")

    parsed = read_properties(path)

    assert list(parsed.properties) == ["clusters"]
    assert "byte order mark" in parsed.warnings[0]


def test_a_folder_may_stand_for_the_file_of_its_name_in_it(tmp_path: Path) -> None:
    """Scenario D1: a ConfigMap mounted at the path of the file"""
    folder = tmp_path / "mm2.properties"
    folder.mkdir()
    (folder / "mm2.properties").write_text("clusters = a, b\n")

    assert list(read_properties(folder).properties) == ["clusters"]


def test_a_bad_unicode_escape_is_an_error_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"f:3: expected four hexadecimal digits after \\u"):
        parse_properties("a = 1\n\npath = C:\\users\n", "f")


def test_what_is_no_properties_file_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    keystore = tmp_path / "store.jks"
    keystore.write_bytes(b"\xfe\xed\xfe\xed\0\0")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)

    with pytest.raises(ConfigError, match=r"none\.properties: no such file; check the path"):
        read_properties(tmp_path / "none.properties")
    with pytest.raises(ConfigError, match="a directory; give the path of the file in it"):
        read_properties(tmp_path)
    windows = tmp_path / "windows.properties"
    windows.write_text("clusters = us, eu", encoding="utf-16")
    with pytest.raises(ConfigError, match=r"windows\.properties: text in UTF-16; save it as UTF-8"):
        read_properties(windows)
    with pytest.raises(ConfigError, match=r"store\.jks: not a text file; expected properties"):
        read_properties(keystore)
    with pytest.raises(ConfigError, match="loop: cannot be read: "):
        read_properties(loop)
