"""A state in one word; four kinds of silence are four words."""

from __future__ import annotations

from dataclasses import replace

from heliograph.model import PartitionState
from heliograph.web.ui.snapshot import ConnectorView, FlowSample
from heliograph.web.ui.views.flow_state import Tone, flow_state
from heliograph.web.ui.views.overview import overview, summary
from support.rest.pages import Figures, receipt

RUNNING = ConnectorView(
    name="a->b.MirrorSourceConnector",
    kind="MirrorSourceConnector",
    source="a",
    target="b",
    state="RUNNING",
    worker="here:8083",
    trace=None,
    tasks=(),
    config=(),
)


def sample(*ticks: tuple[int, int, int], **rest: object) -> FlowSample:
    """Position, end and records of a partition, second by second."""
    figures = Figures()
    for position, end, records in ticks:
        figures.tick(receipt("a->b", position=position, end=end, records=records, **rest))  # type: ignore[arg-type]
    return figures.publisher.snapshot.flows["a->b"]


def label(connector: ConnectorView | None, flow: FlowSample | None, *problems: str) -> str:
    return flow_state(connector, flow, list(problems)).label


def test_silence_has_four_names() -> None:
    quiet, stuck = sample((10, 10, 10), (10, 10, 10)), sample(*[(5, 10, 5)] * 11)

    assert label(RUNNING, quiet) == "quiet"
    assert label(RUNNING, stuck) == "stalled"
    assert label(replace(RUNNING, state="PAUSED"), None) == "paused"
    assert label(RUNNING, None) == "no data"


def test_a_flow_without_data_and_with_a_problem_waits_and_says_for_what() -> None:
    state = flow_state(RUNNING, None, ["a: no broker answers; check a.bootstrap.servers"])

    assert (state.label, state.tone) == ("waiting", Tone.WARN)
    assert "a.bootstrap.servers" in state.cause


def test_a_cluster_that_does_not_answer_is_named_whatever_partitions_last_reported() -> None:
    state = flow_state(RUNNING, sample((10, 10, 10), (10, 10, 10)), [], ["b"])

    assert (state.label, state.tone) == ("unreachable", Tone.BAD)
    assert "No broker of b answers" in state.cause
    lost = replace(RUNNING, state="UNASSIGNED")
    assert flow_state(lost, None, [], ["b"]).label == "unreachable"


def test_records_that_move_are_a_copy() -> None:
    assert label(RUNNING, sample((5, 10, 5), (8, 10, 8))) == "copying"


def test_the_worst_partition_decides() -> None:
    retried = sample((5, 10, 5), state=PartitionState.RETRYING, error="no answer")
    failed = sample((5, 10, 5), state=PartitionState.FAILED, error="refused")

    assert label(RUNNING, retried) == "retrying"
    assert label(RUNNING, failed) == "failed"
    assert flow_state(RUNNING, failed, []).cause == "1 of 1 partition failed: orders-0: refused"


def test_an_end_that_is_not_known_is_no_zero_lag() -> None:
    assert label(RUNNING, sample((5, -1, 5))) == "no data"


def test_a_connector_that_failed_stands_by_or_is_stopped_is_said() -> None:
    failed = flow_state(replace(RUNNING, state="FAILED", trace="wrong password"), None, [])

    assert (failed.label, failed.tone, failed.cause) == ("failed", Tone.BAD, "wrong password")
    assert label(replace(RUNNING, state="UNASSIGNED"), None) == "standby"
    assert label(replace(RUNNING, state="STOPPED"), None) == "stopped"
    assert label(None, sample((10, 10, 10))) == "quiet"


def test_a_summary_names_states_only_so_that_a_screen_reader_is_not_told_every_figure() -> None:
    states = [flow_state(replace(RUNNING, state=each), None, []) for each in ("PAUSED", "FAILED")]

    assert summary([]) == "No flows yet"
    assert summary(states[:1]) == "The flow is paused"
    assert summary(states[:1] * 3) == "All 3 flows are paused"
    assert summary(states) == "2 flows: 1 paused, 1 failed"


def test_what_needs_attention_is_the_cause_and_the_problems_each_once() -> None:
    figures = Figures()
    figures.tick(receipt("a->b", state=PartitionState.FAILED, error="refused"))
    figures.problems.update("flow a->b: ACLs", {"orders": "orders: grant CREATE"})
    figures.problems.update("flow a->b: copy", {"": "orders: grant CREATE"})
    figures.problems.update("flow a->bc", {"": "another flow's"})
    figures.tick()

    page = overview(figures.publisher.snapshot, [RUNNING])

    assert [sentence for _, sentence in page.attention] == [
        "1 of 1 partition failed: orders-0: refused",
        "orders: grant CREATE",
    ]
