"""Engines that are wrong on purpose, in one rule each: a judge that does not notice is none."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import NamedTuple


class WrongEngine(NamedTuple):
    """One rule that `module` has as `right`, and this engine as `wrong`; who shall notice."""

    rule: str
    module: ModuleType
    right: str
    wrong: str
    subject: str
    unseen: str = ""
    """Why nobody can notice it, if nobody can."""
    test: Callable[[], None] | None = None
    """A test that fails with it, where no recording notices it."""

    @property
    def is_for_recordings(self) -> bool:
        """Whether the recording of its subject is to notice it."""
        return not self.unseen and self.test is None


@contextmanager
def built(engine: WrongEngine) -> Iterator[None]:
    """The engine with that rule, and the right one again. Whoever has imported a function has the
    wrong one too: its code is exchanged, not its name.
    """
    source = inspect.getsource(engine.module)
    assert source.count(engine.right) == 1, (
        f"{engine.module.__name__} does not say {engine.right!r} once: the rule"
        f" {engine.rule!r} has moved; say in the list of wrong engines where it is now"
    )
    wrong = _functions(_made_of(source.replace(engine.right, engine.wrong), engine.module))
    functions = _functions(vars(engine.module))
    right = {name: function.__code__ for name, function in functions.items()}
    try:
        for name, function in functions.items():
            function.__code__ = wrong[name].__code__
        yield
    finally:
        for name, function in functions.items():
            function.__code__ = right[name]


def _made_of(source: str, module: ModuleType) -> dict[str, object]:
    made: dict[str, object] = {"__name__": module.__name__, "__package__": module.__package__}
    exec(compile(source, str(module.__file__), "exec"), made)
    return made


def _functions(made: Mapping[str, object]) -> dict[str, FunctionType]:
    """Functions, methods and properties that were made there, by their qualified names."""
    found: list[object] = []
    for value in made.values():
        found += vars(value).values() if isinstance(value, type) else [value]
    plain = (value.fget if isinstance(value, property) else value for value in found)
    own = (f for f in plain if isinstance(f, FunctionType) and f.__module__ == made["__name__"])
    return {function.__qualname__: function for function in own}
