"""A slider whose positions have words of their own: values that are not 0, 1, 2."""

from __future__ import annotations

from typing import Any

from traitlets import Tuple

from .kinds import Slider


class Scale(Slider):
    """`words` says what stands at each position, from 0 on; they are read aloud, too."""

    kind = "scale"
    words: Any = Tuple().tag(page=True)

    @property
    def said(self) -> str:
        """The words of where it stands."""
        return str(self.words[self.value])
