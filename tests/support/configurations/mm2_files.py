"""mm2.properties for tests, read from a real file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ConfigError

BASE = """\
clusters = us, eu
us.bootstrap.servers = us1:9092, us2:9092
eu.bootstrap.servers = eu1:9092
us->eu.enabled = true
"""


@dataclass(frozen=True)
class Reader:
    """Reads texts as files called mm2.properties."""

    folder: Path

    def __call__(
        self, text: str, clusters: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> MirrorConfig:
        path = self.folder / "mm2.properties"
        path.write_text(text)
        return load(path, clusters, environment or {})

    def problems(
        self, text: str, clusters: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            self(text, clusters, environment)
        return caught.value.problems
