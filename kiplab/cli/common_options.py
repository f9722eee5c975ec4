"""Common parts of several commands: the options that name a run, and the form of an answer."""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..protocol.releases import RELEASES

if TYPE_CHECKING:
    from ..plays.play import Play
    from ..protocol.features import Features
    from ..runs import Run

COMMANDS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))
"""What each command runs and says of itself, and its options; a space is before what is below."""
_GROUPS = COMMANDS.pop("groups")
DONE, FAILED, BAD_INPUT, LACKING, UNFINISHED = 0, 1, 2, 3, 4


class CommandError(Exception):
    """The end of a command: a sentence for people, and the exit code."""

    def __init__(self, sentence: str, code: int = BAD_INPUT) -> None:
        super().__init__(sentence)
        self.code = code


@contextmanager
def bad_input(*kinds: type[Exception]) -> Iterator[None]:
    """Raises CommandError, with the same sentence, in place of these kinds of errors."""
    try:
        yield
    except kinds as problem:
        raise CommandError(str(problem)) from None


@contextmanager
def writing(out: str | Path) -> Iterator[None]:
    """Raises CommandError where the file cannot be written, or not like that."""
    try:
        with bad_input(ValueError):
            yield
    except OSError as problem:
        raise CommandError(f"{out} cannot be written: {problem.strerror}") from None


def require_ending(options: argparse.Namespace) -> None:
    """Raises CommandError for a file whose ending means nothing to the command."""
    out, endings = options.out, options.endings
    if out is not None and (ending := Path(out).suffix).lower() not in endings:
        problem = f"{out} ends in {ending or 'nothing'}"
        raise CommandError(f"{problem}; it can end in {', '.join(endings)}")


def require_folder(out: str | Path | None) -> None:
    """Raises CommandError for a file in no folder: before the work, not after it."""
    if out is not None and not os.path.isdir(Path(out).parent):
        raise CommandError(
            f"{out} cannot be written: there is no such folder, or no right to see it"
        )


class InOrder(argparse.Action):
    """Keeps --on and --off in the order they were given: they apply left to right."""

    def __call__(
        self, _parser: object, namespace: Any, value: Any, option_string: str | None = None
    ) -> None:
        namespace.switches = [*(namespace.switches or ()), (value, option_string == "--on")]


def add_command(commands: Any, name: str, about: dict[str, Any]) -> Any:
    """Give a parser a command as commands.toml has it; returns the command's parser."""
    said = {"description": about["help"], "ends": ""} | about
    parser = commands.add_parser(
        name, help=said["help"], description=said["description"], epilog=said["ends"].strip()
    )
    if "runs" in about:
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
        parser.set_defaults(runs=about["runs"], switches=None, endings=about.get("endings"))
    add_options(parser, about.get("options", {}), " ".join(about.get("endings", ())))
    return parser


def add_options(parser: Any, options: dict[str, Any], endings: str = "") -> None:
    """Options as commands.toml has them."""
    parser.register("type", "int", int)
    parser.register("type", "float", float)
    parser.register("action", "in order", InOrder)
    for flags, form in options.items():
        if form == "group":
            add_options(parser, _GROUPS[flags], endings)
        elif flags == "either":
            add_options(parser.add_mutually_exclusive_group(), form, endings)
        else:
            help = form["help"].strip().format(endings=endings, **_named())
            parser.add_argument(*flags.split(), **form | {"help": help})


@cache
def _named() -> dict[str, str]:
    """What the help of options names out of other rooms."""
    from ..fleet.parameters.fleet_study import presets
    from ..fleet.pipeline.study_plan import METHODS
    from ..judge.kafka_jars.jar_cache import LAST_PATCH, ZOOKEEPER_PATCHES

    names = {"releases": RELEASES, "presets": presets(), "methods": METHODS}
    names |= {"published": LAST_PATCH, "with_zookeeper": ZOOKEEPER_PATCHES}
    return {name: ", ".join(its) for name, its in names.items()}


def code_of(run: Run) -> int:
    """The exit code of a run: whether it came out as its play expects and Kafka promises."""
    from ..plays.verdict import breaks_promise, expectations

    wrong = expectations(run.stage)["failed"] or breaks_promise(run.stage)
    return FAILED if wrong else DONE


def run_of(options: argparse.Namespace) -> Run:
    """The run that the common options name. Raises PlayError or UnknownFeatureError."""
    from ..plays.runner import run_play
    from ..runs import Run

    return Run(run_play(*chosen_by(options)))


def chosen_by(options: argparse.Namespace) -> tuple[Play, Features | None]:
    """The play and features that options name. Raises PlayError or UnknownFeatureError."""
    from ..plays.header import features_asked_for, features_of
    from ..plays.library import find
    from ..protocol.features import fitting, switched

    play, shared = find(options.play)
    features = features_asked_for(play, shared, options.kafka, (), (), options.elr)
    for name, on in options.switches or ():
        features = switched(features_of(play) if features is None else features, name, on)
    return play, features if features is None else fitting(features)


def complain(sentence: str, code: int = DONE) -> int:
    """Say what is wrong, or how far it is, in a sentence; returns the exit code."""
    print(f"kiplab: {sentence}", file=sys.stderr)
    return code


def print_json(value: object) -> int:
    """One JSON object for programs; returns the exit code."""
    print(msgspec.json.encode(value).decode())
    return DONE


def print_found(written: Any, options: argparse.Namespace) -> int:
    """Write the result where it is to be kept, and print its JSON, where it is, or its text.

    Returns the exit code. Raises CommandError for a file that cannot be written.
    """
    if options.out is not None:
        with writing(options.out):
            written.write(options.out, theme=options.theme)
    if options.json:
        return print_json(written.report())
    if options.out is not None:
        print(f"{options.out}: {written.sentence}")
    else:
        sys.stdout.write(written.text())
    return DONE
