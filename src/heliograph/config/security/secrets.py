"""Which settings of a connector may hold a secret, and how one is shown.

Connect itself hands configurations out in clear. Here a secret is shown as Kafka's logs show it. Scripts
read a configuration, change it and send it back, so that HIDDEN in a request means: as it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from heliograph.config.options import OPTIONS

HIDDEN = "[hidden]"

_PASSWORDS = tuple(
    sorted({option.name for option in OPTIONS.values() if option.type.name == "PASSWORD"})
)
#: What nobody should print, whatever it belongs to; settings of users' own classes have such names.
_LOOKS_SECRET = re.compile(
    r"(?:^|[._-])(?:password|passwd|passphrase|secret|token|credentials?|api[._-]?key|private[._-]?key)$",
    re.IGNORECASE,
)
#: A reference to a config provider is no secret, and what it stands for is never stored.
_REFERENCE = re.compile(r"\$\{[^}]*\}")


def is_secret(name: str, value: str | None) -> bool:
    """Settings of any client, under any prefix (`source.cluster.ssl.key.password`)."""
    if value is None or not value or _REFERENCE.fullmatch(value.strip()):
        return False
    return _LOOKS_SECRET.search(name) is not None or any(
        name == password or name.endswith("." + password) for password in _PASSWORDS
    )


def hidden(config: Mapping[str, str]) -> dict[str, str]:
    """A configuration to show."""
    return {name: HIDDEN if is_secret(name, value) else value for name, value in config.items()}


def restored(config: Mapping[str, str | None], stored: Mapping[str, str]) -> dict[str, str | None]:
    """A configuration that was sent, with the stored value wherever it shows a hidden one."""
    return {
        name: stored[name] if value == HIDDEN and name in stored else value
        for name, value in config.items()
    }


def still_hidden(config: Mapping[str, str | None]) -> list[str]:
    """Settings that were sent as HIDDEN although nothing is stored for them."""
    return [name for name, value in config.items() if value == HIDDEN]
