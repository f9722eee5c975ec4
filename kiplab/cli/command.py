"""The `kiplab` command. Every message is for people; `--json` prints one object for programs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .. import __version__
from ..extras import MissingExtraError
from ..plays.play_errors import PlayError
from ..protocol.features import UnknownFeatureError
from ..protocol.releases import RELEASES
from . import explore_command, matrix_command

if TYPE_CHECKING:
    from ..plays.play import Play
    from ..protocol.features import Features
    from ..runs import Run

DONE, FAILED, BAD_INPUT, LACKING = 0, 1, 2, 3
COMPARED_MAX = 3
"""Runs beside the first that one picture has room for."""
WIDTHS = (480, 4000)
"""Pixels: narrower than the first, words have no room."""
SUFFIXES = (".html", ".svg", ".png", ".json", ".csv", ".txt")


class _InOrder(argparse.Action):
    """Keeps --on and --off in the order they were given: they apply left to right."""

    def __call__(
        self, _parser: object, namespace: Any, value: Any, option_string: str | None = None
    ) -> None:
        switches = [*(namespace.switches or ()), (value, option_string == "--on")]
        namespace.switches = switches


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says how it went (see `kiplab --help`)."""
    given, compared = _split(list(sys.argv[1:] if arguments is None else arguments))
    options = _parser().parse_args(given)
    options.compare = compared
    command: Callable[[argparse.Namespace], int] = options.command
    if compared and command is not _timeline:
        return _complain("--compare is for `kiplab timeline`, which draws runs together", BAD_INPUT)
    try:
        return command(options)
    except (PlayError, UnknownFeatureError) as problem:
        return _complain(str(problem), BAD_INPUT)
    except MissingExtraError as problem:
        return _complain(str(problem), LACKING)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; python would complain again at exit.
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        return _complain("stopped", 130)


def _complain(sentence: str, code: int) -> int:
    print(f"kiplab: {sentence}", file=sys.stderr)
    return code


def _print_json(value: object) -> int:
    print(msgspec.json.encode(value).decode())
    return DONE


# --- commands -----------------------------------------------------------------------------------


def _plays(options: argparse.Namespace) -> int:
    from ..runs import all_plays

    found = [
        {"name": p.name, "question": p.question, "kafka": _own_features(p)} for p in all_plays()
    ]
    if options.json:
        return _print_json({"plays": found})
    width = max(len(p["name"]) for p in found)
    for play in found:
        print(f"{play['name']:<{width}}  {play['question']}")
    return DONE


def _own_features(play: Any) -> str:
    from ..plays.header import features_of

    return features_of(play).label()


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
        return _print_json({"guards": rows})
    width = max(len(g.id) for g in guards())
    for guard in guards():
        error = f" ({guard.error.name})" if guard.error is not None else ""
        since = releases_of(guard)
        print(f"{guard.id:<{width}}  {guard.kind:<11}  {since:<14}  {guard.clause}{error}")
    return DONE


def _play(options: argparse.Namespace) -> int:
    run = _run(options)
    if options.json:
        _print_json(run.report())
    else:
        print(run.text(every=options.every), end="")
        _print_expectations(run)
    return _code(run)


def _print_expectations(run: Run) -> None:
    found = run.report()["expectations"]
    words = [f"{count} {status}" for status, count in found.items() if count]
    if words:
        print(f"expectations: {', '.join(words)}")
    for expectation in run.stage.expectations:
        if expectation.status == "failed":
            place = f"{run.stage.play.name}:{expectation.line}"
            print(f"{place}: {expectation.text}: {expectation.found}", file=sys.stderr)


def _code(run: Run) -> int:
    from ..plays.verdict import breaks_promise, expectations

    wrong = expectations(run.stage)["failed"] or breaks_promise(run.stage)
    return FAILED if wrong else DONE


def _run(options: argparse.Namespace) -> Run:
    from ..plays.runner import run_play
    from ..runs import Run

    return Run(run_play(*_chosen(options)))


def _chosen(options: argparse.Namespace) -> tuple[Play, Features | None]:
    """The play and the features that the common options name."""
    from ..plays.library import find
    from ..plays.play_features import chosen

    play, shared = find(options.play)
    features = chosen(play, shared, options.kafka, (), ())
    return play, _switched(play, features, options.switches or ())


def _switched(play: Any, features: Any, switches: Sequence[tuple[str, bool]]) -> Any:
    from ..plays.header import features_of
    from ..protocol.features import switched

    for name, on in switches:
        features = switched(features_of(play) if features is None else features, name, on)
    return features


def _timeline(options: argparse.Namespace) -> int:
    out = Path(options.out)
    if out.suffix not in SUFFIXES:
        sentence = f"{out} ends in {out.suffix or 'nothing'}; it can end in {', '.join(SUFFIXES)}"
        return _complain(sentence, BAD_INPUT)
    from ..pages.export import ExportError, write

    if len(options.compare) > COMPARED_MAX:
        sentence = (
            f"--compare can be given {COMPARED_MAX} times: a picture shows {COMPARED_MAX + 1} runs"
            f" at most, not {len(options.compare) + 1}"
        )
        return _complain(sentence, BAD_INPUT)
    runs = [_run(options), *(_compared(options.play, words) for words in options.compare)]
    try:
        write([r.rows() for r in runs], out, **_look(options))
    except ValueError as problem:
        return _complain(str(problem), BAD_INPUT)
    except ExportError as problem:
        return _complain(str(problem), LACKING)
    except OSError as problem:
        return _complain(f"{out} cannot be written: {problem.strerror}", BAD_INPUT)
    if options.json:
        _print_json({"out": str(out), "verdicts": [r.verdict for r in runs]})
    else:
        print(
            f"{out}: {'; '.join(f'Kafka {r.stage.features.label()}: {r.sentence}' for r in runs)}"
        )
    return max(_code(r) for r in runs)


def _look(options: argparse.Namespace) -> dict[str, Any]:
    """What the picture shows and how; ValueError, in one sentence, for what cannot be read."""
    look: dict[str, Any] = {"partition": options.partition, "theme": options.theme}
    if options.all_steps:
        look["fold"] = False
    if options.kinds is not None:
        look["kinds"] = tuple(kind.strip() for kind in options.kinds.split(","))
    if options.between is not None:
        first, _, last = options.between.partition(":")
        if not (first.isdecimal() and last.isdecimal()):
            raise ValueError(f"--between takes two moments, as in 34:60, not {options.between!r}")
        look["between"] = (int(first), int(last))
    if options.width is not None:
        narrow, wide = WIDTHS
        if not (options.width.isdecimal() and narrow <= int(options.width) <= wide):
            problem = f"--width takes pixels, from {narrow} to {wide}, not {options.width!r}"
            raise ValueError(problem)
        look["width"] = int(options.width)
    return look


def _compared(play: str, words: list[str]) -> Run:
    """A further run: features in one word (``3.5-903``) or as options (``--kafka 3.5 ...``)."""
    from ..plays.values import feature_set

    if len(words) == 1 and not words[0].startswith("-"):
        from ..plays.library import find
        from ..plays.runner import run_play
        from ..runs import Run

        found, _ = find(play)
        return Run(run_play(found, feature_set("@" + words[0].removeprefix("@"))))
    parser = argparse.ArgumentParser(prog="kiplab timeline ... --compare", add_help=False)
    _add_features(parser)
    further = parser.parse_args(words)
    further.play = play
    return _run(further)


def _explore(options: argparse.Namespace) -> int:
    return explore_command.run(options, _chosen)


def _matrix(options: argparse.Namespace) -> int:
    return matrix_command.run_matrix(options, _chosen)


def _minimise(options: argparse.Namespace) -> int:
    return matrix_command.run_minimise(options, _chosen)


def _lab(options: argparse.Namespace) -> int:
    from .labs_launcher import open_labs

    return open_labs(options.name, browser=not options.no_browser, port=options.port, folder=None)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import main as doctor

    return doctor(options.json)


def _split(arguments: list[str]) -> tuple[list[str], list[list[str]]]:
    """(the command's own arguments, the features after each ``--compare``)."""
    first, *rest = _parts(arguments, "--compare")
    own, compared = first, []
    for words in rest:
        features, others = _features_of(words)
        own += others
        compared.append(features)
    return own, compared


def _parts(arguments: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for argument in arguments:
        if argument == mark:
            parts.append([])
        else:
            parts[-1].append(argument)
    return parts


def _features_of(words: list[str]) -> tuple[list[str], list[str]]:
    """(features, what belongs to the command again) of the words after one ``--compare``."""
    if len(words) == 1 and " " in words[0]:
        words = words[0].split()
    if words and not words[0].startswith("-"):
        # One word names the features.
        return words[:1], words[1:]
    own = [w for w in words if w == "--json"]
    return [w for w in words if w != "--json"], own


# --- the command line ---------------------------------------------------------------------------


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
    lab = _command(commands, "lab", _lab, "open JupyterLab on a writable copy of the labs")
    lab.add_argument("name", nargs="?", help="a lab, as in 04 or kafka-14139")
    lab.add_argument("--no-browser", action="store_true", help="only print the address")
    lab.add_argument("--port", type=int, help="the port to listen on")
    _command(commands, "plays", _plays, "list the plays with their questions")
    play = _command(commands, "play", _play, "run a play: one line per event, then the verdict")
    _add_play(play)
    play.add_argument("--every", action="store_true", help="every event, also routine ones")
    _command(commands, "guards", _guards, "list the guards: every rule that can be switched")
    timeline = _command(commands, "timeline", _timeline, "write the picture of a play")
    _add_play(timeline)
    timeline.add_argument("-o", "--out", required=True, help=f"a file: {' '.join(SUFFIXES)}")
    _add_look(timeline)
    timeline.epilog = (
        "--compare FEATURES, given last, puts a second run under the first: in one word"
        " (--compare 3.5-903) or as options (--compare --kafka 3.5 --off 903). Given two or three"
        " times, it makes a ladder of three or four small panels."
    )
    explore = _command(commands, "explore", _explore, "search everything that can happen")
    _add_play(explore)
    explore_command.add_options(explore)
    matrix = _command(commands, "matrix", _matrix, "search every subset of some guards")
    _add_play(matrix)
    matrix_command.add_matrix_options(matrix)
    minimise = _command(commands, "minimise", _minimise, "find the shortest play that still breaks")
    _add_play(minimise)
    matrix_command.add_minimise_options(minimise)
    _command(commands, "doctor", _doctor, "say what this machine has and lacks")
    return parser


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help, description=help)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(command=run)
    return parser


def _add_play(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("play", metavar="NAME|FILE|TOKEN", help="what to run")
    _add_features(parser)


def _add_look(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--partition", metavar="NAME", help="the partition to follow")
    parser.add_argument("--between", metavar="A:B", help="only the moments from A to B")
    parser.add_argument("--kinds", metavar="KIND,...", help="arrows for these messages only")
    parser.add_argument("--all-steps", action="store_true", help="fold no quiet steps")
    parser.add_argument("--width", metavar="PIXELS", help="{} to {}".format(*WIDTHS))
    parser.add_argument(
        "--theme", default="auto", metavar="NAME", help="light or dark; else a page is its reader's"
    )


def _add_features(parser: argparse.ArgumentParser) -> None:
    releases = f"{', '.join(RELEASES)}; 3.5/3.4-IV0 names the metadata version too"
    parser.add_argument("--kafka", metavar="RELEASE", help=releases)
    for option in ("--off", "--on"):
        word = option.removeprefix("--")
        parser.add_argument(
            option,
            action=_InOrder,
            dest="switches",
            metavar="GUARD",
            help=f"switch a guard, or a KIP's refusals and rules, {word}",
        )
    parser.set_defaults(switches=None)


if __name__ == "__main__":
    sys.exit(main())
