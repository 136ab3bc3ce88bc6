"""Settings of a worker in the environment, as container images take them: CONNECT_GROUP_ID is group.id.

After the prefix, in lower case, as Confluent's images translate (`cub`, `ub`):

    _  .      __  -      ___  _

An image's own variables (CONNECT_LOG4J_…) are no settings of the worker.
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
    """The setting that a variable stands for; None if it stands for none."""
    name = variable.removeprefix(PREFIX)
    if name == variable or not name or variable.startswith(_OF_IMAGES):
        return None
    return _UNDERSCORES.sub(lambda found: _MEANT[found[0]], name.lower())


def variable_of(setting: str) -> str:
    """The variable that stands for a setting in lower case."""
    escaped = setting.replace("_", "___").replace("-", "__").replace(".", "_")
    return PREFIX + escaped.upper()


def settings_in(environment: Mapping[str, str]) -> dict[str, Property]:
    return {
        setting: Property(environment[variable], 0, place=variable)
        for variable in sorted(environment)
        if (setting := setting_of(variable)) is not None
    }
