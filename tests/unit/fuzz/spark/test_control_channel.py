"""Anybody can connect to the driver's channel, and a task's line may be damaged."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.model import Receipt
from support.brokers.channel_driver import SECONDS, TOKEN, Driver, receipt
from support.fuzz.laws import at_most
from support.fuzz.mutation import mutants

HELLO = json.dumps({"token": TOKEN, "epoch": 1}).encode() + b"\n"
FIELDS = {name: getattr(receipt(), name) for name in Receipt.__slots__}
SAID = json.dumps({"receipts": [FIELDS]}).encode() + b"\n"
LOG = json.dumps({"level": 30, "message": "said"}).encode() + b"\n"
ODD = [
    *(b"[" * 4000 + b"\n", b"[]\n", b"7\n", b'"message"\n', b"null\n", b'{"receipts":7}\n'),
    *(b'{"receipts":[7]}\n', b'{"receipts":{"a":1}}\n', b'{"message":"x"}\n', b"\xff\xfe\n"),
    *(b'{"level":"x","message":1}\n', b'{"level":' + b"9" * 5000 + b"}\n", b"{" * 4000 + b"\n"),
    *(b'{"token":7,"epoch":true}\n', b'{"receipts":[{"stretches":[[1]],"state":"?"}]}\n'),
]


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.server.close()


def say(driver: Driver, said: bytes) -> None:
    """Say it, hang up, and wait until the driver has hung up too."""
    with socket.create_connection(driver.server.address, timeout=SECONDS) as line:
        try:
            line.sendall(said)
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
    say(driver, said)


@at_most(60)
@given(said=st.sampled_from(ODD) | mutants([SAID, LOG, *ODD]))
def test_a_line_that_is_no_message_ends_only_its_own_connection(
    driver: Driver, said: bytes
) -> None:
    say(driver, HELLO + said + LOG)

    while not driver.heard.empty():
        driver.heard.get()
    task = driver.task(epoch=7)
    task.report([receipt()])
    assert driver.heard.get(timeout=SECONDS) == (7, [receipt()])
    task.close()
