"""Checks settings that are valid one by one but not together.

Mirrors `MirrorSourceConnector.validate` and `MirrorCheckpointConfig.validate`. In MM2's dedicated
mode a connector that fails validation is logged once and never created, while the others run.
Here a contradiction to a setting of the user's is an error; one to a default switches that part off, with
a warning.
"""

from __future__ import annotations

from heliograph.config.resolve.typed_settings import TypedSettings

_SYNCS = "emit.offset-syncs.enabled"
_CHECKPOINTS = "emit.checkpoints.enabled"
_GROUP_OFFSETS = "sync.group.offsets.enabled"
_WHY = {_SYNCS: "without offset syncs", _CHECKPOINTS: f"with {_CHECKPOINTS} set to false"}


def check_offset_syncs(connector: TypedSettings) -> None:
    """Offset syncs are off, but settings of their topic are given: an error."""
    if connector.flag(_SYNCS):
        return
    off = connector.settings[_SYNCS]
    connector.problems.extend(
        f"{setting.key}: MirrorSourceConnector can't setup offset-syncs feature while {_SYNCS} set "
        f"to false ({connector.at(off)}); leave one of the two out ({connector.at(setting)})"
        for name, setting in connector.settings.items()
        if name.startswith(("offset-syncs-", "offset-syncs.topic."))
    )


def runs_checkpoints(flow: str, connector: TypedSettings, warnings: list[str]) -> bool:
    """Whether the flow writes checkpoints; adds a problem if they are set to true but not possible."""
    if not connector.flag(_CHECKPOINTS):
        _refuse_if_wanted(connector, _GROUP_OFFSETS, cause=_CHECKPOINTS)
        return False
    if not connector.flag(_SYNCS):
        wanted = [
            _refuse_if_wanted(connector, name, cause=_SYNCS)
            for name in (_CHECKPOINTS, _GROUP_OFFSETS)
        ]
        if not any(wanted):
            off = connector.settings[_SYNCS]
            warnings.append(
                f"{flow}: no checkpoints: {off.key} = false, and MirrorCheckpointConnector can't run "
                f"without offset syncs; to silence this warning, set {_CHECKPOINTS} = false as well "
                f"({connector.at(off)})"
            )
        return False
    return True


def _refuse_if_wanted(connector: TypedSettings, name: str, *, cause: str) -> bool:
    if name not in connector.settings or not connector.flag(name):
        return False
    setting, off = connector.settings[name], connector.settings[cause]
    connector.problems.append(
        f"{setting.key}: MirrorCheckpointConnector can't run {_WHY[cause]}; set {off.key} to true "
        f"({connector.at(off)}), or this to false ({connector.at(setting)})"
    )
    return True
