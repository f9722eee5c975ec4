"""The content of words, as compiled functions read and write it: fields and requests in flight."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from . import word_layout as at

# --- compiling ------------------------------------------------------------------------------------
# numba keys its cache on the source file of a function alone: not on globals, and not on functions
# that it calls. So what varies from search to search is an argument everywhere; and only roots are
# cached, which carry a digest of this whole room in their closure.

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NJIT: Any = numba.njit
_OPTIONS = {"_nrt": False, "error_model": "numpy"}
"""Nothing here makes an array; counting references to those given took a third of the time."""


def inner(function: _Function) -> _Function:
    """Compiled into the root that calls it."""
    return cast(_Function, _NJIT(**_OPTIONS)(function))


def root(function: _Function) -> _Function:
    """Compiled on its first call, and read from disk in later processes where that can be kept."""
    try:
        return cast(_Function, _NJIT(cache=True, **_OPTIONS)(function))
    except RuntimeError:
        # Neither beside the sources nor in the user's cache may anything be written.
        return inner(function)


Ints = npt.NDArray[np.int64]
get, put = inner(at.get), inner(at.put)


@inner
def has(members: int, broker: int) -> bool:
    """Whether a set has a broker."""
    return (members >> broker) & 1 == 1


@inner
def place_of_other(broker: int, other: int) -> int:
    """Where `other` stands in the tables of `broker`."""
    return (other - broker + at.BROKERS - 1) % at.BROKERS


@inner
def incarnations_at(incarnations: int, place: int) -> int:
    """One of two incarnations."""
    return (incarnations >> (3 * place)) & at.THREE


# --- requests -------------------------------------------------------------------------------------


@inner
def request(words: Ints, number: int) -> int:
    """A request in flight, 0 when there are not so many."""
    return get(words, at.IN_FLIGHT, number // 2, number % 2)


@inner
def put_request(words: Ints, number: int, value: int) -> None:
    """Write the place of one request."""
    put(words, at.IN_FLIGHT, number // 2, value, number % 2)


@inner
def has_request(words: Ints, sender: int, incarnation: int) -> bool:
    """Whether a request of this incarnation of a broker is in flight."""
    wanted = (sender << 3) | incarnation
    is_there = False
    for number in range(at.REQUESTS):
        is_there = is_there or request(words, number) >> at.R_LIFE == wanted
    return is_there


@inner
def send(words: Ints, value: int, out: Ints) -> None:
    """One request more, in its place."""
    carried = value
    for number in range(at.REQUESTS):
        held = request(words, number)
        if held == 0 or carried < held:
            put_request(words, number, carried)
            carried = held
            if held == 0:
                return
    out[at.OVERFLOW] = 1


@inner
def take(words: Ints, number: int) -> None:
    """One request less."""
    for place in range(number, at.REQUESTS - 1):
        put_request(words, place, request(words, place + 1))
    put_request(words, at.REQUESTS - 1, 0)
