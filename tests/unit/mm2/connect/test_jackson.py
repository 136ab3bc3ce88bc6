"""JSON in Jackson's form, and Java's order of maps."""

from __future__ import annotations

import pytest

from heliograph.mm2.connect.jackson import dump, hash_map_order


def test_documents_have_no_blanks_and_raw_characters() -> None:
    assert (
        dump({"a": [1, True, None, "é\U0001f600\x01"]})
        == '{"a":[1,true,null,"é\\uD83D\\uDE00\\u0001"]}'
    )


@pytest.mark.parametrize(
    "order",
    [
        ["cluster", "partition", "topic"],
        ["partition", "topic", "group"],
        ["sourceClusterAlias", "targetClusterAlias"],
    ],
)
def test_maps_are_in_the_order_of_javas_hash_maps(order: list[str]) -> None:
    """The orders that MM2's own keys have, as executed on a JDK (mm2.md, 2.3)."""
    assert hash_map_order(sorted(order)) == order
    assert hash_map_order(sorted(order, reverse=True)) == order
