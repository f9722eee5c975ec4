"""`kiplab real`: a play with a real Kafka deciding, line by line beside the engine."""

import argparse
import shutil

from ..judge.kafka_jars import judged_releases
from .common_options import FAILED, LACKING, CommandError, code_of, print_json


def add_real_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab real`."""
    parser.add_argument("play", metavar="NAME|FILE|TOKEN", help="what to run")
    with_zookeeper = f"for a play with ZooKeeper {', '.join(judged_releases.ZOOKEEPER_PATCHES)}"
    releases = f"{', '.join(judged_releases.LAST_PATCH)}, {with_zookeeper}"
    patch = "or a patch release such as 3.4.1; else the play's own"
    parser.add_argument("--kafka", metavar="RELEASE", help=f"{releases}, {patch}")
    parser.add_argument(
        "--judge",
        choices=("both", "controller", "leader"),
        help="what a real Kafka decides: the controller, every broker's Partitions, or both; by"
        " default both, or the controller where a line of the play cannot be sent to brokers",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--live", action="store_true", help="run it, or say why it cannot be run")
    which.add_argument("--recorded", action="store_true", help="show what is recorded, at once")
    parser.epilog = (
        "The release is fetched unless it is in the cache. Where it cannot be run, what is recorded"
        " of a play that comes with kiplab is shown, and why. Exit codes: 0 the engine and Kafka"
        " agree; 1 they part, or an expectation of the play failed; 2 bad input, or a line that no"
        " real controller or leader can be told; 3 no recording, and this machine lacks Java,"
        " a way to fetch Kafka, or a network, or Kafka ended by itself."
    )


def run_real(options: argparse.Namespace) -> int:
    """Run the play twice, and print both columns.

    Raises CommandError for a release that was never published, and when Kafka ends by itself.
    """
    from ..judge.java_process import DeadKafkaError
    from ..judge.side_by_side.real_run import real

    live = True if options.live else False if options.recorded else None
    try:
        run = real(options.play, kafka=options.kafka, live=live, fetch=True, judge=options.judge)
    except judged_releases.UnpublishedReleaseError as problem:
        raise CommandError(str(problem)) from None
    except DeadKafkaError as problem:
        raise CommandError(str(problem), LACKING) from None
    if options.json:
        print_json(run.report())
    else:
        print(run.text(width=shutil.get_terminal_size((120, 40)).columns), end="")
    expected = code_of(run.runs[0])
    return expected if run.agree else FAILED
