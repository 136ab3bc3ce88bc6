"""`make test` has three lanes; tests of one group run in one, or they would start everything twice."""

import pytest

from support.lanes import Lanes


@pytest.mark.xdist_group("lane")
def test_a_tests_lane_is_in_the_id_that_xdist_schedules_by(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", False):
        pytest.skip("one lane only")
    assert request.node.nodeid.endswith("@lane")


def test_what_a_lane_has_started_ends_with_its_last_test_whatever_runs_in_between() -> None:
    lanes, ended = Lanes(), []
    order = ("a", "b", "a", "b")
    lanes.expect(order)
    seen = []
    for number, lane in enumerate(order):
        lanes.begin(lane)
        if number < 2:
            lanes.at_end(lambda lane=lane: ended.append(lane))
        lanes.end(lane)
        seen.append(list(ended))

    assert seen == [[], [], ["a"], ["a", "b"]]
