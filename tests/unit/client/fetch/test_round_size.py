from __future__ import annotations

from heliograph.client.fetch.round_size import RoundSize
from heliograph.records.batch import PREFIX

RATE = 200_000
SMOOTH = RATE // 10


def batch(size: int) -> bytes:
    return PREFIX.pack(0, size - PREFIX.size) + bytes(size - PREFIX.size)


def read(round_size: RoundSize, size: int, seconds: float) -> float:
    """The part of what is read that is not read again: a broker cuts the last batch, but not the first."""
    log, used, whole = batch(size) * 2, 0.0, 0
    while used < RATE * seconds:
        asked = max(round_size.bytes or 0, size)
        sent = (log * (asked // len(log) + 1))[:asked]
        round_size.note(memoryview(sent))
        used += len(sent)
        whole += len(sent) // size * size
    return whole / used


def test_nearly_all_that_is_read_is_copied_whatever_the_size_of_batches() -> None:
    """10 kB batches at 200 kB/s: in rounds of 20 kB half of the bytes were cut off and read again."""
    found = {size: read(RoundSize(SMOOTH), size, 60) for size in range(1_000, 400_000, 3_333)}

    assert {size: part for size, part in found.items() if part < 0.85 and size < 40_000} == {}
    assert min(found.values()) > 0.5


def test_small_batches_are_read_in_smooth_rounds() -> None:
    size = RoundSize(SMOOTH)
    size.note(memoryview(batch(500) * 30))

    assert size.bytes == SMOOTH


def test_a_round_is_at_most_a_second_of_the_rate() -> None:
    size = RoundSize(SMOOTH)
    size.note(memoryview(batch(1_000_000)[:SMOOTH]))

    assert size.bytes == RATE


def test_large_batches_are_forgotten() -> None:
    size = RoundSize(SMOOTH)
    size.note(memoryview(batch(20_000)))
    assert size.bytes == 160_000

    for _ in range(40):
        size.note(memoryview(batch(100)))

    assert size.bytes == SMOOTH


def test_nonsense_in_a_response_ends() -> None:
    size = RoundSize(SMOOTH)

    size.note(memoryview(b"\xff" * 100))
    size.note(memoryview(b"\x00" * 100))
    size.note(memoryview(b""))

    assert size.bytes == SMOOTH


def test_without_a_limit_nothing_is_measured() -> None:
    size = RoundSize(None)
    size.note(memoryview(batch(100)))

    assert size.bytes is None
