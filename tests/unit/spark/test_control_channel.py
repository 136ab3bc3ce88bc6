"""The line between driver and tasks, over real sockets on this machine."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from heliograph.errors import ConnectionLost
from heliograph.model import Receipt, Stretch
from heliograph.spark import control_channel as channel
from heliograph.spark.control_channel import TaskChannel
from support.brokers.channel_driver import SECONDS, TOKEN, Driver, receipt


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.server.close()


def test_receipts_reach_the_driver_as_they_were(driver: Driver) -> None:
    task = driver.task(epoch=7)
    sent = [receipt(), Receipt(**{**as_fields(receipt(error="no")), "partition": 4})]

    task.report(sent)

    assert driver.heard.get(timeout=SECONDS) == (7, sent)
    task.close()


def as_fields(one: Receipt) -> dict[str, object]:
    return {name: getattr(one, name) for name in Receipt.__slots__}


def test_only_what_has_changed_is_sent_again(driver: Driver) -> None:
    task = driver.task()

    task.report([receipt(position=5)])
    task.report([receipt(position=5)])
    task.report([receipt(position=6)])

    positions = [driver.heard.get(timeout=SECONDS)[1][0].position for _ in range(2)]
    assert positions == [5, 6]
    assert driver.heard.empty()
    task.close()


def test_stretches_are_told_once_and_are_no_change_by_themselves(driver: Driver) -> None:
    task = driver.task()
    told = replace(receipt(), stretches=(Stretch(0, 7, 100), Stretch(101, 107, 5)), copied_ms=9)

    task.report([told])
    task.report([replace(told, stretches=())])
    task.report([replace(told, stretches=(Stretch(106, 112, 1),))])

    assert driver.heard.get(timeout=SECONDS) == (1, [told])
    assert driver.heard.get(timeout=SECONDS)[1][0].stretches == (Stretch(106, 112, 1),)
    assert driver.heard.empty()
    task.close()


def test_what_a_task_warns_of_is_logged_by_the_driver(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    task = driver.task()
    with task.forwarding_logs():
        logging.getLogger("heliograph.copy.loop").warning("offsets %d to %d are gone", 3, 9)
        logging.getLogger("heliograph.copy.loop").info("chatter")
    logging.getLogger("heliograph.copy.loop").warning("behind the task's end")
    task.report([receipt()])
    driver.heard.get(timeout=SECONDS)

    heard = [r for r in caplog.records if r.name == "heliograph.spark.control_channel"]
    assert [(r.levelname, r.getMessage()) for r in heard] == [
        ("WARNING", "offsets 3 to 9 are gone")
    ]
    task.close()


def test_the_end_of_an_epoch_reaches_its_tasks(driver: Driver) -> None:
    task = driver.task(epoch=1)
    task.report([receipt()])
    driver.heard.get(timeout=SECONDS)

    driver.server.end_epoch(1)
    task.wait(SECONDS)

    assert task.ended
    task.close()


def test_a_task_that_comes_late_hears_at_once_that_its_epoch_is_over(driver: Driver) -> None:
    driver.server.end_epoch(3)

    task = driver.task(epoch=3)
    task.wait(SECONDS)

    assert task.ended
    task.close()


def test_tasks_of_the_next_epoch_go_on(driver: Driver) -> None:
    task = driver.task(epoch=2)
    task.report([receipt()])
    driver.heard.get(timeout=SECONDS)

    driver.server.end_epoch(1)
    task.wait(0.1)

    assert not task.ended
    task.close()


def test_a_task_whose_driver_is_gone_ends(driver: Driver) -> None:
    task = driver.task()
    task.report([receipt()])
    driver.heard.get(timeout=SECONDS)

    driver.server.close()
    task.wait(SECONDS)

    assert task.ended
    task.close()


def test_a_closed_driver_takes_no_more_tasks(driver: Driver) -> None:
    driver.server.close()

    with pytest.raises(ConnectionLost, match=r"driver at 127\.0\.0\.1"):
        driver.task()


def test_a_connection_without_the_token_is_hung_up_on(driver: Driver) -> None:
    stranger = driver.task(token="a guess")
    stranger.report([receipt()])
    stranger.wait(SECONDS)

    assert stranger.ended
    assert driver.heard.empty()
    stranger.close()


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\xff\n",
        b"[]\n",
        b"{}\n",
        b'{"token":"\xc3\xa9","epoch":1}\n',
        b"\n",
        b"[" * 4000 + b"\n",
    ],
)
def test_a_stranger_does_not_disturb_the_driver(driver: Driver, line: bytes) -> None:
    with socket.create_connection(driver.server.address, timeout=SECONDS) as stranger:
        stranger.sendall(line)
        assert stranger.recv(1) == b""

    task = driver.task()
    task.report([receipt()])
    assert driver.heard.get(timeout=SECONDS) == (1, [receipt()])
    task.close()


def test_a_message_that_is_not_a_receipt_ends_only_its_own_connection(driver: Driver) -> None:
    with socket.create_connection(driver.server.address, timeout=SECONDS) as task:
        hello = json.dumps({"token": TOKEN, "epoch": 1}).encode()
        task.sendall(hello + b'\n{"receipts":[{"flow":"a->b"}]}\n')
        assert task.recv(1) == b""

    other = driver.task()
    other.report([receipt()])
    assert driver.heard.get(timeout=SECONDS) == (1, [receipt()])
    other.close()


def hear(task: TaskChannel, until: Callable[[TaskChannel], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not until(task):
        assert time.monotonic() < deadline
        task.wait(0.05)


def test_a_task_that_is_gone_without_a_word_is_missed_and_one_that_is_done_is_not(
    driver: Driver,
) -> None:
    done, gone = driver.task(epoch=3), driver.task(epoch=4)

    done.say_done()
    done.close()
    assert driver.server.await_gone(3, SECONDS)
    gone.close()

    assert driver.missed.get(timeout=SECONDS) == 4
    assert driver.missed.empty()


def test_one_flow_may_end_while_the_epoch_goes_on(driver: Driver) -> None:
    early = driver.task(epoch=1)
    driver.server.end_epoch(1, "a->b")
    late, next_epoch = driver.task(epoch=1), driver.task(epoch=2)

    for task in (early, late):
        hear(task, lambda task: task.ended_flows == {"a->b"})
        assert not task.ended
    driver.server.end_epoch(2)
    hear(next_epoch, lambda task: task.ended)

    assert next_epoch.ended_flows == set()
    for task in (early, late, next_epoch):
        task.close()


def test_a_driver_that_is_silent_is_as_good_as_gone(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "SILENT_SECONDS", 1.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        heard, deaf = driver.task(), TaskChannel(silent.getsockname()[:2], TOKEN, 1)

        hear(deaf, lambda task: task.ended)
        began = time.monotonic()
        while time.monotonic() - began < 1.0:
            heard.wait(0.05)

    assert not heard.ended, "it hears every second that its driver lives"
    heard.close()
    deaf.close()
