from __future__ import annotations

import contextlib
import random

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.errors import CorruptRecords
from heliograph.records.codecs import GZIP, LZ4, NAMES, SNAPPY, ZSTD, compress, decompress, mend_lz4
from support.records.batch_oracle import squeeze, unsqueeze

COMPRESSING = [GZIP, SNAPPY, LZ4, ZSTD]
NOISE = random.Random(5).randbytes(200_000)
SAMPLES = [b"", b"x", b"abc" * 50_000, NOISE, NOISE[:65536], NOISE[:32768] + b"y" * 32769]


@pytest.mark.parametrize("codec", range(5), ids=NAMES)
@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_what_is_compressed_comes_back(codec: int, data: bytes) -> None:
    packed = compress(codec, data)

    assert bytes(decompress(codec, packed)) == data
    assert unsqueeze(codec, packed) == data


@pytest.mark.parametrize("codec", range(5), ids=NAMES)
@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_data_of_other_compressors_is_read(codec: int, data: bytes) -> None:
    assert bytes(decompress(codec, memoryview(squeeze(codec, data)))) == data


def test_raw_snappy_is_read_too() -> None:
    packed = pyarrow.compress(b"abc" * 1000, codec="snappy", asbytes=True)

    assert bytes(decompress(SNAPPY, packed)) == b"abc" * 1000


def test_lz4_frames_have_independent_blocks_as_java_demands() -> None:
    packed = compress(LZ4, NOISE)

    assert packed[:7].hex() == "04224d18604082"


def test_the_wrong_lz4_header_checksum_of_magic_0_is_mended() -> None:
    broken = bytearray(compress(LZ4, b"abc" * 1000))
    broken[6] ^= 0x55

    with pytest.raises(CorruptRecords):
        decompress(LZ4, broken)
    assert bytes(decompress(LZ4, mend_lz4(broken))) == b"abc" * 1000


def test_the_lz4_header_checksum_is_mended_behind_a_content_size() -> None:
    # FLG 0x68: the frame header carries the size of its content, 3 bytes, before the checksum
    header = b"\x04\x22\x4d\x18\x68\x40" + (3).to_bytes(8, "little") + b"\x00"
    frame = header + (3 | 1 << 31).to_bytes(4, "little") + b"abc" + bytes(4)

    assert bytes(decompress(LZ4, mend_lz4(frame))) == b"abc"


@pytest.mark.parametrize("codec", COMPRESSING, ids=lambda codec: NAMES[codec])
def test_a_bomb_is_stopped_at_the_limit(codec: int) -> None:
    bomb = compress(codec, bytes(3_000_000))

    with pytest.raises(CorruptRecords, match=r"t-0.*at most 1000000 bytes"):
        decompress(codec, bomb, limit=1_000_000, subject="t-0")
    assert len(decompress(codec, bomb, limit=3_000_000)) == 3_000_000


@pytest.mark.parametrize("codec", [GZIP, ZSTD], ids=lambda codec: NAMES[codec])
def test_what_data_may_become_goes_by_its_size(codec: int) -> None:
    few = compress(codec, bytes(63 << 20))
    bomb = compress(codec, bytes(96 << 20))

    assert len(decompress(codec, few)) == 63 << 20
    with pytest.raises(CorruptRecords, match=f"at most {(64 << 20) + 64 * len(bomb)} bytes"):
        decompress(codec, bomb)


@pytest.mark.parametrize("size", [b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x10"])
def test_a_length_field_alone_allocates_nothing(size: bytes) -> None:
    with pytest.raises(CorruptRecords, match=r"a block of .* bytes claims [0-9]+ bytes"):
        decompress(SNAPPY, size + bytes(50))


@pytest.mark.parametrize("codec", COMPRESSING, ids=lambda codec: NAMES[codec])
def test_data_that_is_cut_off_is_corrupt(codec: int) -> None:
    packed = compress(codec, NOISE)

    for size in (0, 1, 10, 17, 18, 1000, len(packed) - 1):
        with pytest.raises(CorruptRecords):
            decompress(codec, packed[:size])


@pytest.mark.parametrize("codec", [5, 7])
def test_an_unknown_codec_is_corrupt(codec: int) -> None:
    with pytest.raises(CorruptRecords, match=f"codec {codec}"):
        decompress(codec, b"abc")
    with pytest.raises(CorruptRecords, match=f"codec {codec}"):
        compress(codec, b"abc")


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(COMPRESSING), st.binary(max_size=200), st.integers(0, 2**30))
def test_damaged_data_raises_nothing_but_corrupt_records(
    codec: int, noise: bytes, place: int
) -> None:
    packed = bytearray(compress(codec, b"some text, some text, " * 20))
    place %= len(packed)
    damaged = packed[:place] + noise + packed[place + len(noise) // 2 :]

    for data in (noise, bytes(damaged)):
        with contextlib.suppress(CorruptRecords):
            decompress(codec, data, limit=1 << 20)
