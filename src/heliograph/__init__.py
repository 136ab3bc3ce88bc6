"""MirrorMaker 2 for Kafka, in Python, its data pipeline on Spark."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heliograph.mirror_client import MirrorClient

__all__ = ["MirrorClient", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Loaded when first asked for, so that `import heliograph` stays light."""
    if name == "MirrorClient":
        return importlib.import_module("heliograph.mirror_client").MirrorClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
