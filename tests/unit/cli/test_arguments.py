from __future__ import annotations

import pytest

from heliograph.cli.arguments import spread


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["run", "f"], ["run", "f"]),
        (["run", "f", "--clusters", "b"], ["run", "f", "--clusters", "b"]),
        (
            ["run", "f", "--clusters", "b", "c", "d"],
            ["run", "f", "--clusters", "b", "--clusters", "c", "--clusters", "d"],
        ),
        (
            ["run", "f", "--clusters", "b", "c", "--once"],
            ["run", "f", "--clusters", "b", "--clusters", "c", "--once"],
        ),
        (
            ["run", "f", "--clusters", "b", "--clusters", "c"],
            ["run", "f", "--clusters", "b", "--clusters", "c"],
        ),
        (
            ["run", "f", "--clusters", "b", "--master", "local[2]"],
            ["run", "f", "--clusters", "b", "--master", "local[2]"],
        ),
        (["run", "f", "--clusters"], ["run", "f", "--clusters"]),
        (["brokers", "one", "two"], ["brokers", "one", "two"]),
        (
            ["run", "--clusters", "b", "c", "f"],
            ["run", "--clusters", "b", "--clusters", "c", "f"],
        ),
        (
            ["run", "--once", "f", "--clusters", "b", "c"],
            ["run", "--once", "f", "--clusters", "b", "--clusters", "c"],
        ),
        (
            ["plan", "f", "--secrets", "s1", "s2", "-o", "json"],
            ["plan", "f", "--secrets", "s1", "--secrets", "s2", "-o", "json"],
        ),
        (
            ["run", "--master", "local[2]", "--once", "f"],
            ["run", "--master", "local[2]", "--once", "f"],
        ),
    ],
)
def test_clusters_takes_several_aliases_as_mirror_maker_does(
    given: list[str], expected: list[str]
) -> None:
    assert spread(given) == expected
