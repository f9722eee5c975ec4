"""kiplab: break a small Kafka, and see which rule would have saved it.

>>> import kiplab
>>> kiplab.run("kafka-14139", kafka="3.4").verdict
'loss'
>>> kiplab.run("kafka-14139", kafka="3.5").verdict
'safe'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .extras import MissingExtraError, homes_of, loaded

if TYPE_CHECKING:
    from . import fleet as fleet
    from .classroom.attempts import check as check
    from .classroom.attempts import variant as variant
    from .classroom.forms.check_panels import AnswerSheet as AnswerSheet
    from .classroom.forms.check_panels import Ordering as Ordering
    from .classroom.forms.held_back import explain as explain
    from .classroom.forms.overview import my_work as my_work
    from .classroom.forms.overview import stations as stations
    from .classroom.forms.own_words import write as write
    from .classroom.forms.prediction import predict as predict
    from .classroom.grading.grades import grade as grade
    from .classroom.together.class_work import class_work as class_work
    from .explore.search.explore_play import explore as explore
    from .judge.partition.second_proposal import second_proposal as second_proposal
    from .judge.request_sizes import request_sizes as request_sizes
    from .judge.side_by_side.real_run import RealRun as RealRun
    from .judge.side_by_side.real_run import real as real
    from .judge.zookeeper_era.real_control_requests import real_checkpoint as real_checkpoint
    from .judge.zookeeper_era.real_control_requests import (
        real_control_requests as real_control_requests,
    )
    from .judge.zookeeper_server.zookeeper_process import two_incarnations as two_incarnations
    from .machine import LackingError as LackingError
    from .matrices import alternatives as alternatives
    from .matrices import matrix as matrix
    from .matrices import minimise as minimise
    from .matrices import read_metadata_log as read_metadata_log
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
    from .widgets.fleet_lab.lab_of_fleets import FleetLab as FleetLab
    from .widgets.lab import Lab as Lab

__version__ = "1.0.0"

__all__ = [MissingExtraError.__name__, *homes_of(__name__)]


def __getattr__(name: str) -> Any:
    if name in ("explore", "fleet"):  # packages; the first can be called as well
        return import_module(f".{name}", __name__)
    if name.startswith("check_") or name in _RENAMED:
        raise AttributeError(f"module 'kiplab' has no attribute {name!r}{_in_place_of(name)}")
    return loaded(__name__, name)


_RENAMED = {"real_mail": "real_control_requests", "two_lives": "two_incarnations"}


def _in_place_of(old_name: str) -> str:
    """What to write in place of a name of earlier versions; empty for any other name."""
    from .classroom.exercise_table import id_of_check

    if old_name in _RENAMED:
        return f"; write kiplab.{_RENAMED[old_name]}"
    id = id_of_check(old_name)
    return f"; write kiplab.check({id!r}, answer)" if id else ""


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
