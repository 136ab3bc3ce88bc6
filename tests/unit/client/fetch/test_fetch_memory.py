from __future__ import annotations

from heliograph.client.fetch.fetch_memory import Body, FetchMemory


def test_an_answer_counts_until_the_last_view_into_it_has_gone() -> None:
    held = FetchMemory()
    views = []
    for size in (100, 50):
        answer = memoryview(Body(size))[4:]
        held.watch(answer)
        views.append(answer[10:20])
        del answer
    assert held.bytes == 150

    views.pop(0)
    assert held.bytes == 50

    views.clear()
    assert held.bytes == 0
