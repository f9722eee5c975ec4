"""The checksum of record batches, CRC-32C, of one or of many at once."""

import struct
from collections.abc import Sequence

_CASTAGNOLI = 0x82F63B78
"""The polynomial of CRC-32C, lowest bit first."""
_ALL_BITS = 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """The checksum of one batch: four bytes at a time, by four small tables. Larger ones halve the
    steps, and do not stay in a processor's cache.
    """
    crc, words = _ALL_BITS, len(data) >> 2
    none, one, two, three = _NONE, _ONE, _TWO, _THREE
    for word in struct.unpack_from(f"<{words}I", data):
        crc ^= word
        crc = three[crc & 255] ^ two[crc >> 8 & 255] ^ one[crc >> 16 & 255] ^ none[crc >> 24]
    for byte in data[words << 2 :]:
        crc = none[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ _ALL_BITS


def crc32c_of_many(batches: Sequence[bytes]) -> list[int]:
    """The checksums of batches of about one size, four bytes at least: four times as fast as one by
    one.

    Each batch is a lane, with zeros before it, which change no state that is 0 (so the first four
    bytes are inverted in place of the first state). A step takes one byte of every lane. A state
    has four bytes: the lowest of all lanes, then the second ones of all, and so on.
    """
    lanes, size = len(batches), max(map(len, batches))
    begun = (batch[:4].translate(_INVERTED) + batch[4:] for batch in batches)
    data, states, bits = b"".join([b.rjust(size, b"\0") for b in begun]), 0, 8 * lanes
    lowest = (1 << bits) - 1
    for at in range(size):
        mixed = (int.from_bytes(data[at::size], "little") ^ states) & lowest
        byte = mixed.to_bytes(lanes, "little")
        of_byte = b"".join([byte.translate(table) for table in _BYTES_OF_NONE])
        states = states >> bits ^ int.from_bytes(of_byte, "little")
    flat = states.to_bytes(4 * lanes, "little")
    four = (flat[lanes * byte : lanes * (byte + 1)] for byte in range(4))
    return [int.from_bytes(state, "little") ^ _ALL_BITS for state in zip(*four, strict=True)]


def _shifted(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_CASTAGNOLI if crc & 1 else 0)
    return crc


def _with_byte_behind(table: list[int]) -> list[int]:
    """What the bytes of `table` come to with one more byte of zeros behind them."""
    return [_NONE[crc & 255] ^ crc >> 8 for crc in table]


_NONE = [_shifted(byte) for byte in range(256)]
_ONE = _with_byte_behind(_NONE)
_TWO = _with_byte_behind(_ONE)
_THREE = _with_byte_behind(_TWO)
_BYTES_OF_NONE = [bytes(crc >> shift & 255 for crc in _NONE) for shift in range(0, 32, 8)]
_INVERTED = bytes(range(255, -1, -1))
