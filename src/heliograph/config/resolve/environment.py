"""Reads a worker's settings from the environment, as container images do: CONNECT_GROUP_ID is group.id.

The prefix is dropped, the rest becomes lower case, and underscores are replaced as in Confluent's images
(`cub`, `ub`):

    _  .      __  -      ___  _

Variables of the image itself (CONNECT_LOG4J_…) are not settings of the worker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from heliograph.config.formats.properties import Property

PREFIX = "CONNECT_"
_OF_IMAGES = ("CONNECT_LOG4J_", "CONNECT_LOG4J2_", "CONNECT_CUB_", "CONNECT_JMX_")
_UNDERSCORES = re.compile(r"(?<=[^_])_{1,3}(?=[^_])")
_MEANT = {"_": ".", "__": "-", "___": "_"}


def setting_of(variable: str) -> str | None:
    """The setting that a variable sets; None: it sets none."""
    name = variable.removeprefix(PREFIX)
    if name == variable or not name or variable.startswith(_OF_IMAGES):
        return None
    return _UNDERSCORES.sub(lambda found: _MEANT[found[0]], name.lower())


def variable_of(setting: str) -> str:
    """The variable that sets a setting whose name is in lower case."""
    escaped = setting.replace("_", "___").replace("-", "__").replace(".", "_")
    return PREFIX + escaped.upper()


def settings_in(environment: Mapping[str, str]) -> dict[str, Property]:
    return {
        setting: Property(environment[variable], 0, place=variable)
        for variable in sorted(environment)
        if (setting := setting_of(variable)) is not None
    }
