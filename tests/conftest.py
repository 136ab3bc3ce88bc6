"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The same examples in every run, few enough for a minute, and no clock: a loaded machine is no failure. To
# search further: HYPOTHESIS_PROFILE=search make test, or make fuzz for the parsers.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
