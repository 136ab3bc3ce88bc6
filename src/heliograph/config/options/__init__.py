"""The option table: every setting of a mirror's configuration, defined once.

Files are checked by it, Connect's validation answers from it, and `docs/configuration.md` is generated
from it (`config/options/reference_page.py`). To support an option that is LATER or REFUSED, change its
definition and read it where the others are read.
"""

from __future__ import annotations

from heliograph.config.options.checkpoint import CHECKPOINT
from heliograph.config.options.client import CLIENT, CONSUMER, PRODUCER
from heliograph.config.options.connector import CONNECTOR
from heliograph.config.options.heartbeat import HEARTBEAT
from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.serve import SERVE
from heliograph.config.options.source import SOURCE
from heliograph.config.options.top import PROVIDERS, TOP
from heliograph.config.options.worker import WORKER, WORKER_TOP_LEVEL_PREFIXES

#: The sections of the reference page, in its order.
SECTIONS: dict[str, tuple[Option, ...]] = {
    "The file": TOP,
    "Config providers": PROVIDERS,
    "Clusters": CLIENT,
    "Consumers": CONSUMER,
    "Producers": PRODUCER,
    "Flows": CONNECTOR,
    "Topics, records and offset syncs": SOURCE,
    "Groups and checkpoints": CHECKPOINT,
    "Heartbeats": HEARTBEAT,
    "Workers": WORKER,
    "The file of a Connect worker": SERVE,
}

OPTIONS: dict[tuple[Scope, str], Option] = {
    (option.scope, option.name): option
    for section in SECTIONS.values()
    for option in section
    if option not in PROVIDERS
}

__all__ = [
    "OPTIONS",
    "PROVIDERS",
    "SECTIONS",
    "WORKER_TOP_LEVEL_PREFIXES",
    "Importance",
    "Option",
    "Scope",
    "Support",
]
