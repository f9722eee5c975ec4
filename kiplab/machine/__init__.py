"""The equipment of this machine: Java, a cache folder, and the error for a missing part."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class LackingError(Exception):
    """Something that was asked for cannot be had on this machine.

    `sentence` says what is missing, `mend` what to do about it; the text is both.
    """

    def __init__(self, sentence: str, mend: str) -> None:
        super().__init__(sentence, mend)
        self.sentence = sentence
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.sentence} {self.mend}"


@contextmanager
def without_collector() -> Iterator[None]:
    """Frozen values form no cycles: looking for some takes a sixth of the time and finds none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
