from __future__ import annotations

import pytest

from heliograph.config.options.values import InvalidValue
from heliograph.config.security.jaas import parse_jaas

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('username="alice" password="secret";', {"username": "alice", "password": "secret"}),
        ("username='al' password=am_xyz-1.2;", {"username": "al", "password": "am_xyz-1.2"}),
        ("username = \"token\"\n  password = apikey ;\n", {"username": "token", "password": "apikey"}),
        (
            'username="$ConnectionString" password="Endpoint=sb://x/;SharedAccessKeyName=n;'
            'SharedAccessKey=a+b/c=";',
            {
                "username": "$ConnectionString",
                "password": "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=a+b/c=",
            },
        ),
        (r'password="a\"b\\c\t\101\7";', {"password": 'a"b\\c\tA\x07'}),
        ("/* who */ user=a // trailing\n b=c;", {"user": "a", "b": "c"}),
        ("password=müller;", {"password": "müller"}),
        ('password="one" password="two";', {"password": "two"}),
        ("useKeyTab=true storeKey=true;", {"useKeyTab": "true", "storeKey": "true"}),
        (";", {}),
    ],
)  # fmt: skip
def test_a_line_is_read_as_javas_tokenizer_reads_it(line: str, options: dict[str, str]) -> None:
    module = parse_jaas(f"{PLAIN} required {line}")

    assert (module.name, module.short_name) == (PLAIN, "PlainLoginModule")
    assert module.options == options


def test_control_flags_are_written_in_any_case() -> None:
    assert parse_jaas("a.B REQUIRED;").name == "a.B"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "a login module, its control flag and its options"),
        ("a.B", "the control flag required"),
        ("a.B user=x;", "the control flag required"),
        ("a.B required; c.D required;", "one login module (found 2)"),
        ('a.B required password="hush"', "a semicolon at the end"),
        ("a.B required password=hush/hush;", "a semicolon at the end (outside of quotes, / begins"),
        (
            "a.B required password=hush!hush;",
            "name=value after the value of password; put the value",
        ),
        ("a.B required password=9hush;", 'a value for password, as password="…"; put the value in'),
        ("a.B required password;", 'a value for password, as password="…"'),
        ("a.B required password=", 'a value for password, as password="…"'),
        ("17 required;", "a login module's class name first"),
    ],
)
def test_a_broken_line_is_refused_as_java_refuses_it_and_no_value_is_shown(
    line: str, expected: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        parse_jaas(line)

    assert expected in caught.value.expected
    assert "hush" not in caught.value.expected


def test_options_are_not_shown() -> None:
    assert "hush" not in repr(parse_jaas('a.B required password="hush";'))
