"""What every control of a Lab calls its action through: a failure is said, and changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from ..plays.play_errors import PlayError
from .elements.labelled import attempted_by
from .lab_notes import because, broken

LOG = logging.getLogger(__name__)


class Say(Protocol):
    """Shows a sentence in the lab's note."""

    def __call__(self, text: str, *, alarm: bool = False) -> None:
        """An `alarm` is read aloud at once."""


class Attempts:
    """Calls actions. After one that failed: `restore` shows what there was, `say` says it.

    An action keeps the history itself when it fails; `token` names that history in the report.
    """

    def __init__(self, restore: Callable[[], None], token: Callable[[], str], say: Say) -> None:
        self._restore, self._token, self._say = restore, token, say
        self._trying = False

    def __call__(self, action: Callable[..., None], *given: Any) -> None:
        """Call `action` with `given`; what it calls in turn belongs to the same attempt."""
        if self._trying:
            action(*given)
            return
        self._trying = True
        try:
            with attempted_by(self):
                action(*given)
        except PlayError as problem:
            self._say(because(problem), alarm=True)
        except Exception as problem:
            LOG.exception("a control of the lab failed")
            self._recover(problem)
        finally:
            self._trying = False

    def _recover(self, problem: Exception) -> None:
        try:
            self._restore()
        except Exception:
            LOG.exception("nor can the lab be shown as it was")
        self._say(broken(problem, self._token()), alarm=True)
