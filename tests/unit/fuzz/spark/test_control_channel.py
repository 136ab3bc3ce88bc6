"""Anybody can connect to the driver's channel, and a task's line may be damaged."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.model import Receipt
from heliograph.plan.grants import Hello
from support.brokers.channel_driver import (
    SECONDS,
    Driver,
    challenge_of,
    hello_line,
    receipt,
    signed,
)
from support.fuzz.laws import at_most
from support.fuzz.mutation import mutants

HELLO = hello_line("another challenge", Hello(1, 0, "1"))
FIELDS = {name: getattr(receipt(), name) for name in Receipt.__slots__}
SAID = json.dumps({"receipts": [FIELDS]}).encode() + b"\n"
LOG = json.dumps({"level": 30, "message": "said"}).encode() + b"\n"
ODD = [
    *(b"[" * 4000 + b"\n", b"[]\n", b"7\n", b'"message"\n', b"null\n", b'{"receipts":7}\n'),
    *(b'{"receipts":[7]}\n', b'{"receipts":{"a":1}}\n', b'{"message":"x"}\n', b"\xff\xfe\n"),
    *(b'{"level":"x","message":1}\n', b'{"level":' + b"9" * 5000 + b"}\n", b"{" * 4000 + b"\n"),
    *(b'{"ask":1}\n', b'{"ask":"x"}\n', b'{"ask":Infinity}\n', b'{"ask":[' + b"9" * 5000 + b"]}\n"),
    *(b'{"token":7,"epoch":true}\n', b'{"receipts":[{"ranges":[[1]],"state":"?"}]}\n'),
]


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.server.close()


def say(driver: Driver, said: Callable[[str], bytes], hello: Hello | None = None) -> None:
    """Say it, given the challenge, hang up, and wait until the driver has hung up too. With a hello, as the
    task that it is of, once it has its leases."""
    with socket.create_connection(driver.server.address, timeout=SECONDS) as line:
        try:
            challenge = challenge_of(line)
            if hello is not None:
                line.sendall(hello_line(challenge, hello))
                assert line.recv(4096).endswith(b" granted\n")
            line.sendall(said(challenge))
            line.shutdown(socket.SHUT_WR)
            while line.recv(4096):
                pass
        except TimeoutError:
            pytest.fail("the driver did not hang up")
        except OSError:
            return  # the driver hung up first


@at_most(60)
@given(said=st.sampled_from(ODD) | mutants([HELLO, *ODD]) | st.binary(max_size=50))
def test_strangers_are_hung_up_on(driver: Driver, said: bytes) -> None:
    say(driver, lambda _: said)


@at_most(60)
@given(said=st.sampled_from(ODD) | mutants([SAID, LOG, *ODD]))
def test_a_line_that_is_no_message_ends_only_its_own_connection(
    driver: Driver, said: bytes
) -> None:
    driver.open_epoch(1)
    say(driver, lambda c: signed(c, [*said.splitlines(), LOG.strip()]), Hello(1, 0, "1"))
    say(driver, lambda _: said + LOG, Hello(1, 1, "1"))

    while not driver.heard.empty():
        driver.heard.get()
    task = driver.task(epoch=7)
    task.report([receipt()])
    assert driver.heard.get(timeout=SECONDS) == (7, [receipt()])
    task.close()
