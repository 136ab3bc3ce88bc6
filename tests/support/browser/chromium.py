"""A browser without a screen, that reaches nothing but this machine, and pages that note what goes wrong."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from support.waiting import PATIENCE_SECONDS

_AUDIT = (Path(__file__).parent / "audit.js").read_text()
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@contextmanager
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """One reader of the page: a tab, and everything that it complained about."""

    def __init__(self, browser: Browser, base: str, look: str = "light", **options: Any) -> None:
        self._context = browser.new_context(base_url=base, **(LOOKS[look] | options))
        self._context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.tab: Page = self._context.new_page()
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.tab.on("console", self._hear)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def visit(self, path: str) -> Page:
        """Returns when the page is live."""
        self.tab.goto(path)
        self.tab.locator("#connection[data-state=live]").wait_for()
        return self.tab

    def audit(self) -> list[str]:
        """What keyboard, screen reader or tired eyes would stumble over."""
        found: list[str] = self.tab.evaluate(_AUDIT)
        return found

    def close(self) -> None:
        self._context.close()
