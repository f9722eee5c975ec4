"""Compiling with numba, and keeping what was compiled.

numba keys its cache on the source file of a function alone: not on globals, and not on functions
that it calls. So what varies from search to search is an argument everywhere; and only roots are
cached, which carry a digest of this whole room in their closure.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NJIT: Any = numba.njit
_OPTIONS = {"_nrt": False, "error_model": "numpy"}
"""Nothing here makes an array; counting references to those given took a third of the time."""


def inner(function: _Function) -> _Function:
    """Compiled into whatever root calls it."""
    return cast(_Function, _NJIT(**_OPTIONS)(function))


def root(function: _Function) -> _Function:
    """Compiled on its first call, and read from disk in later processes where that can be kept."""
    try:
        return cast(_Function, _NJIT(cache=True, **_OPTIONS)(function))
    except RuntimeError:
        # Neither beside the sources nor in the user's cache may anything be written.
        return inner(function)


def digest() -> int:
    """A number for the sources of this room: another one for any change."""
    here = Path(__file__).parent
    text = b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    return int.from_bytes(sha256(text).digest()[:7], "big")
