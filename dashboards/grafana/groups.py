"""Consumer groups: whose offsets are translated and synced, whose are not, and why."""

from __future__ import annotations

from typing import Any

from dashboards.grafana.kit import Board

_F = 'flow=~"$flow"'


def groups() -> Any:
    board = Board(
        "heliograph-groups",
        "Heliograph: groups",
        "Consumer groups: whose offsets are translated and synced, whose are not, and why.",
        runbook="group-not-synced.md",
    )
    board.stat(
        "Followed", "Groups whose offsets are translated.",
        (f"sum(heliograph_groups_followed{{{_F}}})", ""), width=6,
    )  # fmt: skip
    board.stat(
        "Inexact", "Groups with an offset whose translation is not exact.",
        (f"sum(heliograph_inexact_groups{{{_F}}})", ""), width=6,
    )  # fmt: skip
    board.stat(
        "Records read again, at most", "Of the group with the most, if it moved to the target now.",
        (f"max(heliograph_translation_error_records{{{_F}}})", ""), width=6,
    )  # fmt: skip
    board.stat(
        "Offsets without a checkpoint", "By reason below.",
        (f"sum(heliograph_untranslated_offsets{{{_F}}}) or vector(0)", ""), width=6, bad_from=1,
    )  # fmt: skip
    board.lines(
        "Offsets on the target", "Decisions of the last sync, by result and reason.",
        (f"sum by (flow, result, reason) (heliograph_group_offsets{{{_F}}})",
         "{{flow}} {{result}}: {{reason}}"), runbook="group-not-synced.md",
    )  # fmt: skip
    board.lines(
        "Groups that are not followed", "By reason. Most are meant: groups, groups.exclude, topics.",
        (f"sum by (flow, reason) (heliograph_groups_not_followed{{{_F}}})", "{{flow}}: {{reason}}"),
    )  # fmt: skip
    board.table(
        "Offsets without a checkpoint", "A group that moved now would begin at auto.offset.reset there.",
        (f"sum by (flow, reason) (heliograph_untranslated_offsets{{{_F}}})", "offsets"),
    )  # fmt: skip
    board.lines(
        "Records read again, at most", "Because a translation is not exact; of the group with the most.",
        (f"max by (flow) (heliograph_translation_error_records{{{_F}}})", "{{flow}}"),
    )  # fmt: skip
    board.lines(
        "Checkpoints per second", "",
        (f"sum by (flow) (rate(heliograph_checkpoints_total{{{_F}}}[$__rate_interval]))", "{{flow}}"),
        unit="cps",
    )  # fmt: skip
    board.lines(
        "Heartbeats per second", "By connector.",
        ("sum by (connector) (rate(heliograph_heartbeats_total[$__rate_interval]))", "{{connector}}"),
        unit="cps", runbook="heartbeat-late.md",
    )  # fmt: skip
    return board.build()
