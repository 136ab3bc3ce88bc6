"""What `--master` may be, and what is said of anything else."""

from __future__ import annotations

import pytest

from heliograph.errors import ConfigError
from heliograph.plan.spark.master import Kind, parse_master, resource_managers


@pytest.mark.parametrize(
    "url", ["local", "local[4]", "local[*]", "local[2,1]", "local-cluster[2,1,1024]"]
)
def test_this_machine(url: str) -> None:
    assert parse_master(url).kind is Kind.LOCAL


@pytest.mark.parametrize(
    ("url", "kind", "addresses"),
    [
        ("spark://spark1:7077", Kind.STANDALONE, [("spark1", 7077)]),
        ("spark://a:1,b:2", Kind.STANDALONE, [("a", 1), ("b", 2)]),
        ("spark://[::1]:7077", Kind.STANDALONE, [("::1", 7077)]),
        ("k8s://https://api:6443", Kind.KUBERNETES, [("api", 6443)]),
        ("k8s://api", Kind.KUBERNETES, [("api", 443)]),
        ("k8s://http://api", Kind.KUBERNETES, [("api", 80)]),
        ("yarn", Kind.YARN, []),
    ],
)
def test_clusters_have_addresses_to_try(
    url: str, kind: Kind, addresses: list[tuple[str, int]]
) -> None:
    master = parse_master(url)

    assert (master.kind, list(master.addresses)) == (kind, addresses)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "expected local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT"),
        ("spark1:7077", "write spark://spark1:7077"),
        ("spark://spark1", "expected spark://HOST:PORT[,HOST:PORT]"),
        ("spark://a:7077,b", "expected spark://HOST:PORT[,HOST:PORT]"),
        ("spark://a:70777", "expected spark://HOST:PORT[,HOST:PORT]"),
        ("local[0]", "expected local, local[N] or local[*]"),
        ("local[x]", "expected local, local[N] or local[*]"),
        ("local[4,3]", "a task is never run twice with the same leases; write local[4]"),
        ("k8s://", "expected k8s://https://HOST:PORT"),
        ("k8s://https://a:b", "expected k8s://https://HOST:PORT"),
        ("http://spark1:8080", "this is the address of a web page"),
        ("mesos://m:5050", "Spark 4 does not support Mesos"),
        ("sc://m:15002", "Spark Connect is not supported"),
        ("yarn-client", "write yarn"),
    ],
)
def test_anything_else_is_one_sentence_with_what_is_expected(url: str, words: str) -> None:
    with pytest.raises(ConfigError) as e:
        parse_master(url)

    (said,) = e.value.problems
    assert said.startswith(f"--master {url or repr(url)}: ")
    assert words in said


def site(**properties: str) -> str:
    each = "".join(
        f"<property><name>yarn.resourcemanager.{name.replace('__', '-').replace('_', '.')}</name>"
        f"<value>{value}</value></property>"
        for name, value in properties.items()
    )
    return f"<configuration>{each}</configuration>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (site(hostname="rm"), [("rm", 8032)]),
        (site(address="rm:9000"), [("rm", 9000)]),
        (site(hostname="rm", address="${yarn.resourcemanager.hostname}:9000"), [("rm", 9000)]),
        (
            site(ha_rm__ids="a, b", hostname_a="one", address_b="two:9000"),
            [("one", 8032), ("two", 9000)],
        ),
        (site(), []),
        (site(hostname="0.0.0.0"), []),
    ],
)
def test_yarn_s_resource_managers_are_those_of_its_own_file(
    text: str, expected: list[tuple[str, int]]
) -> None:
    assert list(resource_managers(text)) == expected


def test_a_file_that_is_not_xml_is_an_error() -> None:
    with pytest.raises(ValueError, match="not well-formed"):
        resource_managers("yarn.resourcemanager.hostname=rm")
