"""Predictions that lock, and exercises that the engine judges."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..extras import needed_by

if TYPE_CHECKING:
    from .exercise_table import ALL_WHAT_IFS as ALL_WHAT_IFS
    from .exercises.check_result import Checked as Checked
    from .exercises.check_result import say as say
    from .exercises.committed import acknowledged as acknowledged
    from .exercises.committed import committed as committed
    from .exercises.epochs import epochs_moved as epochs_moved
    from .exercises.first_failing_rule import rulings_of as rulings_of
    from .exercises.proofs import mystery as mystery
    from .exercises.race import EVENTS as EVENTS
    from .exercises.reading_rates import loss_of as loss_of
    from .forms.check_panels import Ordering as Ordering
    from .forms.held_back import after as after
    from .forms.held_back import explain as explain
    from .forms.prediction import Prediction as Prediction
    from .forms.prediction import predict as predict
    from .forms.what_if import what_if as what_if

_HOMES = {
    "exercises.check_result": ("Checked", "say"),
    "exercises.committed": ("acknowledged", "committed"),
    "exercises.epochs": ("epochs_moved",),
    "exercises.first_failing_rule": ("rulings_of",),
    "exercises.reading_rates": ("loss_of",),
    "exercises.race": ("EVENTS",),
    "exercises.proofs": ("mystery",),
    "exercise_table": ("ALL_WHAT_IFS",),
    "forms.held_back": ("after", "explain"),
    "forms.check_panels": ("Ordering",),
    "forms.prediction": ("Prediction", "predict"),
    "forms.what_if": ("what_if",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: grading needs neither widgets nor a search.

    Raises MissingExtraError for one that needs a package which is not installed.
    """
    if name in _HOME_OF:
        with needed_by(f"kiplab.classroom.{name}"):
            home = import_module(f".{_HOME_OF[name]}", __name__)
        return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
