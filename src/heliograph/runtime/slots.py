"""The number of tasks that copy at the same time on this machine."""

from __future__ import annotations

import os

from heliograph.config.mirror_config import MirrorConfig


def slots_for(config: MirrorConfig) -> int:
    """Task slots on this machine: what tasks.max asks for, but at most one for every two cores.

    A copy loop moves hundreds of MB/s on less than a core, and the fewer of them share the partitions,
    the more partitions fill each request. On two cores one raw-copy process used 1.1 CPU s per GB, two 1.5
    and four 1.9 (`--processes` of `make bench`, 1 KB shape); the rates were too noisy to rank.
    """
    return min(max((flow.tasks_max for flow in config.flows), default=1), slots_here())


def slots_here() -> int:
    """One for every two cores, at least one."""
    return max(1, (os.cpu_count() or 1) // 2)
