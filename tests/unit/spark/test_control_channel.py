"""The line between driver and tasks, over real sockets on this machine."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from heliograph.errors import ConnectionLost, EnvironmentProblem, LeaseRefused
from heliograph.model import OffsetRange, Receipt
from heliograph.plan.grants import Hello
from heliograph.security import Secret
from heliograph.spark import control_channel as channel
from heliograph.spark import control_server as channel_server
from heliograph.spark.control_channel import TaskChannel
from heliograph.spark.signed_lines import DRIVER, SignedLines
from support.brokers.channel_driver import (
    KEY,
    SECONDS,
    Driver,
    challenge_of,
    hello_line,
    receipt,
    signed,
)
from support.waiting import eventually


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


def test_a_task_reads_its_new_share_of_a_throttled_flow(driver: Driver) -> None:
    task, other = driver.task(epoch=7), driver.task(epoch=7)

    driver.server.set_share(7, 2, "us->eu", 0.25)
    eventually(
        lambda: (other.wait(0.05), other.shares)[1], lambda shares: shares == {"us->eu": 0.25}
    )
    task.wait(0.05)

    assert task.shares == {}
    task.close()
    other.close()


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


def test_ranges_are_told_once_and_are_no_change_by_themselves(driver: Driver) -> None:
    task = driver.task()
    told = replace(
        receipt(), ranges=(OffsetRange(0, 7, 100), OffsetRange(101, 107, 5)), copied_ms=9
    )

    task.report([told])
    task.report([replace(told, ranges=())])
    task.report([replace(told, ranges=(OffsetRange(106, 112, 1),))])

    assert driver.heard.get(timeout=SECONDS) == (1, [told])
    assert driver.heard.get(timeout=SECONDS)[1][0].ranges == (OffsetRange(106, 112, 1),)
    assert driver.heard.empty()
    task.close()


def test_what_a_task_says_is_logged_by_the_driver(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "heliograph")  # the driver's, which is in this process, too
    task = driver.task()
    with task.forwarding_logs():
        logging.getLogger("heliograph.copy.loop").warning("offsets %d to %d are gone", 3, 9)
        logging.getLogger("heliograph.copy.loop").info("chatter")
        logging.getLogger("heliograph.copy.loop").debug("not this")
    logging.getLogger("heliograph.copy.loop").warning("behind the task's end")
    task.report([receipt()])
    driver.heard.get(timeout=SECONDS)

    heard = [r for r in caplog.records if r.name == "heliograph.spark.control_server"]
    assert [(r.levelname, r.getMessage()) for r in heard] == [
        ("WARNING", "offsets 3 to 9 are gone"),
        ("INFO", "chatter"),
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


def test_the_leases_of_a_task_whose_driver_is_gone_lapse_at_once(driver: Driver) -> None:
    task = driver.task()
    task.report([receipt()])
    driver.heard.get(timeout=SECONDS)

    driver.server.close()
    hear(task, lambda task: task.lapsed)

    assert not task.ended, "an epoch that is ended is finished in order; this one must not be"
    task.close()


def test_a_closed_driver_takes_no_more_tasks(driver: Driver) -> None:
    driver.server.close()

    with pytest.raises(ConnectionLost, match=r"driver at 127\.0\.0\.1"):
        driver.task()


def test_a_connection_without_the_key_is_hung_up_on(driver: Driver) -> None:
    with pytest.raises(ConnectionLost, match="closed the connection without granting leases"):
        driver.task(key=Secret("a guess"))

    assert driver.heard.empty()


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\xff\n",
        b"[]\n",
        b"{}\n",
        b'{"epoch":1,"task":0,"attempt":"1","nonce":"n","proof":"\xc3\xa9"}\n',
        b"\n",
        b"[" * 4000 + b"\n",
    ],
)
def test_a_stranger_does_not_disturb_the_driver(driver: Driver, line: bytes) -> None:
    with socket.create_connection(driver.server.address, timeout=SECONDS) as stranger:
        challenge_of(stranger)
        stranger.sendall(line)
        assert stranger.recv(1) == b""

    task = driver.task()
    task.report([receipt()])
    assert driver.heard.get(timeout=SECONDS) == (1, [receipt()])
    task.close()


def test_a_message_that_is_not_a_receipt_ends_only_its_own_connection(driver: Driver) -> None:
    with socket.create_connection(driver.server.address, timeout=SECONDS) as task:
        driver.open_epoch(1)
        challenge = challenge_of(task)
        task.sendall(hello_line(challenge, Hello(1, 0, "1")))
        with task.makefile("rb") as lines:
            assert lines.readline().endswith(b" granted\n")
            task.sendall(signed(challenge, [b'{"receipts":[{"flow":"a->b"}]}']))
            assert lines.read() == b""

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
    done = driver.task(epoch=3)
    gone = driver.task(epoch=4)

    done.say_done()
    done.close()
    assert driver.server.await_gone(3, SECONDS)
    assert driver.done.get(timeout=SECONDS) == (3, 1)
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


def test_leases_lapse_when_the_driver_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(SECONDS)
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(TaskChannel, mute.getsockname()[:2], KEY, Hello(1, 0, "1"))
            line, _ = mute.accept()
            line.sendall(b"a challenge\n")
            hello = json.loads(line.makefile("rb").readline())
            signs = SignedLines(KEY, DRIVER, "a challenge", hello["nonce"])
            line.sendall(signs.sign(b"granted"))
            task = opening.result(SECONDS)
    task.wait(0.0)
    assert not task.lapsed

    monkeypatch.setattr(channel, "SILENT_SECONDS", 0.5)
    hear(task, lambda task: task.lapsed)

    task.close()
    line.close()


def test_an_answer_confirms_the_leases_from_when_the_task_asked(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was frozen (SIGSTOP) finds answers in its buffer, as if they had just come."""
    monkeypatch.setattr(channel, "_ASK_SECONDS", 0.1)
    task = driver.task()
    granted = task.confirmed_at
    while not task.asks:
        task.wait(0.0)
    monkeypatch.setattr(channel, "_ASK_SECONDS", 3600.0)
    frozen = time.monotonic()
    time.sleep(0.3)

    hear(task, lambda task: task.confirmed_at > granted)

    assert task.confirmed_at < frozen
    task.close()


def test_leases_that_have_lapsed_stay_so_whatever_is_heard_later(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_ASK_SECONDS", 0.1)
    task = driver.task()
    while not task.asks:
        task.wait(0.0)

    monkeypatch.setattr(channel, "SILENT_SECONDS", 0.0)
    assert task.lapsed
    monkeypatch.setattr(channel, "SILENT_SECONDS", 3600.0)
    task.wait(0.1)

    assert task.lapsed
    task.close()


def test_only_the_first_attempt_of_a_task_is_granted_its_leases(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    driver.open_epoch(7)
    first = driver.attempt(Hello(7, 2, "41"))
    other = driver.attempt(Hello(7, 3, "42"))

    with pytest.raises(LeaseRefused, match=r"epoch 7, task 2: attempt 50 .* granted to attempt 41"):
        driver.attempt(Hello(7, 2, "50"))

    first.close()
    assert driver.missed.get(timeout=SECONDS) == 7
    with pytest.raises(LeaseRefused, match="granted to attempt 41"):
        driver.attempt(Hello(7, 2, "51"))
    assert driver.missed.empty(), "an attempt that was refused is not missed"
    assert "epoch 7, task 2: attempt 50 may not copy" in caplog.text
    other.close()


def test_a_lease_of_an_epoch_that_is_over_is_not_granted(driver: Driver) -> None:
    driver.open_epoch(7)
    driver.open_epoch(8)

    with pytest.raises(LeaseRefused, match="epoch 7 is over"):
        driver.attempt(Hello(7, 0, "1"))


def test_no_lease_is_granted_once_an_epoch_is_withdrawn(driver: Driver) -> None:
    task = driver.task(epoch=7)
    task.say_done()
    task.close()

    driver.server.withdraw(7, SECONDS, lambda: False)

    with pytest.raises(LeaseRefused, match="epoch 7 is over"):
        driver.attempt(Hello(7, 99, "1"))


def test_a_task_that_does_not_end_is_hung_up_on_when_its_epoch_is_withdrawn(driver: Driver) -> None:
    stubborn = driver.task(epoch=7)
    with ThreadPoolExecutor(1) as pool:
        withdrawing = pool.submit(driver.server.withdraw, 7, 0.1, lambda: False)
        hear(stubborn, lambda task: task.lapsed)
        assert not withdrawing.done(), "it waits until the task has hung up, too"
        stubborn.close()
        withdrawing.result(SECONDS)


def test_a_task_that_cannot_be_reached_is_waited_for_until_its_leases_have_lapsed(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_server, "SILENT_SECONDS", 1.0)
    frozen = driver.task(epoch=7)

    driver.server.withdraw(7, 0.1, lambda: False)

    assert time.monotonic() - frozen.confirmed_at > 1.0
    frozen.close()


def test_a_hello_that_is_sent_again_is_refused(driver: Driver) -> None:
    """It answers another challenge."""
    driver.open_epoch(1)
    with socket.create_connection(driver.server.address, timeout=SECONDS) as first:
        said = hello_line(challenge_of(first), Hello(1, 0, "1"))
    with socket.create_connection(driver.server.address, timeout=SECONDS) as second:
        challenge_of(second)
        second.sendall(said)
        assert second.recv(1) == b""

    driver.attempt(Hello(1, 0, "1")).close()  # the leases are still to be had


@pytest.mark.parametrize("repeated", [False, True], ids=["forged", "replayed"])
def test_a_receipt_that_is_not_the_tasks_next_line_is_not_believed(
    driver: Driver, repeated: bool
) -> None:
    text = json.dumps({"receipts": [as_fields(receipt(position=99))]}).encode()
    driver.open_epoch(1)
    with socket.create_connection(driver.server.address, timeout=SECONDS) as line:
        challenge = challenge_of(line)
        line.sendall(hello_line(challenge, Hello(1, 0, "1")))
        forged = signed("another challenge", [text])
        with line.makefile("rb") as lines:
            assert lines.readline().endswith(b" granted\n")
            line.sendall(signed(challenge, [text]) * 2 if repeated else forged)
            assert lines.read() == b"", "hung up on"

    heard = [driver.heard.get(timeout=SECONDS)] if repeated else []
    assert [each[1][0].position for each in heard] == [99] * len(heard)
    assert driver.heard.empty()
    assert driver.missed.get(timeout=SECONDS) == 1


def test_a_task_does_not_obey_a_driver_that_does_not_know_the_key(driver: Driver) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        opening = pool.submit(TaskChannel, other.getsockname()[:2], KEY, Hello(1, 0, "1"))
        line, _ = other.accept()
        line.sendall(b"a challenge\n")
        line.makefile("rb").readline()
        line.sendall(SignedLines(Secret("a guess"), DRIVER, "a challenge", "n").sign(b"granted"))
        with pytest.raises(ConnectionLost, match="has a wrong signature"):
            opening.result(SECONDS)
        line.close()


def test_silent_and_dripping_connections_keep_no_task_out(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(channel_server, "HELLO_SECONDS", 1.0)
    address = driver.server.address
    strangers = [socket.create_connection(address, timeout=SECONDS) for _ in range(1000)]
    dripping = socket.create_connection(address, timeout=SECONDS)
    try:
        task = driver.task()
        task.report([receipt()])
        assert driver.heard.get(timeout=SECONDS) == (1, [receipt()])
        task.close()
        assert drips_until_hung_up(dripping)
    finally:
        for line in (*strangers, dripping):
            line.close()
    assert caplog.text.count("channel: refused") < 5, "not logged each time"


def drips_until_hung_up(line: socket.socket) -> bool:
    """A byte now and then must not buy more time: the limit is for the hello as a whole."""
    line.settimeout(SECONDS)
    try:
        while True:
            line.sendall(b" ")
            time.sleep(0.05)
    except OSError:
        return True


def test_a_port_that_is_taken_is_said_with_the_remedy() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(EnvironmentProblem, match=r"driver\.channel\.port"),
    ):
        channel_server.ChannelServer(KEY, lambda *_: None, *taken.getsockname()[:2])
