"""`kiplab fleet story`: a loss that a fleet has met, as a file that `kiplab play` runs."""

from __future__ import annotations

import argparse
import shlex
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..extras import needed_by
from .common_options import DONE, CommandError, bad_input, print_json, require_folder, writing

if TYPE_CHECKING:
    from ..fleet.agreement.story_search import FoundStory
    from ..fleet.parameters.fleet_study import FleetStudy


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
    require_folder(target)
    with bad_input(ValueError, NoStoryError):
        study = read_study(options.study)
        story = _found(study, options)
    with writing(target):
        target.write_text(format_play(story.play), encoding="utf-8")
    return _shown(story, _features(study, options), options)


def _found(study: FleetStudy, options: argparse.Namespace) -> FoundStory:
    """Raises NoStoryError where there are fewer, ValueError for what is wrong."""
    from ..fleet.agreement.story_schedule import NoStoryError
    from ..fleet.agreement.story_search import stories

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
    from ..fleet.parameters.meaningful_sets import check_kip_set

    if options.features is None:
        return study.feature_sets[0]
    return check_kip_set(options.features, key="--features")


def _shown(story: FoundStory, features: str, options: argparse.Namespace) -> int:
    from ..fleet.agreement.story_schedule import called
    from ..plays.runner import run_play
    from ..runs import Run

    if options.json:
        run = Run(run_play(story.play))
        return print_json(
            {
                "play": options.out,
                "metric": options.metric,
                "features": features,
                "seed": options.seed,
                "replication": story.replication,
                "verdict": run.verdict,
                "token": run.token,
            }
        )
    command = f"kiplab play {shlex.quote(options.out)}"
    print(
        f"{options.out}: {called(options.metric)}, KIPs {features}, replication"
        f" {story.replication} of seed {options.seed}; `{command}` runs it"
    )
    return DONE
