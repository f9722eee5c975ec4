"""The `kiplab` command. Every message is for people; `--json` prints one object for programs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from . import __version__
from .plays.errors import PlayError
from .protocol.features import UnknownFeatureError

if TYPE_CHECKING:
    from .api import Run

DONE, FAILED, BAD_INPUT, LACKING = 0, 1, 2, 3
SUFFIXES = (".html", ".svg", ".png", ".json", ".csv", ".txt")


class _InOrder(argparse.Action):
    """Keeps --on and --off in the order they were given: they apply left to right."""

    def __call__(
        self, parser: object, namespace: Any, value: Any, option_string: str | None = None
    ) -> None:
        switches = [*(namespace.switches or ()), (value, option_string == "--on")]
        namespace.switches = switches


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says how it went (see `kiplab --help`)."""
    given, compared = _split(list(sys.argv[1:] if arguments is None else arguments))
    options = _parser().parse_args(given)
    options.compare = compared
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except (PlayError, UnknownFeatureError) as problem:
        return _complain(str(problem), BAD_INPUT)
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
    from .api import all_plays

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
    from .plays.header import features_of

    return features_of(play).label()


def _guards(options: argparse.Namespace) -> int:
    from .api import guards
    from .protocol.guards import releases_of

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
    from .plays.verdict import breaks_promise, expectations

    wrong = expectations(run.stage)["failed"] or breaks_promise(run.stage)
    return FAILED if wrong else DONE


def _run(options: argparse.Namespace) -> Run:
    from .api import Run, chosen
    from .plays.library import find
    from .plays.runner import run_play

    play, shared = find(options.play)
    features = chosen(play, shared, options.kafka, (), ())
    return Run(run_play(play, _switched(play, features, options.switches or ())))


def _switched(play: Any, features: Any, switches: Sequence[tuple[str, bool]]) -> Any:
    from .plays.header import features_of
    from .protocol.features import switched

    for name, on in switches:
        features = switched(features_of(play) if features is None else features, name, on)
    return features


def _timeline(options: argparse.Namespace) -> int:
    out = Path(options.out)
    if out.suffix not in SUFFIXES:
        sentence = f"{out} ends in {out.suffix or 'nothing'}; it can end in {', '.join(SUFFIXES)}"
        return _complain(sentence, BAD_INPUT)
    try:
        from .figures.export import ExportError, write
    except ImportError as problem:
        mend = "install the labs' packages: pip install 'kiplab[lab]'"
        return _complain(f"pictures need {problem.name}; {mend}", LACKING)
    run = _run(options)
    runs = [run] if options.compare is None else [run, _compared(options)]
    try:
        write([r.rows() for r in runs], out)
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


def _compared(options: argparse.Namespace) -> Run:
    """The second run: features in one word (``3.5-903``) or as options (``--kafka 3.5 ...``)."""
    from .plays.values import feature_set

    words = options.compare
    if len(words) == 1 and not words[0].startswith("-"):
        from .api import Run
        from .plays.library import find
        from .plays.runner import run_play

        play, _ = find(options.play)
        return Run(run_play(play, feature_set("@" + words[0].removeprefix("@"))))
    parser = argparse.ArgumentParser(prog="kiplab timeline ... --compare", add_help=False)
    _add_features(parser)
    second = parser.parse_args(words)
    second.play = options.play
    return _run(second)


def _lab(options: argparse.Namespace) -> int:
    from .labs_launcher import open_labs

    return open_labs(options.name, browser=not options.no_browser, port=options.port, folder=None)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import main as doctor

    return doctor(options.json)


def _split(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """(the arguments before ``--compare``, the features after it or None)."""
    if "--compare" not in arguments:
        return arguments, None
    at = arguments.index("--compare")
    words = arguments[at + 1 :]
    if len(words) == 1 and " " in words[0]:
        words = words[0].split()
    if words and not words[0].startswith("-"):
        # One word names the features; what follows it belongs to the command again.
        return arguments[:at] + words[1:], words[:1]
    own = [w for w in words if w == "--json"]
    return arguments[:at] + own, [w for w in words if w != "--json"]


# --- the command line ---------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kiplab",
        description="Break a small Kafka, and see which rule would have saved it.",
        epilog="Exit codes: 0 done and as expected; 1 an expectation failed or a promised property"
        " broke; 2 bad input; 3 this machine lacks something, with the command that mends it.",
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
    timeline.epilog = (
        "--compare FEATURES, given last, puts a second run under the first: in one word"
        " (--compare 3.5-903) or as options (--compare --kafka 3.5 --off 903)."
    )
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


def _add_features(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kafka", metavar="RELEASE", help="3.2 to 3.9, or 3.5/3.4-IV0")
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
