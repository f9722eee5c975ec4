"""Compiling the kernel with numba, and running the same source without it.

Without numba, or with NUMBA_DISABLE_JIT=1, `inner` and `root` give the function back as it is:
slow, and the same numbers.
numba keys its cache on the file of a function alone, and not on the functions that it calls; so a
root is made by a function that takes the digest of this whole room, and keeps it in its closure.
"""

import os
from collections.abc import Callable
from importlib.util import find_spec
from types import FunctionType
from typing import Any, TypeVar, cast

from ...extras import Deferred
from ...machine.cache import sources_digest

Longs = list[int]
"""Whole numbers of 64 bits: what compiled code reads and writes, an array there."""
_KernelFunction = TypeVar("_KernelFunction", bound=Callable[..., Any])
np = Deferred("numpy", "the kernel")
_OPTIONS = {"_nrt": False, "error_model": "numpy", "fastmath": False}
"""Nothing here makes an array: references to those given need no counting."""
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""What only compiled code calls needs no way in from Python, which takes long to make."""


def has_compiler() -> bool:
    """Whether numba is here, and is not told to compile nothing (NUMBA_DISABLE_JIT=1)."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def inner(function: _KernelFunction) -> _KernelFunction:
    """Compiled into whatever root calls it."""
    return _compiled(function, **_NO_WRAPPERS)


def fast(function: _KernelFunction) -> _KernelFunction:
    """As `inner`, and written into its caller: for what is done for every event of quiet time."""
    return _compiled(function, forceinline=True, **_NO_WRAPPERS)


def exposed(function: _KernelFunction) -> _KernelFunction:
    """An inner function as it can be called from Python."""
    return _compiled(getattr(function, "py_func", function))


def root(make: Callable[[int], _KernelFunction]) -> _KernelFunction:
    """What `make` makes of the digest, compiled, and kept on disk where that can be."""
    function = make(sources_digest(__package__))
    try:
        return _compiled(function, cache=True)
    except RuntimeError:
        # Neither beside the sources nor in the user's cache may anything be written.
        return _compiled(function)


def _compiled(function: _KernelFunction, **options: bool) -> _KernelFunction:
    if not has_compiler():
        return function
    import numba

    njit: Any = numba.njit
    compiled = njit(**_OPTIONS, **options)(function)
    _take_numbers_alike(compiled)
    return cast(_KernelFunction, compiled)


def _take_numbers_alike(compiled: Any) -> None:
    """Let a number that stands in the source be any whole number to the function it is given to.

    Otherwise numba compiles the function, and all that it calls, once more for each such number.
    """
    from numba.core import types

    unliteral: Any = types.unliteral
    chosen = compiled.get_call_template

    def alike(types_given: Any, named: dict[str, Any]) -> Any:
        return chosen(
            tuple(map(unliteral, types_given)),
            {name: unliteral(kind) for name, kind in named.items()},
        )

    compiled.get_call_template = alike


def plain(function: _KernelFunction) -> _KernelFunction:
    """The function, and all of the kernel that it calls, as Python itself runs it."""
    return cast(_KernelFunction, _plain(function, {}))


def _plain(function: Any, done: dict[int, Any]) -> Any:
    if id(function) in done:
        return done[id(function)]
    source = getattr(function, "py_func", function)
    names = dict(source.__globals__)
    copy = FunctionType(source.__code__, names, source.__name__, None, source.__closure__)
    done[id(function)] = copy
    for name in source.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = _plain(names[name], done)
    return copy


def words(count: int) -> Any:
    """`count` zeros to write to: what compiled code takes, a list where nothing is compiled."""
    return np.zeros(count, dtype=np.int64) if has_compiler() else [0] * count


def as_words(numbers: Any) -> Any:
    """Numbers in the form that compiled code takes; a list where nothing is compiled."""
    return np.array(numbers, dtype=np.int64) if has_compiler() else list(numbers)
