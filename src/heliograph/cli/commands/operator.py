"""`heliograph operator`: runs Strimzi's KafkaMirrorMaker2 resources in Kubernetes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import find_spec

from heliograph.cli.commands.run import stopping_on_signals
from heliograph.cli.output.logs import LogOptions, start_logging
from heliograph.errors import EnvironmentProblem

log = logging.getLogger(__name__)


def operator(namespaces: Sequence[str], selector: str, image: str, logs: LogOptions) -> int:
    """Runs until a signal stops it; the mirrors that it has started go on."""
    if find_spec("kopf") is None:
        raise EnvironmentProblem(
            "heliograph operator: needs the extra operator: pip install 'heliograph[operator]'"
        )
    from heliograph.operator.api import KubernetesApi, find_access
    from heliograph.operator.reconcile import Reconciler
    from heliograph.operator.watching import Watch, parse_selector, watch

    start_logging(logs)
    logging.getLogger("kopf").setLevel(logging.WARNING)
    access = find_access()
    reconciler = Reconciler(KubernetesApi(access), image, time.time, _now)
    log.info(
        "operator: %s, namespaces: %s, labels: %s",
        access.url,
        ", ".join(namespaces) or "all",
        selector or "any",
    )
    stop = threading.Event()
    with stopping_on_signals(stop):
        watch(Watch(reconciler, parse_selector(selector)), namespaces, stop)
    return 0


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
