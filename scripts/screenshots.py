"""Makes docs/images/page-*.png, the page of a real mirror in Chromium: python -m scripts.screenshots

Starts two clusters of one broker each, writes records to both, mirrors in both directions, and takes pictures
of the pages once their figures are there.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from playwright.sync_api import Browser, Page, sync_playwright

from harness.cluster_side import QUIET, ClusterSide, running_clusters
from harness.errors import HarnessError
from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from harness.pace import Pace
from heliograph.embedded import Cluster

OUT = Path(__file__).parents[1] / "docs" / "images"
#: Partitions and records per second.
TOPICS = {"orders": (6, 3_000), "payments": (3, 900), "shipments": (2, 200)}
_RECORD = b"x" * 300
_GROUPS = ("billing", "fraud-detection")
_PATIENCE_MS = 240_000
#: So that the charts of five minutes have a good part of them.
_SETTLE_SECONDS = 120.0
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_FLOW = "/ui/flows/home-%3Ecloud"
#: Picture, address, text that shows that its figures are there, width, height, colours.
_PICTURES = (
    ("map", "/ui", "copying", 1280, 640, "light"),
    ("map-dark", "/ui", "copying", 1280, 640, "dark"),
    ("flow", _FLOW, "s ago", 1280, 860, "light"),
    ("flow-phone", _FLOW, "s ago", 390, 844, "dark"),
    ("groups", "/ui/groups", "exact: continues", 1280, 560, "light"),
    ("connectors", "/ui/connectors", "running", 1280, 700, "dark"),
    ("events", "/ui/events", "this service runs it", 1280, 560, "light"),
)


def write_records(bootstrap: str, ended: threading.Event, share: float) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, **QUIET})
    paces = {topic: Pace(rate * share) for topic, (_, rate) in TOPICS.items()}
    while not ended.wait(0.05):
        for topic, pace in paces.items():
            count = int(pace.owed())
            for _ in range(count):
                producer.produce(topic, _RECORD)
            pace.spend(count)
        producer.poll(0)
    producer.flush(30)


def commit_offsets(bootstrap: str) -> None:
    for group in _GROUPS:
        settings = {"bootstrap.servers": bootstrap, "group.id": group, **QUIET}
        with closing(Consumer(settings)) as consumer:
            offsets = [TopicPartition("orders", number, 40 + number) for number in range(3)]
            consumer.commit(offsets=offsets, asynchronous=False)


def free_port() -> int:
    with closing(socket.create_server(("localhost", 0))) as opened:
        return int(opened.getsockname()[1])


def mirror_file(folder: Path, home: Cluster, cloud: Cluster, port: int) -> Path:
    names = (("home", home.bootstrap_servers), ("cloud", cloud.bootstrap_servers))
    there = mirror_properties(*names, ",".join(TOPICS), replicas=1)
    back = mirror_properties(*reversed(names), "payments", replicas=1)
    return write_mirror_file(
        folder,
        {
            **back,
            **there,
            "listeners": f"http://localhost:{port}",
            "rest.writable": "true",
            "emit.checkpoints.interval.seconds": "2",
            "refresh.groups.interval.seconds": "2",
            "sync.group.offsets.enabled": "true",
            "sync.group.offsets.interval.seconds": "2",
        },
    )


def take(browser: Browser, base: str) -> None:
    for name, path, ready, width, height, colours in _PICTURES:
        context = browser.new_context(
            base_url=base,
            viewport={"width": width, "height": height},
            color_scheme="dark" if colours == "dark" else "light",
        )
        context.set_default_timeout(_PATIENCE_MS)
        tab: Page = context.new_page()
        tab.goto(path)
        tab.locator("main", has_text=ready).wait_for()
        tab.locator("#connection[data-state=live]").wait_for()
        tab.wait_for_timeout(6_000)  # what is read from the clusters
        tab.screenshot(path=OUT / f"page-{name}.png")
        context.close()


def await_copy(base: str, browser: Browser) -> None:
    tab = browser.new_page()
    deadline = time.monotonic() + _PATIENCE_MS / 1000
    while True:
        try:
            tab.goto(f"{base}/ui")
            break
        except Exception as e:
            if time.monotonic() > deadline:
                raise HarnessError(f"no page at {base}/ui: {e}") from e
            time.sleep(1)
    tab.locator("tbody tr", has_text="home->cloud").filter(has_text="copying").wait_for(
        timeout=_PATIENCE_MS
    )
    tab.close()


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        raise HarnessError("Chromium is not installed: apt-get install -y chromium")
    home, cloud, ended, port = Cluster("home"), Cluster("cloud"), threading.Event(), free_port()
    with tempfile.TemporaryDirectory() as folder, running_clusters(home, cloud):
        for cluster in (home, cloud):
            ClusterSide(lambda c=cluster: c.bootstrap_servers).create_topics(  # type: ignore[misc]
                [NewTopic(name, partitions, 1) for name, (partitions, _) in TOPICS.items()]
            )
        writers = [
            threading.Thread(target=write_records, args=(cluster.bootstrap_servers, ended, share))
            for cluster, share in ((home, 1.0), (cloud, 0.3))
        ]
        file = mirror_file(Path(folder), home, cloud, port)
        mirror = subprocess.Popen(heliograph_command("run", str(file)), start_new_session=True)
        for writer in writers:
            writer.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
                await_copy(f"http://localhost:{port}", browser)
                commit_offsets(home.bootstrap_servers)
                time.sleep(_SETTLE_SECONDS)
                take(browser, f"http://localhost:{port}")
                browser.close()
        finally:
            ended.set()
            for writer in writers:
                writer.join()
            mirror.send_signal(signal.SIGTERM)
            mirror.wait(60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
