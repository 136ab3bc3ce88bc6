"""Settings that are right by themselves and wrong together.

Mirrors `MirrorSourceConnector.validate` and `MirrorCheckpointConfig.validate`. In MM2's dedicated
mode a connector that fails its validation is logged once and never made, while the others run.
Here what the user asked for in so many words is an error; what only a default asked for is left
out, with a warning.
"""

from __future__ import annotations

from heliograph.config.resolve.typed_settings import TypedSettings

_SYNCS = "emit.offset-syncs.enabled"
_CHECKPOINTS = "emit.checkpoints.enabled"
_GROUP_OFFSETS = "sync.group.offsets.enabled"
_WHY = {_SYNCS: "without offset syncs", _CHECKPOINTS: f"with {_CHECKPOINTS} set to false"}


def check_offset_syncs(connector: TypedSettings) -> None:
    """No offset syncs, but settings of their topic."""
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
    """Whether the flow has checkpoints; a wish for them that cannot be met is a problem."""
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
                f"without offset syncs; set {_CHECKPOINTS} = false, too, to say that this is meant "
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
