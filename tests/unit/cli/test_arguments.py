from __future__ import annotations

import pytest

from heliograph.cli.main import _spread


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
    ],
)
def test_clusters_takes_several_aliases_as_mirror_maker_does(
    given: list[str], expected: list[str]
) -> None:
    assert _spread(given) == expected
