"""`python -m tests.judge NAME`: one command for all judges. `make judge` runs it."""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kiplab.extras import MissingExtraError
from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars.jar_cache import MissingKafkaError

from . import judging
from .judging import BadSubjectError, Judge, Judged
from .recordings import NoRecordingError

AGREED, PARTED, BAD_INPUT, LACKING = 0, 1, 2, 3
"""Exit codes, as those of kiplab's commands."""


def main(judges: Mapping[str, Judge], arguments: Sequence[str] | None = None) -> int:
    """Judge, and print what came of it; the exit code."""
    options = parser_of(judges).parse_args(arguments)
    judge: Judge = judges[options.judge]
    try:
        return judge_all(judge, options)
    except BadSubjectError as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return BAD_INPUT
    except (MissingKafkaError, MissingExtraError, DeadKafkaError, NoRecordingError) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING


def judge_all(judge: Judge, options: argparse.Namespace) -> int:
    """Judge the subjects of `options`, or all; a difference is printed as soon as it is found."""
    subjects = [judge.subject(name) for name in options.subjects] or list(judge.subjects())
    judged = list(_judged(judge, subjects, options))
    print(judging.summary(judged))
    if options.coverage:
        print("\n".join(judging.coverage_table(judge, judged)))
    untried = [] if options.subjects else list(judging.untried_lines(judge, judged))
    print("\n".join(untried), end="\n" if untried else "", file=sys.stderr)
    parted = any(one.differences for one in judged)
    return PARTED if parted or untried else AGREED


def _judged(judge: Judge, subjects: Sequence[str], options: argparse.Namespace) -> Iterator[Judged]:
    print(judging.heading(), flush=True)
    for subject in subjects:
        asked = judge.recorded if options.recorded else judge.live
        begun = time.perf_counter()
        judged = asked(subject, options)._replace(seconds=time.perf_counter() - begun)
        print("\n".join([judging.line_of(judge, judged), *judged.differences]), flush=True)
        yield judged


def parser_of(judges: Mapping[str, Judge]) -> argparse.ArgumentParser:
    """What reads the words of the command."""
    parser = argparse.ArgumentParser(
        prog="judge",
        description="Let real software and the engine do the same, and say where they part. A run"
        " that cannot be live is an error; recordings are asked for by name.",
    )
    commands = parser.add_subparsers(dest="judge", required=True, metavar="JUDGE")
    for name, judge in judges.items():
        _add_options(commands.add_parser(name, help=judge.about, description=judge.about), judge)
    return parser


def _add_options(parser: argparse.ArgumentParser, judge: Judge) -> None:
    parser.add_argument(
        "subjects",
        nargs="*",
        metavar="SUBJECT",
        help=f"as in {judge.subjects()[-1]}; without any: all of them",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--recorded", action="store_true", help="ask the recordings, without Java")
    how.add_argument("--record", action="store_true", help="ask live, and keep the answers")
    parser.add_argument(
        "--recordings",
        type=Path,
        default=judge.recordings,
        metavar="DIR",
        help="where the recordings are",
    )
    parser.add_argument("--seed", type=int, help="the first conversation")
    parser.add_argument("--count", type=int, help="how many conversations")
    parser.add_argument("--coverage", action="store_true", help="print how often each rule was hit")
    judge.options(parser)
