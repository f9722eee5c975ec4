"""CRC-32C, which covers a record batch: four bytes at a time, by four small tables.

Small, because tables of 65,536 numbers halve the steps, and do not stay in a processor's cache.
"""

import struct

_POLYNOMIAL = 0x82F63B78
"""Castagnoli's, lowest bit first."""


def crc32c(data: bytes) -> int:
    """The checksum of `data`."""
    crc, words = 0xFFFFFFFF, len(data) >> 2
    none, one, two, three = _NONE, _ONE, _TWO, _THREE
    for word in struct.unpack_from(f"<{words}I", data):
        crc ^= word
        crc = three[crc & 255] ^ two[crc >> 8 & 255] ^ one[crc >> 16 & 255] ^ none[crc >> 24]
    for byte in data[words << 2 :]:
        crc = none[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _shifted(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc


def _with_byte_behind(table: list[int]) -> list[int]:
    """What the bytes of `table` come to with one more byte of zeros behind them."""
    return [_NONE[crc & 255] ^ crc >> 8 for crc in table]


_NONE = [_shifted(byte) for byte in range(256)]
_ONE = _with_byte_behind(_NONE)
_TWO = _with_byte_behind(_ONE)
_THREE = _with_byte_behind(_TWO)
