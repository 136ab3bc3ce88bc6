from __future__ import annotations

import random

from heliograph.plan.grants import Grants, Hello


def test_nothing_is_granted_before_an_epoch_is_open() -> None:
    assert Grants().refusal(Hello(1, 0, "1")) == "epoch 1 is over"


def test_each_task_of_the_open_epoch_is_granted_once() -> None:
    grants = Grants()
    grants.open(4)

    assert grants.refusal(Hello(4, 0, "1")) is None
    assert grants.refusal(Hello(4, 1, "2")) is None
    assert "granted to attempt 1" in (grants.refusal(Hello(4, 0, "3")) or "")
    assert "granted to attempt 1" in (grants.refusal(Hello(4, 0, "1")) or ""), "not even to itself"


def test_the_next_epoch_grants_anew_and_the_last_one_no_more() -> None:
    grants = Grants()
    grants.open(4)
    grants.open(5)

    assert grants.refusal(Hello(4, 1, "9")) == "epoch 4 is over"
    assert grants.refusal(Hello(5, 0, "7")) is None


def test_whatever_attempts_come_in_whatever_order_no_task_is_granted_twice_in_an_epoch() -> None:
    chosen = random.Random(15)
    grants, granted = Grants(), set()
    epoch = 0
    for attempt in range(2000):
        if chosen.random() < 0.05:
            epoch += 1
            grants.open(epoch)
        elif chosen.random() < 0.02:
            grants.close()
        hello = Hello(epoch - chosen.randrange(2), chosen.randrange(4), str(attempt))
        if grants.refusal(hello) is None:
            assert hello.epoch == epoch
            assert (hello.epoch, hello.task) not in granted
            granted.add((hello.epoch, hello.task))

    assert len(granted) > 50
