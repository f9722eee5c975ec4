"""`kiplab fleet`: how often what happens to a whole fleet, on Spark; and one loss as a play."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..extras import needed_by
from . import common_options
from .common_options import DONE, FAILED, LACKING, CommandError

if TYPE_CHECKING:
    from threading import Event

    from ..fleet.agreement.story import FoundStory
    from ..fleet.fleet_answers.fleet_answer import FleetAnswer
    from ..fleet.parameters.fleet_study import FleetStudy


def add_what_is_gone(commands: Any) -> None:
    """`kiplab fleet verify`, which only says so."""
    # With no character that begins an option, any options of old reach the sentence.
    verify = commands.add_parser("verify", add_help=False, prefix_chars="\0")
    verify.add_argument("rest", nargs="*")
    verify.set_defaults(runs="fleet_command.verify_is_gone")


def verify_is_gone(_options: argparse.Namespace) -> int:
    """Raises CommandError, which says where to look instead."""
    raise CommandError(
        "`kiplab fleet verify` is gone: the tests compare every metric with its referees, and the"
        " page of `kiplab fleet report` names them"
    )


def run_fleet(options: argparse.Namespace) -> int:
    """Run the study, and print what it found. Raises CommandError for all that stops it."""
    from ..machine.java import JavaNotFound
    from ..spark import BlockFailed, SparkUnavailable
    from ..spark.session import require_master

    if not options.out:
        raise CommandError("-o names no folder; name the one that keeps the study")
    if options.engine == "local" and options.master:
        raise CommandError("--master is for Spark; leave it out, or say --engine spark")
    try:
        with common_options.bad_input(ValueError):
            require_master(options.master or None)  # before there is a folder
            answer = stoppable(lambda stop: _answer(options, stop))
    except (SparkUnavailable, JavaNotFound) as problem:
        more = "`kiplab doctor` says what else this machine has and lacks."
        raise CommandError(f"{problem} {more}", LACKING) from None
    except BlockFailed as problem:
        raise CommandError(f"{problem}; what was done before is kept", FAILED) from None
    if not answer.finished:
        raise CommandError(f"stopped; --resume goes on with what {options.out} holds", STOPPED)
    return _print_answer(answer, options.json)


LOCAL_YEARS = 1e7
"""Partition-years that one process simulates in less time than Spark needs to be worth it."""


def _on_spark(options: argparse.Namespace) -> bool:
    if options.engine:
        return bool(options.engine == "spark")
    asked = options.master or os.environ.get("SPARK_REMOTE")
    return bool(asked) or (options.years or 0) > LOCAL_YEARS


def _answer(options: argparse.Namespace, stop: Event) -> FleetAnswer:
    from ..fleet.fleet_answers.fleet_run import run
    from ..fleet.parameters.fleet_study import read_study, with_settings

    return run(
        with_settings(read_study(options.study), options.settings),
        options.out,
        years=options.years,
        method=options.method,
        master=options.master or None,
        spark=_on_spark(options),
        resume=options.resume,
        stop=stop,
    )


_TEMPLATE = {"about": "A fleet of our own.", "feature_sets": ["none", "841", "903", "841+903"]}


def print_parameters(options: argparse.Namespace) -> int:
    """The table of parameters, or a study with all of them at their defaults."""
    from msgspec.structs import asdict

    from ..fleet.parameters.fleet_study import study_of, written
    from ..fleet.parameters.parameter_table import PARAMETERS
    from .fleet_text import parameter_lines

    if options.json:
        rows = [{**asdict(p), "kind": p.kind.__name__} for p in PARAMETERS.values()]
        return common_options.print_json({"parameters": rows})
    if options.template:
        sys.stdout.write(written(study_of(_TEMPLATE)))
    else:
        print("\n".join(parameter_lines()))
    return DONE


def report_fleet(options: argparse.Namespace) -> int:
    """Show what a folder holds, and write the page if one is asked for.

    Raises CommandError for a folder that holds no study, and a page that cannot be written.
    """
    from ..fleet.fleet_answers.fleet_run import answer_in
    from ..pages.fleet_page import fleet_page

    common_options.require_ending(options)
    with common_options.bad_input(ValueError):
        answer = answer_in(options.folder)
    if not answer.rows:
        more = "go on with it: `kiplab fleet run ... --resume`"
        raise CommandError(f"of the study in {options.folder} nothing is done yet; {more}")
    if options.out is not None:
        with common_options.writing(options.out):
            Path(options.out).write_text(fleet_page(answer), "utf-8")
        print(f"{options.out}: the page", file=sys.stderr)
    return _print_answer(answer, options.json)


def _print_answer(answer: FleetAnswer, as_json: bool) -> int:
    from .fleet_text import answer_text

    if as_json:
        return common_options.print_json(answer.report())
    sys.stdout.write(answer_text(answer))
    return DONE


STOPPED = 130
"""The exit code of what Ctrl-C has ended."""
_T = TypeVar("_T")


def stoppable(work: Callable[[threading.Event], _T]) -> _T:
    """What `work` returns; it is given an event that Ctrl-C sets, and ends soon after that.

    It runs in a thread of its own: Spark answers Ctrl-C in the main thread itself, with tracebacks
    in the middle of whatever it was doing. A second Ctrl-C ends the process: a compiler at work, or
    a Spark that starts, hears of no event. Raises what `work` raises.
    """
    stop = threading.Event()
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work(stop))
        except BaseException as problem:
            future.set_exception(problem)

    try:
        try:
            threading.Thread(target=run, daemon=True).start()
            return future.result()
        except KeyboardInterrupt:
            stop.set()
            print("kiplab: stopping; Ctrl-C again leaves at once", file=sys.stderr, flush=True)
            return future.result()
    except KeyboardInterrupt:
        os._exit(STOPPED)


# --- a story --------------------------------------------------------------------------------------


def tell_story(options: argparse.Namespace) -> int:
    """Look for it, write the play, say whose it is. Raises CommandError where that cannot be."""
    from ..fleet.agreement.story_schedule import NoStoryError
    from ..fleet.parameters.fleet_study import read_study
    from ..plays.play import format_play

    with needed_by("a story of a fleet"):
        import numba  # noqa: F401
    target = Path(options.out)
    if target.suffix != ".play":
        ending = target.suffix or "nothing"
        raise CommandError(f"{target} ends in {ending}; a play's file ends in .play")
    common_options.require_folder(target)
    with common_options.bad_input(ValueError, NoStoryError):
        study = read_study(options.study)
        story = _found(study, options)
    with common_options.writing(target):
        target.write_text(format_play(story.play), encoding="utf-8")
    return _shown(story, _features(study, options), options)


def _found(study: FleetStudy, options: argparse.Namespace) -> FoundStory:
    """Raises NoStoryError where there are fewer, ValueError for what is wrong."""
    from ..fleet.agreement.story import stories
    from ..fleet.agreement.story_schedule import NoStoryError

    if options.number < 1:
        raise ValueError(f"--number is {options.number}; the first is 1")
    features, points = _features(study, options), study.scenarios
    if not 1 <= options.scenario <= len(points):
        problem = f"--scenario is {options.scenario}; the study has {len(points)}, from 1 on"
        raise ValueError(problem)
    several = stories(
        points[options.scenario - 1],
        seed=options.seed,
        features=features,
        metric=options.metric,
        years=options.years,
        passed_over=lambda reason: print(f"passed over: {reason}", file=sys.stderr),
    )
    story = next(islice(several, options.number - 1, None), None)
    if story is None:
        raise NoStoryError(
            f"{options.years:,.0f} partition-years of {options.study} with KIPs {features} have no"
            f" {options.metric} number {options.number}: look through more with --years, or ask a"
            " study in which it is more frequent; what is only forced and weighed has no story"
        )
    return story


def _features(study: FleetStudy, options: argparse.Namespace) -> str:
    from ..fleet.parameters.scenario import check_kip_set

    if options.features is None:
        return study.feature_sets[0]
    return check_kip_set(options.features, key="--features")


def _shown(story: FoundStory, features: str, options: argparse.Namespace) -> int:
    from ..fleet.agreement.story_schedule import called
    from ..plays.runner import run_play
    from ..runs import Run

    if options.json:
        run = Run(run_play(story.play))
        told = {"play": options.out, "metric": options.metric, "features": features}
        told |= {"seed": options.seed, "replication": story.replication}
        return common_options.print_json(told | {"verdict": run.verdict, "token": run.token})
    command = f"kiplab play {shlex.quote(options.out)}"
    print(
        f"{options.out}: {called(options.metric)}, KIPs {features}, replication"
        f" {story.replication} of seed {options.seed}; `{command}` runs it"
    )
    return DONE
