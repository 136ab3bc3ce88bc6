"""`make test` has two lanes; tests of one group run in one, or they would start everything twice."""

import pytest


@pytest.mark.xdist_group("lane")
def test_a_tests_lane_is_in_the_id_that_xdist_schedules_by(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", False):
        pytest.skip("one lane only")
    assert request.node.nodeid.endswith("@lane")
