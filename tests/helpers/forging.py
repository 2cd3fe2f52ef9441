"""What somebody would do who wants a change to go unnoticed."""

from __future__ import annotations

import zlib

_BITS = 32


def keep_crc32(original: bytes, changed: bytes) -> bytes:
    """`changed` with its last four bytes set so that it has the CRC-32 of `original`.

    CRC-32 is affine over bits, crc(a) xor crc(b) xor crc(c) = crc(a xor b xor c) for equal lengths:
    which of the last 32 bits to turn is a system of 32 linear equations.
    """
    body = changed[:-4]
    base = zlib.crc32(body + bytes(4))
    columns = [zlib.crc32(body + (1 << bit).to_bytes(4, "little")) ^ base for bit in range(_BITS)]
    # Gauss over bits: `rows` maps a leading bit to (vector, which columns made it).
    rows: dict[int, tuple[int, int]] = {}
    for bit, column in enumerate(columns):
        vector, used = _reduced(rows, column, 1 << bit)
        assert vector, "the last four bytes of a CRC-32 are independent"
        rows[vector.bit_length()] = vector, used
    left, turned = _reduced(rows, zlib.crc32(original) ^ base, 0)
    assert not left
    return body + turned.to_bytes(4, "little")


def _reduced(rows: dict[int, tuple[int, int]], vector: int, used: int) -> tuple[int, int]:
    while vector and (row := rows.get(vector.bit_length())) is not None:
        vector, used = vector ^ row[0], used ^ row[1]
    return vector, used
