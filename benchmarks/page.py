"""How long Chromium takes to show a flow of thousands of partitions:

PYTHONPATH=tests python -m benchmarks.page

The page is served by the real listener, from figures of which every partition has a chart of five minutes.
The
browser times a visit, from the start of the navigation until all rows are laid out. An update is timed from
the change of a figure until the browser shows it.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import statistics
import subprocess
import time

from playwright.sync_api import Browser, sync_playwright

from benchmarks.errors import BenchmarkError
from support.rest.pages import Figures, receipt

_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_FLOW = "us->eu"
_TICKS = 60
#: Laid out: a frame after the rows are there.
_SHOWN = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
  done([performance.now(), performance.getEntriesByType("navigation")[0].responseEnd]))))"""


def figures(partitions: int) -> Figures:
    found = Figures()
    found.add("us", "eu")
    for tick in range(_TICKS):
        found.tick(
            *(
                receipt(
                    _FLOW,
                    number % 10,
                    topic=f"orders-of-department-{number // 10}",
                    position=1_000_000 + tick * 50,
                    end=1_000_000 + tick * 50 + (number * tick) % 977,
                    records=tick * 50,
                )
                for number in range(partitions)
            ),
            seconds=5,
        )
    return found


def visit(browser: Browser, address: str, partitions: int) -> tuple[float, float]:
    """Seconds until all rows are laid out, and until the answer is there."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    try:
        tab.goto(address)
        rows = tab.locator("tbody tr").count()
        if rows != partitions:
            raise BenchmarkError(f"{address}: expected {partitions} rows, found {rows}")
        shown, answered = tab.evaluate(_SHOWN)
        return shown / 1000, answered / 1000
    finally:
        tab.close()


def cpu_of_visit(browser: Browser, address: str) -> tuple[float, float]:
    """CPU seconds of this process, which serves the page, and of the browser's page."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    try:
        session = tab.context.new_cdp_session(tab)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        began = time.process_time()
        tab.goto(address)
        served = time.process_time() - began
        tab.evaluate(_SHOWN)
        found = session.send("Performance.getMetrics")["metrics"]
        return served, next(each["value"] for each in found if each["name"] == "TaskDuration")
    finally:
        tab.close()


def update(browser: Browser, address: str, found: Figures, runs: int) -> list[float]:
    """Seconds from a new figure to the browser that shows it."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    took = []
    try:
        tab.goto(address)
        tab.locator("#connection[data-state=live]").wait_for()
        for run in range(runs):
            lag = 5_000_000 + run
            began = time.perf_counter()
            found.tick(receipt(_FLOW, 0, topic="orders-of-department-0", position=0, end=lag))
            tab.get_by_text(f"{lag:,}").first.wait_for(timeout=60_000)
            took.append(time.perf_counter() - began)
    finally:
        tab.close()
    return took


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--partitions", type=int, default=2_000)
    options.add_argument("--runs", type=int, default=7)
    given = options.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        raise BenchmarkError("Chromium is not installed: apt-get install -y chromium")
    found = figures(given.partitions)
    with found.listening() as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        address = f"http://localhost:{port}/ui/flows/us-%3Eeu?all=true"
        visit(browser, address, given.partitions)  # compiles templates, fills the browser's cache
        times = [visit(browser, address, given.partitions) for _ in range(given.runs)]
        cpu = [cpu_of_visit(browser, address) for _ in range(given.runs)]
        updates = update(browser, address, found, given.runs)
        browser.close()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    today = datetime.datetime.now(datetime.UTC).date()
    shown, answered = [s for s, _ in times], [a for _, a in times]
    print(
        f"{given.partitions:,} partitions, {today}, commit {commit}, load {os.getloadavg()[0]:.1f}"
    )
    served, drawn = [s for s, _ in cpu], [d for _, d in cpu]
    for what, values in (
        ("answered", answered),
        ("laid out", shown),
        ("an update", updates),
        ("CPU of the service for a visit", served),
        ("CPU of the browser's page", drawn),
    ):
        print(
            f"  {what}: median {statistics.median(values):.2f} s, least {min(values):.2f} s, "
            f"most {max(values):.2f} s, {len(values)} runs"
        )


if __name__ == "__main__":
    main()
