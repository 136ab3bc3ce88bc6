"""The simulation can fail: deliberate bugs are found, each within a hundred seeds of a fitting scenario."""

from __future__ import annotations

import pytest

from simulation.mutations import MUTATIONS, Mutation
from simulation.simulate import simulate

_SEEDS = 100


@pytest.mark.parametrize(
    "mutation", MUTATIONS, ids=lambda each: f"{each.apply.__name__}-{each.found_in.name}"
)
def test_a_deliberate_bug_is_found(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation.apply(monkeypatch)
    assert any(simulate(seed, mutation.found_in).violations for seed in range(_SEEDS))
