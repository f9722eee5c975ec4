"""kiplab: break a small Kafka, and see which rule would have saved it.

>>> import kiplab
>>> kiplab.run("kafka-14139", kafka="3.4").verdict
'loss'
>>> kiplab.run("kafka-14139", kafka="3.5").verdict
'safe'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .extras import MissingExtraError, needed_by

if TYPE_CHECKING:
    # For type checkers and editors, which cannot read the table below; a test holds them equal.
    from . import fleet as fleet
    from .classroom.forms.answer_sheet import AnswerSheet as AnswerSheet
    from .classroom.forms.ordering import Ordering as Ordering
    from .classroom.forms.overview import my_work as my_work
    from .classroom.forms.prediction import predict as predict
    from .classroom.together.class_work import class_work as class_work
    from .classroom.work.attempts import check_accepted as check_accepted
    from .classroom.work.attempts import check_acknowledged as check_acknowledged
    from .classroom.work.attempts import check_bump_price as check_bump_price
    from .classroom.work.attempts import check_businesses as check_businesses
    from .classroom.work.attempts import check_epoch_sources as check_epoch_sources
    from .classroom.work.attempts import check_epochs as check_epochs
    from .classroom.work.attempts import check_fates as check_fates
    from .classroom.work.attempts import check_fences as check_fences
    from .classroom.work.attempts import check_first_rule as check_first_rule
    from .classroom.work.attempts import check_high_watermark as check_high_watermark
    from .classroom.work.attempts import check_holes as check_holes
    from .classroom.work.attempts import check_incarnations as check_incarnations
    from .classroom.work.attempts import check_last_replica as check_last_replica
    from .classroom.work.attempts import check_lose_acknowledged as check_lose_acknowledged
    from .classroom.work.attempts import check_lose_one as check_lose_one
    from .classroom.work.attempts import check_missing_guard as check_missing_guard
    from .classroom.work.attempts import check_needed_checks as check_needed_checks
    from .classroom.work.attempts import check_nobody_dies as check_nobody_dies
    from .classroom.work.attempts import check_old_fetch as check_old_fetch
    from .classroom.work.attempts import check_order as check_order
    from .classroom.work.attempts import check_proof as check_proof
    from .classroom.work.attempts import check_rates as check_rates
    from .classroom.work.attempts import check_reading as check_reading
    from .classroom.work.attempts import check_refusals as check_refusals
    from .classroom.work.attempts import check_reigns as check_reigns
    from .classroom.work.attempts import check_safer_fleet as check_safer_fleet
    from .classroom.work.attempts import check_schedules as check_schedules
    from .classroom.work.attempts import check_session_ids as check_session_ids
    from .classroom.work.attempts import check_shorter as check_shorter
    from .classroom.work.attempts import check_swapped as check_swapped
    from .classroom.work.attempts import check_symptoms as check_symptoms
    from .classroom.work.attempts import check_timeouts as check_timeouts
    from .classroom.work.attempts import check_two_by_two as check_two_by_two
    from .classroom.work.attempts import check_vanishing as check_vanishing
    from .classroom.work.attempts import check_what_closes as check_what_closes
    from .classroom.work.attempts import check_what_saves as check_what_saves
    from .classroom.work.attempts import check_what_they_notice as check_what_they_notice
    from .classroom.work.attempts import check_who_objects as check_who_objects
    from .classroom.work.attempts import check_window as check_window
    from .explore.search.explore_play import explore as explore
    from .judge.acceptance.real_checkpoint import real_checkpoint as real_checkpoint
    from .judge.partition.second_proposal import second_proposal as second_proposal
    from .judge.request_sizes.size_table import request_sizes as request_sizes
    from .judge.side_by_side.real_run import RealRun as RealRun
    from .judge.side_by_side.real_run import real as real
    from .judge.zookeeper_era.real_mail import real_mail as real_mail
    from .judge.zookeeper_server.two_lives import two_lives as two_lives
    from .machine.lacking import LackingError as LackingError
    from .matrices import alternatives as alternatives
    from .matrices import matrix as matrix
    from .matrices import minimise as minimise
    from .plays.play_errors import PlayError as PlayError
    from .rows.heartbeat_fates import heartbeat_fates as heartbeat_fates
    from .runs import Run as Run
    from .runs import all_plays as all_plays
    from .runs import bounces as bounces
    from .runs import differences as differences
    from .runs import guards as guards
    from .runs import ladder as ladder
    from .runs import run as run
    from .runs import twin as twin
    from .widgets import FleetLab as FleetLab
    from .widgets import Lab as Lab

__version__ = "0.1.0"

_HOMES = {
    "classroom.forms.answer_sheet": ("AnswerSheet",),
    "classroom.forms.ordering": ("Ordering",),
    "classroom.forms.overview": ("my_work",),
    "classroom.forms.prediction": ("predict",),
    "classroom.together.class_work": ("class_work",),
    "classroom.work.attempts": (
        "check_accepted", "check_acknowledged", "check_bump_price", "check_businesses",
        "check_epoch_sources", "check_epochs", "check_fates", "check_fences", "check_first_rule",
        "check_high_watermark", "check_holes", "check_incarnations", "check_last_replica",
        "check_lose_acknowledged", "check_lose_one", "check_missing_guard", "check_needed_checks",
        "check_nobody_dies", "check_old_fetch", "check_order", "check_proof", "check_rates",
        "check_reading", "check_refusals", "check_reigns", "check_safer_fleet", "check_schedules",
        "check_session_ids", "check_shorter", "check_swapped", "check_symptoms", "check_timeouts",
        "check_two_by_two", "check_vanishing", "check_what_closes", "check_what_saves",
        "check_what_they_notice", "check_who_objects", "check_window",
    ),
    "judge.acceptance.real_checkpoint": ("real_checkpoint",),
    "judge.partition.second_proposal": ("second_proposal",),
    "judge.request_sizes.size_table": ("request_sizes",),
    "judge.side_by_side.real_run": ("RealRun", "real"),
    "judge.zookeeper_era.real_mail": ("real_mail",),
    "judge.zookeeper_server.two_lives": ("two_lives",),
    "machine.lacking": ("LackingError",),
    "matrices": ("alternatives", "matrix", "minimise"),
    "plays.play_errors": ("PlayError",),
    "rows.heartbeat_fates": ("heartbeat_fates",),
    "runs": ("Run", "all_plays", "bounces", "differences", "guards", "ladder", "run", "twin"),
    "widgets": ("FleetLab", "Lab"),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_ROOMS = ("explore", "fleet")
"""Public names that are packages; `explore` can be called as well."""
__all__ = ["MissingExtraError", *_HOME_OF, *_ROOMS]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: `import kiplab` stays quick.

    Raises MissingExtraError for one that needs a package which is not installed.
    """
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOME_OF:
        with needed_by(f"kiplab.{name}"):
            home = import_module(f".{_HOME_OF[name]}", __name__)
        return getattr(home, name)
    raise AttributeError(f"module 'kiplab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
