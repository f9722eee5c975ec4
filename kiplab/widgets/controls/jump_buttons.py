"""A button for each step worth going to; one that leads nowhere says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..elements.labelled import button, offer, row
from ..history_tree.bench import Bench
from .jumps import TARGETS, Target, targets


class JumpButtons:
    """Calls `seek` with the number of a step."""

    def __init__(self, seek: Callable[[int], None]) -> None:
        self._seek = seek
        self._targets: dict[str, Target] = {}
        self.diverges: Target = ""
        self.buttons = {name: self._button(name) for name in TARGETS}
        self.box = row(self.buttons.values())

    def _button(self, name: str) -> Any:
        return button(name.capitalize(), lambda: self._jump(name))

    def _jump(self, name: str) -> None:
        target = self._targets[name]
        if isinstance(target, int):
            self._seek(target)

    def show(self, bench: Bench) -> None:
        """What can be reached from where one stands; `diverges` was set for the whole run."""
        self._targets = targets(bench, self.diverges)
        for name, made in self.buttons.items():
            target = self._targets[name]
            here = f"this is the step: {target}" if target == bench.at else None
            offer(made, target if isinstance(target, str) else here, f"Go to step {target}")
