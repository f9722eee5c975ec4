"""The roots of the compiled code: the functions that Python calls."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...machine.cache import sources_digest
from . import word_layout as at
from .partition_actions import act, offered, price
from .words import Ints, get, inner, request, root

COUNT, LOOKED, UNTIL, TRANSITIONS, HIT, TALLIES = range(6)
"""Places in `tallies`: states known, looked at, to look at; transitions; 1 + a broken property."""
DONE, HIT_ONE, FULL, NARROW = range(4)
"""Why a stretch of a search ended."""
MOST_SUCCESSORS = 32
MIX = -7046029254386353131
"""An odd number of 64 bits without a pattern."""
NUMBER_MASK, TAG_BITS = (1 << 32) - 1, 31
TAG_MASK, CODE_MASK = (1 << TAG_BITS) - 1, (1 << 16) - 1

Table = npt.NDArray[np.int64]
"""Slots: 0, or the hash of a row above 1 + its number. A row is at its hash without the lowest
`free` bits, or in the next slots: so a table is in the order of hashes, and one twice as large is
filled from it from front to back."""


@inner
def hash_of(words: Ints) -> int:
    """31 bits that depend on all words."""
    mixed = 0
    for place in range(at.WORDS):
        mixed = (mixed ^ words[place]) * MIX
        mixed ^= mixed >> 31
    return (mixed >> 32) & TAG_MASK


@inner
def same(one: Ints, other: Ints) -> bool:
    """Whether all words are equal."""
    different = 0
    for place in range(at.WORDS):
        different |= one[place] ^ other[place]
    return different == 0


@inner
def slot_of(rows: Ints, table: Table, free: int, words: Ints, tag: int) -> int:
    """The slot of the row that equals `words`, or the free one where it belongs."""
    last, slot = len(table) - 1, tag >> free
    while table[slot] != 0:
        held = table[slot]
        if held >> 32 == tag and same(rows[(held & NUMBER_MASK) - 1], words):
            return slot
        slot = (slot + 1) & last
    return slot


@inner
def successor(before: Ints, ints: Ints, kind: int, broker: int, after: Ints, out: Ints) -> int:
    """One action from `before`: `after` is written, and the action's code returned; -1 for none.

    The code is the kind, the broker (3 bits up) and, for a request, the incarnation of its sender.
    """
    if not offered(before, ints, kind, broker):
        return -1
    for place in range(at.WORDS):
        after[place] = before[place]
    out[at.BROKEN] = 0
    if not act(after, ints, kind, broker, out) or same(before, after):
        return -1
    after[at.CONTROLLER] -= price(before, kind, broker)
    if get(after, at.EXCUSED) == 1:
        out[at.BROKEN] = 0
    # The sender above its incarnation, in five bits.
    what = request(before, broker) >> at.R_LIFE if kind == at.DELIVER else broker << 3
    return kind | (what >> 3) << 3 | (what & 7) << 5


@inner
def breaks(broken: int, property_bits: int) -> int:
    """1 + the first property that broke and was asked for; 0 for none."""
    first, second = (2, 1) if broken == 2 or broken == 4 else (1, 2)
    if broken == 0:
        return 0
    if property_bits >> (first - 1) & 1 == 1:
        return first
    return second if broken > 2 and property_bits >> (second - 1) & 1 == 1 else 0


@inner
def successors(
    before: Ints, ints: Ints, property_bits: int, rows: Ints, codes: Ints, out: Ints
) -> int:
    """How many successors a state has: `rows`, and `codes` with what broke above 16 bits.

    The last one may break what is asked for, or be followed by one that has no room.
    """
    count = 0
    for kind in range(at.KINDS):
        for broker in range(at.REQUESTS if kind == at.DELIVER else ints[at.P_BROKERS]):
            code = successor(before, ints, kind, broker, rows[count], out)
            if out[at.OVERFLOW] != 0:
                return count
            if code >= 0:
                codes[count] = code | out[at.BROKEN] << 16
                count += 1
                if breaks(out[at.BROKEN], property_bits) != 0:
                    return count
    return count


@cache
def expand_root() -> Any:
    """The search of some states, cached on disk under the digest of this room's sources."""
    digest = sources_digest(__package__)

    @root
    def expand(
        rows: Ints,
        parents: npt.NDArray[np.int32],
        how: npt.NDArray[np.int16],
        after: Ints,
        codes: Ints,
        table: Table,
        free: int,
        ints: Ints,
        property_bits: int,
        tallies: Ints,
        taken: Ints,
        out: Ints,
    ) -> int:
        """Look at rows LOOKED to UNTIL. At a hit, `out[BROKEN]` is the code of the last action."""
        assert digest  # A part of the key under which this is cached.
        while tallies[LOOKED] < tallies[UNTIL]:
            if tallies[COUNT] + MOST_SUCCESSORS > len(parents):
                return FULL
            count = successors(rows[tallies[LOOKED]], ints, property_bits, after, codes, out)
            for place in range(count):
                code = codes[place] & CODE_MASK
                tallies[TRANSITIONS] += 1
                taken[code & at.THREE] += 1
                tag = hash_of(after[place])
                slot = slot_of(rows, table, free, after[place], tag)
                if table[slot] == 0:
                    number = tallies[COUNT]
                    for word in range(at.WORDS):
                        rows[number, word] = after[place, word]
                    parents[number], how[number] = tallies[LOOKED], code
                    table[slot] = tag << 32 | (number + 1)
                    tallies[COUNT] = number + 1
                tallies[HIT] = breaks(codes[place] >> 16, property_bits)
                if tallies[HIT] != 0:
                    out[at.BROKEN] = code
                    return HIT_ONE
            if out[at.OVERFLOW] != 0:
                return NARROW
            tallies[LOOKED] += 1
        return DONE

    return expand


@cache
def move_root() -> Any:
    """What fills a wider table, cached as `expand_root`."""
    digest = sources_digest(__package__)

    @root
    def move(narrow: Table, table: Table, free: int) -> None:
        """Put every entry of a table into an empty one."""
        assert digest  # A part of the key under which this is cached.
        last = len(table) - 1
        for entry in narrow:
            if entry == 0:
                continue
            slot = (entry >> 32) >> free
            while table[slot] != 0:
                slot = (slot + 1) & last
            table[slot] = entry

    return move
