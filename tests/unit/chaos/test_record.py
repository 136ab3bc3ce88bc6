from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaos.record import Identity, decode, encode

_NUMBERS = st.integers(min_value=0, max_value=2**40)


@given(_NUMBERS, _NUMBERS, _NUMBERS, st.binary(max_size=50))
def test_a_record_says_who_wrote_it_and_which_it_is(
    writer: int, partition: int, sequence: int, filler: bytes
) -> None:
    identity = Identity(writer, partition, sequence)

    assert decode(encode(identity, filler)) == identity


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_a_record_with_one_altered_byte_is_none_of_ours(place: int, change: int) -> None:
    value = bytearray(encode(Identity(1, 2, 345), b"some filler"))
    value[place % len(value)] ^= change

    assert decode(bytes(value)) != Identity(1, 2, 345) or bytes(value).lower() == encode(
        Identity(1, 2, 345), b"some filler"
    )


def test_what_no_writer_has_written_is_none_of_ours() -> None:
    for value in (None, b"", b"1:2:3", b"a:b:c:d:e", b"1:2:3:00000000:x"):
        assert decode(value) is None
