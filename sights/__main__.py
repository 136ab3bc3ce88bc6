"""Makes docs/sights.md and docs/images/sight-*.png from a real mirror: python -m sights

Causes each fault, waits until metrics, page and `heliograph status` show it, records all three, and ends it
before the next one.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from harness.cluster_side import running_clusters
from harness.errors import HarnessError
from sights.report import IMAGES, write_page
from sights.sight import FLOW_PAGE, Seen, Sight, look
from sights.stage import FLOW, Stage, await_true, standing_still

_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_RUNS = r"^flow home->cloud: RUNNING"


def _state(state: str) -> str:
    return rf'^heliograph_flow_state\{{flow="home->cloud",.*state="{state}".*\}} 1'


def _is(stage: Stage, state: str) -> bool:
    return any(re.search(_state(state), line) for line in stage.metrics())


def _healthy(stage: Stage) -> bool:
    return _is(stage, "copying") and not any(
        re.match(r"heliograph_problems\{.*\} [1-9]", line) for line in stage.metrics()
    )


def _of_partition(topic: str, state: str) -> str:
    return rf'^heliograph_partition_state\{{.*state="{state}".*topic="{topic}".*\}} 1'


def _row(topic: str, rest: str = "") -> str:
    return rf"^ *{topic} +0 .*{rest}"


HEALTHY = Sight(
    name="healthy",
    title="no fault: the flow copies",
    page=("/ui", "copying"),
    metrics=(_state("copying"),),
    status=(_RUNS, _row("payments", "RUNNING")),
)


@contextmanager
def quiet_topic(stage: Stage) -> Iterator[Sight]:
    """Of one topic, while the others are copied."""
    stage.produce("archive", b"a record")
    yield Sight(
        name="quiet-topic",
        title="a quiet topic",
        page=(f"{FLOW_PAGE}?q=archive", "quiet"),
        metrics=(
            _of_partition("archive", "quiet"),
            r'^heliograph_partition_last_copy_age_seconds\{.*topic="archive"',
        ),
        status=(_RUNS, _row("archive", " 0 .*RUNNING")),
    )


@contextmanager
def quiet_flow(stage: Stage) -> Iterator[Sight]:
    stage.load(False)
    yield Sight(
        name="quiet-flow",
        title="a quiet flow: everything is copied",
        page=("/ui", "quiet"),
        metrics=(_state("quiet"),),
        status=(_RUNS, _row("payments", " 0 .*RUNNING")),
    )
    stage.load(True)


@contextmanager
def paused_connector(stage: Stage) -> Iterator[Sight]:
    stage.connector("pause")
    yield Sight(
        name="paused-connector",
        title="a paused connector",
        page=("/ui", "paused"),
        metrics=(
            _state("paused"),
            r'^heliograph_connector_state\{connector="home->cloud.MirrorSourceConnector",state="PAUSED"\} 1',
        ),
        status=(r"^flow home->cloud: PAUSED",),
    )
    stage.connector("resume")


@contextmanager
def stopped_target(stage: Stage) -> Iterator[Sight]:
    stage.cloud.stop_node(1)
    # Its group's brokers are gone, too: the service does not lead when its session is over.
    lost = rf'^heliograph_connector_state\{{connector="{FLOW}.MirrorSourceConnector",state="UNASSIGNED"\}} 1'
    await_true("the session is over", lambda: any(re.search(lost, x) for x in stage.metrics()))
    yield Sight(
        name="stopped-target",
        title="a stopped target",
        page=("/ui", "unreachable"),
        metrics=(
            _state("unreachable"),
            r'^heliograph_cluster_reachable\{cluster="cloud",flow="home->cloud"\} 0',
        ),
        status=(r"^NOT REACHED: cloud: ",),
    )
    stage.cloud.start_node(1)


@contextmanager
def unreachable_source(stage: Stage) -> Iterator[Sight]:
    """Its broker does not answer, and closes no connection."""
    with standing_still(list(stage.home.pids.values())):
        yield Sight(
            name="unreachable-source",
            title="an unreachable source",
            page=("/ui", "unreachable"),
            metrics=(
                _state("unreachable"),
                r'^heliograph_cluster_reachable\{cluster="home",flow="home->cloud"\} 0',
            ),
            status=(r"^NOT REACHED: home: ",),
        )


@contextmanager
def lagging_flow(stage: Stage) -> Iterator[Sight]:
    """More is written than throttle.bytes.per.second lets through."""
    stage.burst()
    yield Sight(
        name="lagging-flow",
        title="a lagging flow: a burst, and a throttle",
        page=(FLOW_PAGE, "throttled"),
        metrics=(
            r'^heliograph_partition_lag_records\{.*topic="payments"\} \d{4,}',
            r'^heliograph_partition_lag_seconds\{.*topic="payments"\} [1-9]',
            r"^heliograph_throttled_seconds_total\{",
        ),
        status=(rf"{_RUNS}.*throttled", _row("payments", r"\d{4,}.*RUNNING")),
    )
    pattern = (
        r'heliograph_partition_lag_records{flow="home->cloud",partition="0",topic="payments"} '
    )
    await_true(
        "the burst is copied",
        lambda: any(
            line.startswith(pattern) and float(line.rpartition(" ")[2]) < 2_000
            for line in stage.metrics()
        ),
    )


@contextmanager
def gap(stage: Stage) -> Iterator[Sight]:
    """Retention deletes records before they are mirrored."""
    stage.connector("pause")
    await_true("the connector is paused", lambda: _is(stage, "paused"))
    stage.produce("archive", *[b"a record"] * 500)
    stage.delete_before("archive", 300)
    stage.connector("resume")
    yield Sight(
        name="gap",
        title="a gap: records deleted before they were mirrored",
        page=(FLOW_PAGE, "Gaps"),
        metrics=(
            r"^heliograph_gaps_total\{.*\} [1-9]",
            r"^heliograph_gap_records_total\{.*\} [1-9]",
        ),
        status=(r"gaps: \d", r"^ *archive +0 .*source offsets"),
    )


@contextmanager
def yesterdays_gap(stage: Stage) -> Iterator[Sight]:
    """After a restart: the same page, from the state topic."""
    stage.restart()
    yield Sight(
        name="yesterdays-gap",
        title="the same gap after a restart",
        page=("/ui/events?kind=gap", "archive-0"),
        metrics=(_state("copying"),),
        status=(r"^ *archive +0 .*source offsets",),
    )


@contextmanager
def fenced_service(stage: Stage) -> Iterator[Sight]:
    """It stood still for longer than its session; another service runs its flow."""
    with stage.another_service():
        yield Sight(
            name="fenced-service",
            title="a fenced service: it stood still, and another runs its flow",
            page=("/ui/events?kind=leadership", "lost leadership"),
            metrics=(_state("standby"), r"^heliograph_leader\{"),
            status=(_RUNS, r"service at .*: RUNNING", r"service at .*: STANDBY"),
        )
    await_true("the first service copies again", lambda: _is(stage, "copying"))


@contextmanager
def failed_partition(stage: Stage) -> Iterator[Sight]:
    """The target refuses a record."""
    stage.produce("large", b"x" * 900, b"y" * 50_000)
    yield Sight(
        name="failed-partition",
        title="a failed partition: the target refuses a record",
        page=(FLOW_PAGE, "failed"),
        metrics=(_state("failed"), _of_partition("large", "failed")),
        status=(rf"{_RUNS}.*1 partitions FAILED", _row("large", "FAILED")),
    )


FAULTS: tuple[Callable[[Stage], AbstractContextManager[Sight]], ...] = (
    quiet_topic,
    quiet_flow,
    paused_connector,
    stopped_target,
    unreachable_source,
    lagging_flow,
    gap,
    yesterdays_gap,
    fenced_service,
    failed_partition,  # it lasts
)


def run(stage: Stage, browser: Browser, chosen: list[str]) -> list[Seen]:
    stage.load(True)
    await_true("the flow copies", lambda: _healthy(stage))
    seen = [_look(HEALTHY, stage, browser)]
    for fault in FAULTS:
        name = fault.__name__.replace("_", "-")
        if chosen and name not in chosen:
            continue
        began = time.monotonic()
        with fault(stage) as sight:
            seen.append(_look(sight, stage, browser))
            lasts = sight.name == "failed-partition"
        if not lasts:
            await_true(f"{name} is over", lambda: _healthy(stage))
        print(f"{name}: seen and over after {time.monotonic() - began:.0f} s", flush=True)
    return seen


def _look(sight: Sight, stage: Stage, browser: Browser) -> Seen:
    return look(sight, stage, browser, str(IMAGES / f"sight-{sight.name}.png"))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("faults", nargs="*", help="only these; the page is not written then")
    chosen = options.parse_args().faults
    chromium = shutil.which("chromium")
    if chromium is None:
        raise HarnessError("Chromium is not installed: apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        with running_clusters(stage.home, stage.cloud), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
            stage.open()
            try:
                await_true(f"{FLOW} is there", stage.answers)
                seen = run(stage, browser, chosen)
            finally:
                stage.close()
                browser.close()
    if not chosen:
        write_page(seen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
