"""The progress of a study, its speed, and the time left; and a bar that shows it."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import msgspec

_BAR = (
    "{percentage:3.0f}% |{bar}| {n_fmt} of {total_fmt} partition-years,"
    " {rate_fmt}, {remaining} left"
)


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How many blocks are kept, and partition-years so far: those of blocks under way count along.

    `years_before` were there when the run began, `seconds` ago.
    """

    blocks: int
    years: float
    all_blocks: int
    all_years: float
    years_before: float
    seconds: float

    @property
    def years_per_second(self) -> float:
        """What this run has done, without what was there before."""
        return (self.years - self.years_before) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None while there is no pace yet."""
        pace = self.years_per_second
        return (self.all_years - self.years) / pace if pace > 0 else None


class ProgressBar:
    """A bar on stderr or in the notebook, from the first progress on."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __call__(self, now: RunProgress) -> None:
        """Never decreases: the progress of blocks under way is a guess until they are kept."""
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(
                total=now.all_years,
                initial=now.years_before,
                unit=" partition-years",
                unit_scale=True,
                bar_format=_BAR,
            )
        self._bar.update(max(0.0, now.years - self._bar.n))

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
