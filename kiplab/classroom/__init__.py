"""Predictions that lock, and exercises that the engine judges."""

from typing import TYPE_CHECKING, Any

from ..extras import homes_of, loaded

if TYPE_CHECKING:
    from .assignments.graded_lab import points as points
    from .exercise_table import ALL_WHAT_IFS as ALL_WHAT_IFS
    from .exercises.believed_incarnations import answers_in_words as answers_in_words
    from .exercises.check_result import Checked as Checked
    from .exercises.check_result import say as say
    from .exercises.committed import acknowledged as acknowledged
    from .exercises.committed import committed as committed
    from .exercises.epochs import epochs_moved as epochs_moved
    from .exercises.first_failing_rule import rulings_of as rulings_of
    from .exercises.late_messages import MESSAGES as MESSAGES
    from .exercises.late_messages import one_check_off as one_check_off
    from .exercises.own_incident import INCIDENT_DUMP as INCIDENT_DUMP
    from .exercises.proofs import mystery as mystery
    from .exercises.race import EVENTS as EVENTS
    from .exercises.reading_rates import loss_of as loss_of
    from .exercises.three_businesses import bills as bills
    from .exercises.vanishing_offsets import VANISHING_RUN as VANISHING_RUN
    from .forms.check_panels import Ordering as Ordering
    from .forms.held_back import after as after
    from .forms.held_back import explain as explain
    from .forms.prediction import Prediction as Prediction
    from .forms.prediction import predict as predict
    from .forms.what_if import what_if as what_if

__all__ = [*homes_of(__name__)]


def __getattr__(name: str) -> Any:
    return loaded(__name__, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
