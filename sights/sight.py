"""One sight: what a fault shows, waited for and recorded."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Browser

from harness.errors import HarnessError
from sights.stage import PATIENCE_SECONDS, Stage

FLOW_PAGE = "/ui/flows/home-%3Ecloud"
WIDTH, HEIGHT = 1120, 600
_LOOK_SECONDS = 1.0
#: So that charts have some values, and what is read from the clusters is there.
_SETTLE_MS = 8_000


@dataclass(frozen=True, kw_only=True)
class Sight:
    """`page`: an address, and text that it shows. `metrics` and `status`: expressions for lines that there
    must be, all at the same time."""

    name: str
    title: str
    page: tuple[str, str]
    metrics: tuple[str, ...]
    status: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Seen:
    sight: Sight
    metrics: tuple[str, ...]
    status: tuple[str, ...]


def look(sight: Sight, stage: Stage, browser: Browser, picture: str) -> Seen:
    """Waits until metrics and page show it, then asks `status`. Raises HarnessError."""
    address, text = sight.page
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, base_url=stage.base)
    tab.set_default_timeout(PATIENCE_SECONDS * 1000)
    try:
        tab.goto(address)
        metrics = _await_lines(sight, "metrics", stage.metrics, sight.metrics)
        tab.locator("main", has_text=text).wait_for()
        tab.locator("#connection[data-state=live]").wait_for()
        status = _await_lines(sight, "status", stage.status, sight.status)
        tab.locator("main", has_text=text).wait_for()
        tab.wait_for_timeout(_SETTLE_MS)
        tab.screenshot(path=picture)
    finally:
        tab.close()
    return Seen(sight=sight, metrics=metrics, status=status)


def _await_lines(
    sight: Sight, what: str, read: Callable[[], list[str]], wanted: tuple[str, ...]
) -> tuple[str, ...]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        lines = read()
        found = [next((x for x in lines if re.search(each, x)), None) for each in wanted]
        if None not in found:
            return tuple(line.strip() for line in found if line is not None)
        if time.monotonic() > deadline:
            missing = [each for each, line in zip(wanted, found, strict=True) if line is None]
            shown = "\n".join(line for line in lines if "heliograph_" in line or what == "status")
            raise HarnessError(
                f"{sight.name}: {what}: not found: {missing}; last:\n{shown[-6000:]}"
            )
        time.sleep(_LOOK_SECONDS)
