from __future__ import annotations

from heliograph.client.net.log_throttle import LogThrottle


def test_the_same_sentence_of_a_subject_is_news_once_in_a_while() -> None:
    now = 0.0
    repeats = LogThrottle(lambda: now)

    assert repeats.is_news(1, "gone")
    assert not repeats.is_news(1, "gone")
    assert repeats.is_news(2, "gone")
    assert repeats.is_news(1, "refused")
    assert repeats.is_news(1, "gone")
    now = 11.0
    assert repeats.is_news(1, "gone")
