"""What `heliograph top` shows of a status."""

from __future__ import annotations

from heliograph.cli.live.observed import ObservedRates, shown_status
from heliograph.inspection.mirror_status import (
    FlowView,
    MirrorStatus,
    PartitionView,
    PositionFrom,
    Service,
    ServiceState,
)

RUNS = Service(state=ServiceState.RUNNING, detail="seen 1 s ago", seen_seconds_ago=1.0)


def partition(
    number: int = 0,
    *,
    end: int | None = 100,
    lag: int | None = 0,
    state: str = "RUNNING",
    error: str | None = None,
) -> PartitionView:
    return PartitionView(
        topic="orders",
        partition=number,
        remote_topic="us.orders",
        source_start=0,
        source_end=100,
        target_end=end,
        position=100,
        position_from=PositionFrom.HELIOGRAPH,
        lag_records=lag,
        lag_seconds=0.0,
        copied_seconds_ago=1.0,
        state=state,
        error=error,
    )


def status(
    *partitions: PartitionView, at_ms: int = 0, service: Service = RUNS, **others: object
) -> MirrorStatus:
    flow = FlowView(
        name="us->eu",
        source="us",
        target="eu",
        service=service,
        partitions=partitions,
        **others,  # type: ignore[arg-type]
    )
    return MirrorStatus(at_ms=at_ms, flows=(flow,), unreachable={})


def test_rates_are_those_of_the_remote_partitions_between_two_looks() -> None:
    rates = ObservedRates()

    assert rates.sample(status(partition(end=100), partition(1, end=50))) == {
        ("us->eu", "orders"): 0
    }
    assert rates.sample(status(partition(end=300), partition(1, end=50), at_ms=2_000)) == {
        ("us->eu", "orders"): 100.0
    }


def test_a_topic_whose_ends_are_not_known_has_no_rate() -> None:
    rates = ObservedRates()
    found = status(partition(end=None))

    assert rates.sample(found) == {}
    (row,) = shown_status(found, {}).topics
    assert (row.records_per_second, row.bytes_per_second) == (None, None)


def test_a_failed_partition_and_its_cause_come_before_others() -> None:
    found = status(
        partition(), partition(1, state="RETRYING"), partition(2, state="FAILED", error="no rights")
    )

    (row,) = shown_status(found, {}).topics

    assert (row.partitions, row.trouble) == (3, "FAILED 2: no rights")


def test_a_flow_that_no_service_runs_is_not_ok_though_nothing_lags() -> None:
    service = Service(state=ServiceState.NOT_RUNNING, detail="stopped", seen_seconds_ago=9.0)

    shown = shown_status(status(partition(), service=service), {})

    assert shown.topics[0].trouble == "NOT RUNNING"
    assert shown.flows[0].state == "NOT RUNNING (stopped)"


def test_problems_are_those_of_flows_clusters_and_connectors() -> None:
    found = status(partition(), problems={"flow us->eu: ACLs": "refused; grant ALTER"})
    found = MirrorStatus(
        at_ms=0,
        flows=found.flows,
        unreachable={"eu": "eu:9092: refused"},
        broken={"mirror": "source.cluster.alias is missing"},
    )

    assert shown_status(found, {}).problems == (
        "eu: eu:9092: refused",
        "us->eu: flow us->eu: ACLs: refused; grant ALTER",
        "mirror: source.cluster.alias is missing",
    )
