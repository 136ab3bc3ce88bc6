"""One JVM that answers with MirrorMaker 2's own classes, shared by the tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.java.oracle import Oracle


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    oracle = Oracle(tmp_path_factory.mktemp("oracle"))
    yield oracle
    oracle.close()
