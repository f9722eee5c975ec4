"""Numbers in as many bytes as they need, seven bits a byte, the lowest first."""

from __future__ import annotations

import struct


def unsigned_varint(number: int) -> bytes:
    """`number`, which is not negative, as the protocol writes lengths and tags."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, where it ends). Raises IndexError where the data ends first."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """(number with a sign, where it ends), as record batches write them.

    Raises IndexError where the data ends first.
    """
    number, at = read_unsigned_varint(data, at)
    return (number >> 1) ^ -(number & 1), at


INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")
