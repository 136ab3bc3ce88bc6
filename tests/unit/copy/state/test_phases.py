"""Every arrow of the table, each by itself; and the picture of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.copy.state.phases import TRANSITIONS, Arrow, Phase, diagram
from heliograph.model import Lease, ProducerIdentity
from support.repository import ROOT

ME = ProducerIdentity(7, 0)


class Life:
    """A partition with one batch under way, brought into a phase."""

    def __init__(self, phase: Phase) -> None:
        lease = Lease(flow="a->b", topic="t", partition=0, target_topic="a.t", start=0)
        self.copy = copy = Partition(lease)
        self.batch = ProducerBatch(memoryview(b""), 5, 0, 5, sequence=0)
        copy.compare_target(10, None, None)
        copy.introduce(ME)
        copy.recovered()
        copy.fetched(Prepared([self.batch], 5))
        if phase is Phase.RECOVERING:
            copy.refused()
        elif phase is Phase.CHECKING:
            copy.suspect_source()
        elif phase is Phase.WAITING:
            copy.failed("not allowed", 0.0)
        assert copy.phase is phase

    def acknowledge(self) -> None:
        if self.copy.outstanding:
            self.copy.acknowledged(self.batch, 10, 1.0)


def _recover_into(after: Phase) -> Callable[[Life], None]:
    def recover(life: Life) -> None:
        if after is Phase.CHECKING:
            life.copy.recovered()
            life.copy.suspect_source()
            life.copy.refused()
        life.copy.recovered()

    return recover


def _lose(life: Life) -> None:
    life.copy.acknowledged(life.batch, 3, 1.0)


def _abort(life: Life) -> None:
    life.copy.shows_loss(3)
    life.copy.aborted()


def _renumber(life: Life) -> None:
    life.acknowledge()
    assert life.copy.phase is not Phase.RECOVERING
    life.copy.renumber(20)


def _fetch(prepared: Prepared) -> Callable[[Life], None]:
    def fetch(life: Life) -> None:
        life.acknowledge()
        life.copy.fetched(prepared)

    return fetch


def _release(life: Life) -> None:
    life.copy.stall("no leader")
    life.copy.released([life.batch], 9.0)


def _confirm(after: Phase) -> Callable[[Life], None]:
    def confirm(life: Life) -> None:
        life.acknowledge()
        if after is Phase.WAITING:
            life.copy.failed("not allowed", 0.0)
        life.copy.confirm_source(20 if after is Phase.RECOVERING else None)

    return confirm


def _retry(life: Life) -> None:
    life.acknowledge()
    life.copy.retried()


HOLES = Prepared([], 5, renumbered=True)
HOW: dict[tuple[str, Phase], Callable[[Life], None]] = {
    **{("recovered", after): _recover_into(after) for after in Phase},
    **{("confirm_source", after): _confirm(after) for after in Phase},
    ("refused", Phase.RECOVERING): lambda life: life.copy.refused(),
    ("renumber", Phase.RECOVERING): _renumber,
    ("acknowledged", Phase.RECOVERING): _lose,
    ("aborted", Phase.RECOVERING): _abort,
    ("fetched", Phase.RECOVERING): _fetch(HOLES),
    ("failed", Phase.WAITING): lambda life: life.copy.failed("not allowed", 0.0),
    ("released", Phase.WAITING): _release,
    ("retried", Phase.COPYING): _retry,
    ("suspect_source", Phase.CHECKING): lambda life: life.copy.suspect_source(),
    ("halt", Phase.HALTED): lambda life: life.copy.halt("a user decides"),
    ("replaced", Phase.HALTED): lambda life: life.copy.replaced("created again"),
}


@pytest.mark.parametrize("arrow", sorted(TRANSITIONS), ids=lambda a: f"{a[0]}-{a[1]}-{a[2]}")
def test_every_arrow_leads_where_the_table_says(arrow: Arrow) -> None:
    life = Life(arrow.before)

    HOW[arrow.event, arrow.after](life)

    assert life.copy.phase is arrow.after


def test_every_event_of_the_table_is_a_method() -> None:
    assert all(callable(getattr(Partition, arrow.event)) for arrow in TRANSITIONS)


def test_the_picture_in_the_documentation_is_that_of_the_table() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert diagram() in page, "python -m heliograph.copy.state.phases prints it"
