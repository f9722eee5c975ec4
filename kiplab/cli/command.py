"""The `kiplab` command. Every message is for people; `--json` prints one object for programs."""

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..extras import MissingExtraError
from ..machine import LackingError
from ..plays.play_errors import PlayError
from ..protocol.features import UnknownFeatureError
from . import class_command as of_class
from . import common_options as common
from . import search_commands as search
from . import site_command as site
from .assignment_command import add_assignment_options, run_assignment
from .fleet_command import add_fleet_options
from .handout_command import add_handout_options, run_handout
from .real_command import add_real_options, run_real
from .timeline_command import add_timeline_options, run_timeline, split

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


_CLASS = "count what the students of a class answered"
_GRADE = "grade what the students of a class handed in"
_SOLUTIONS = "give the right answers for the numbers of one student"
_SHORTEST = "find the shortest play that still breaks"
_ASSIGNMENT = "make a lab for otter-grader or nbgrader"
_FLEET = "Estimate how often each event happens in a whole fleet, under every set of KIPs."


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
    for name, help, run, *adds_options in _COMMANDS:
        command = commands.add_parser(name, help=help, description=_FLEET if run is None else help)
        if run is not None:
            command.add_argument("--json", action="store_true", help="one JSON object on stdout")
            command.set_defaults(command=run)
        for add_options in adds_options:
            add_options(command)
    return parser


def _add_lab_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a lab, as in 04 or kafka-14139")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, help="the port to listen on")


def _add_every(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--every", action="store_true", help="every event, also routine ones")


_PLAY = common.add_play
_COMMANDS: tuple[tuple[Any, ...], ...] = (
    ("lab", "open JupyterLab on a writable copy of the labs", _lab, _add_lab_options),
    ("plays", "list the plays with their questions", _plays),
    ("play", "run a play: one line per event, then the verdict", _play, _PLAY, _add_every),
    ("guards", "list the guards: every rule that can be switched", _guards),
    ("timeline", "write the picture of a play", run_timeline, _PLAY, add_timeline_options),
    ("explore", "search everything that can happen", search.run_explore, _PLAY, search.add_explore),
    ("matrix", "search every subset of some guards", search.run_matrix, _PLAY, search.add_matrix),
    ("minimise", _SHORTEST, search.run_minimise, _PLAY, search.add_minimise),
    ("handout", "write what a class needs", run_handout, add_handout_options),
    ("class", _CLASS, of_class.run_class, of_class.add_class_options),
    ("grade", _GRADE, of_class.run_grade, of_class.add_grade_options),
    ("solutions", _SOLUTIONS, of_class.run_solutions, of_class.add_solutions_options),
    ("assignment", _ASSIGNMENT, run_assignment, add_assignment_options),
    ("real", "let a real Kafka decide in a play", run_real, add_real_options),
    ("fleet", "how often, in a whole fleet", None, add_fleet_options),
    ("figures", "write pictures, slides and cards of labs", site.run_figures, site.add_figures),
    ("gallery", "write a page of timelines to embed", site.run_gallery, site.add_gallery),
    ("site", "put the labs into a folder that needs no server", site.run_site, site.add_site),
    ("doctor", "say what this machine has and lacks", _doctor),
)
"""Name, help, what it runs (None where that has commands of its own), and what adds its options."""


if __name__ == "__main__":
    sys.exit(main())
