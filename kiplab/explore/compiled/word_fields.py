"""Fields of words, and the requests in flight."""

import numpy as np
import numpy.typing as npt

from .jit import inner
from .word_layout import (
    BROKERS,
    FLIGHT,
    FOUR,
    OVERFLOW,
    R_LIFE,
    REQUEST_BITS,
    REQUEST_MASK,
    REQUESTS,
    THREE,
    VIEW,
    VIEW_BITS,
)

Ints = npt.NDArray[np.int64]


@inner
def get(words: Ints, word: int, shift: int, mask: int) -> int:
    """One field."""
    return int((words[word] >> shift) & mask)


@inner
def put(words: Ints, word: int, shift: int, mask: int, value: int) -> None:
    """Write one field."""
    words[word] = (words[word] & ~(mask << shift)) | (value << shift)


@inner
def has(members: int, broker: int) -> bool:
    """Whether a set has a broker."""
    return (members >> broker) & 1 == 1


@inner
def place_of_other(broker: int, other: int) -> int:
    """Where `other` stands in the tables of `broker`."""
    return (other - broker + BROKERS - 1) % BROKERS


@inner
def seen(words: Ints, role: int, at: int) -> int:
    """What the metadata of a leader says of another broker: incarnation, and whether it is
    fenced.
    """
    return int((words[role] >> (VIEW + VIEW_BITS * at)) & FOUR)


@inner
def incarnations_at(incarnations: int, at: int) -> int:
    """One of two incarnations."""
    return (incarnations >> (3 * at)) & THREE


@inner
def request(words: Ints, number: int) -> int:
    """A request in flight, 0 when there are not so many."""
    return get(words, FLIGHT + number // 2, REQUEST_BITS * (number % 2), REQUEST_MASK)


@inner
def put_request(words: Ints, number: int, value: int) -> None:
    """Write the place of one request."""
    put(words, FLIGHT + number // 2, REQUEST_BITS * (number % 2), REQUEST_MASK, value)


@inner
def has_request(words: Ints, sender: int, incarnation: int) -> bool:
    """Whether a request of this incarnation of a broker is in flight."""
    wanted = (sender << 3) | incarnation
    found = False
    for number in range(REQUESTS):
        found = found or request(words, number) >> R_LIFE == wanted
    return found


@inner
def send(words: Ints, value: int, out: Ints) -> None:
    """One request more, in its place."""
    carried = value
    for number in range(REQUESTS):
        held = request(words, number)
        if held == 0 or carried < held:
            put_request(words, number, carried)
            carried = held
            if held == 0:
                return
    out[OVERFLOW] = 1


@inner
def take(words: Ints, number: int) -> None:
    """One request less."""
    for at in range(number, REQUESTS - 1):
        put_request(words, at, request(words, at + 1))
    put_request(words, REQUESTS - 1, 0)
