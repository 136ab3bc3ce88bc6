"""Settings for all tests, and the order in which the lanes of `make test` take them."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.logger_levels import levels_restored

# The same examples in every run, few enough for a minute, and no clock: a loaded machine is no failure. To
# search further: HYPOTHESIS_PROFILE=search make test, or make fuzz for the parsers.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

#: New objects between two garbage collections. The default, 700, is for programs that keep little: a tenth of
#: the time of the unit tests went there.
gc.set_threshold(50_000)

HERE = Path(__file__).parent
#: Real tests first, since they take long; unit tests last, since they fill what is left of each lane.
_ORDER = ("real", "simulation", "unit")


@pytest.hookimpl(
    tryfirst=True
)  # before xdist reads the groups, and after the same in real/conftest.py
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of a lane one after the other, the largest lanes first. `make test` tells xdist to keep this
    order: by itself it would begin with files of many unit tests, and end with the longest of all tests."""
    for item in items:
        if _kind(item.path) == "unit" and item.get_closest_marker("xdist_group") is None:
            # They share the fixtures of their file, and xdist hands out whole files faster than tests.
            item.add_marker(pytest.mark.xdist_group(_name(item.path)))
    lanes = [_lane(item) for item in items]
    sizes, firsts = Counter(lanes), {lane: n for n, lane in reversed(list(enumerate(lanes)))}
    places = {
        item: (_ORDER.index(_kind(item.path)), -sizes[lane], firsts[lane])
        for item, lane in zip(items, lanes, strict=True)
    }
    items.sort(key=places.__getitem__)


def pytest_collection_finish() -> None:
    """What stays to the end of the run is left out of collections: thousands of tests, and their imports."""
    gc.freeze()


def _kind(path: Path) -> str:
    """The folder in tests/."""
    return _name(path).partition("/")[0]


@cache
def _name(path: Path) -> str:
    return path.relative_to(HERE).as_posix()


def _lane(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    return item.nodeid if marker is None else str(marker.args[0])


@pytest.fixture(autouse=True)
def _levels_restored() -> Iterator[None]:
    """A test whose service set a level to INFO would hide the DEBUG lines that a later test looks for."""
    with levels_restored():
        yield
