"""The `kiplab` command. Every message is for people; `--json` prints one object for programs."""

import argparse
import io
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..extras import MissingExtraError
from ..machine import LackingError
from ..plays.play_errors import PlayError
from ..protocol.features import UnknownFeatureError
from . import class_command as of_class
from . import common_options as common
from . import search_commands as search
from . import site_command as site
from .fleet_command import add_fleet_commands
from .handout_command import run_handout
from .timeline_command import run_timeline, split

if TYPE_CHECKING:
    from ..runs import Run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says how it went (see `kiplab --help`)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Windows's own encodings have no scissors, and a pipe gets one of them.
        sys.stdout.reconfigure(errors="backslashreplace")
    before_compare, compared = split(list(sys.argv[1:] if arguments is None else arguments))
    options = _parser().parse_args(before_compare)
    options.compare = compared
    command: Callable[[argparse.Namespace], int] = options.command
    if compared and command is not run_timeline:
        return common.complain(
            "--compare is for `kiplab timeline`, which draws runs together", common.BAD_INPUT
        )
    try:
        return command(options)
    except common.CommandError as problem:
        return common.complain(str(problem), problem.code)
    except (PlayError, UnknownFeatureError) as problem:
        return common.complain(str(problem), common.BAD_INPUT)
    except (MissingExtraError, LackingError) as problem:
        return common.complain(str(problem), common.LACKING)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; python would complain again at exit.
        sys.stderr.close()
        return common.DONE
    except KeyboardInterrupt:
        return common.complain("stopped", 130)


def _plays(options: argparse.Namespace) -> int:
    from ..plays.header import features_of
    from ..runs import all_plays

    plays = [
        {"name": p.name, "question": p.question, "kafka": features_of(p).label()}
        for p in all_plays()
    ]
    if options.json:
        return common.print_json({"plays": plays})
    width = max(len(p["name"]) for p in plays)
    for play in plays:
        print(f"{play['name']:<{width}}  {play['question']}")
    return common.DONE


def _guards(options: argparse.Namespace) -> int:
    from ..protocol.guards import releases_of
    from ..runs import guards

    if options.json:
        rows = [
            {
                "id": g.id,
                "kip": g.kip,
                "clause": g.clause,
                "kind": g.kind.value,
                "error": g.error.name if g.error is not None else None,
                "releases": list(g.releases),
                "requires": g.requires,
            }
            for g in guards()
        ]
        return common.print_json({"guards": rows})
    width = max(len(g.id) for g in guards())
    for guard in guards():
        error = f" ({guard.error.name})" if guard.error is not None else ""
        since = releases_of(guard)
        print(f"{guard.id:<{width}}  {guard.kind:<11}  {since:<14}  {guard.clause}{error}")
    return common.DONE


def _play(options: argparse.Namespace) -> int:
    run = common.run_of(options)
    if options.json:
        common.print_json(run.report())
    else:
        print(run.text(every=options.every), end="")
        _print_expectations(run)
    return common.code_of(run)


def _print_expectations(run: "Run") -> None:
    counts = run.report()["expectations"]
    words = [f"{count} {status}" for status, count in counts.items() if count]
    if words:
        print(f"expectations: {', '.join(words)}")
    for expectation in run.stage.expectations:
        if expectation.status == "failed":
            where = f"{run.stage.play.name}:{expectation.line}"
            print(f"{where}: {expectation.text}: {expectation.actual}", file=sys.stderr)


def _lab(options: argparse.Namespace) -> int:
    from .labs_launcher import open_labs

    return open_labs(options.name, browser=not options.no_browser, port=options.port)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import main as doctor

    return doctor(options.json)


def _real(options: argparse.Namespace) -> int:
    from ..judge.java_process import DeadKafkaError
    from ..judge.kafka_jars.judged_releases import UnpublishedReleaseError
    from ..judge.side_by_side.real_run import real

    live = True if options.live else False if options.recorded else None
    try:
        with common.bad_input(UnpublishedReleaseError):
            run = real(
                options.play, kafka=options.kafka, live=live, fetch=True, judge=options.judge
            )
    except DeadKafkaError as problem:
        raise common.CommandError(str(problem), common.LACKING) from None
    if options.json:
        common.print_json(run.report())
    else:
        print(run.text(width=shutil.get_terminal_size((120, 40)).columns), end="")
    expected = common.code_of(run.runs[0])
    return expected if run.agree else common.FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kiplab",
        description="Break a small Kafka, and see which rule would have saved it.",
        epilog="Exit codes: 0 done and as expected; 1 an expectation failed, a promised property"
        " broke, or a search refuted what it was asked; 2 bad input; 3 this machine lacks"
        " something, with the command that mends it; 4 a search did not finish within its limits.",
    )
    parser.add_argument("--version", action="version", version=f"kiplab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run in _COMMANDS:
        command = common.add_command(commands, name, run)
        if name == "fleet":
            add_fleet_commands(command)
    return parser


_COMMANDS: tuple[tuple[str, Callable[[argparse.Namespace], int] | None], ...] = (
    ("lab", _lab),
    ("plays", _plays),
    ("play", _play),
    ("guards", _guards),
    ("timeline", run_timeline),
    ("explore", search.run_explore),
    ("matrix", search.run_matrix),
    ("minimise", search.run_minimise),
    ("handout", run_handout),
    ("class", of_class.run_class),
    ("grade", of_class.run_grade),
    ("solutions", of_class.run_solutions),
    ("assignment", of_class.run_assignment),
    ("real", _real),
    ("fleet", None),
    ("figures", site.run_figures),
    ("gallery", site.run_gallery),
    ("site", site.run_site),
    ("doctor", _doctor),
)
"""Name, and what it runs. Its help and its options are in commands.toml."""


if __name__ == "__main__":
    sys.exit(main())
