"""Defines the values of command line options; imports nothing heavy, so that `--help` is fast."""

from __future__ import annotations

from enum import StrEnum


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


class RecordOutput(StrEnum):
    """Of records, one in each line."""

    TEXT = "text"
    JSON = "json"


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class Kind(StrEnum):
    """Internal topics that `dump` can read."""

    CHECKPOINTS = "checkpoints"
    HEARTBEATS = "heartbeats"
    OFFSET_SYNCS = "offset-syncs"
    OFFSETS = "offsets"
    STATE = "state"
