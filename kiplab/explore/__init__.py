"""The explorer: every interleaving within bounds, the shortest way to lose data, or a proof.

>>> import kiplab
>>> kiplab.explore("kafka-14139", kafka="3.4").steps
6

`kiplab.explore(...)` is `kiplab.explore.search.explore_play.explore`, whose docstring says all
there is to say: this package can be called, because the question and the room it is answered in
share a name. Nothing in it decides what Kafka does: every step is the engine's.
"""

import sys
from inspect import Signature, signature
from types import ModuleType
from typing import Any


class _Explore:
    """The function, with its signature and its docstring; imported when somebody asks for it."""

    def __get__(self, _module: object, _owner: type) -> Any:
        from .search.explore_play import explore

        return explore


class _Callable(ModuleType):
    __call__ = _Explore()

    @property
    def __signature__(self) -> Signature:
        return signature(self.__call__)


sys.modules[__name__].__class__ = _Callable
