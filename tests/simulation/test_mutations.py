"""The simulation can fail: deliberate bugs are found, each within 200 seeds of a fitting scenario.

`python -m simulation --mutations` prints how many seeds each took.
"""

from __future__ import annotations

import pytest

from simulation.mutations import MUTATIONS, Mutation, seeds_to_find


@pytest.mark.parametrize(
    "mutation", MUTATIONS, ids=lambda each: f"{each.apply.__name__}-{each.found_in.name}"
)
def test_a_deliberate_bug_is_found(mutation: Mutation) -> None:
    assert seeds_to_find(mutation) is not None
