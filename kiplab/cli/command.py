"""The `kiplab` command. Every message is for people; `--json` prints one object for programs."""

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from .. import __version__
from ..extras import MissingExtraError
from ..machine import LackingError
from ..plays.play_errors import PlayError
from ..protocol.features import UnknownFeatureError
from . import common_options as common
from .fleet_command import add_what_is_gone
from .play_commands import split


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says how it went (see `kiplab --help`)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Windows's own encodings have no scissors, and a pipe gets one of them.
        sys.stdout.reconfigure(errors="backslashreplace")
    before_compare, compared = split(list(sys.argv[1:] if arguments is None else arguments))
    try:
        options = _parser().parse_args(before_compare)
        options.compare = compared
        if compared and options.runs != "play_commands.run_timeline":
            problem = "--compare is for `kiplab timeline`, which draws runs together"
            return common.complain(problem, common.BAD_INPUT)
        module, _, name = options.runs.partition(".")
        code: int = getattr(import_module(f".{module}", __package__), name)(options)
        return code
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kiplab",
        description="Break a small Kafka, and see which rule would have saved it.",
        epilog="Exit codes: 0 done and as expected; 1 an expectation failed, a promised property"
        " broke, or a search refuted what it was asked; 2 bad input; 3 this machine lacks"
        " something, with the command that mends it; 4 a search did not finish within its limits.",
    )
    parser.add_argument("--version", action="version", version=f"kiplab {__version__}")
    below = {"": parser.add_subparsers(required=True, metavar="COMMAND")}
    for name, about in common.COMMANDS.items():
        group, _, own = name.rpartition(" ")
        command = common.add_command(below[group], own, about)
        if "below" in about:
            below[name] = command.add_subparsers(required=True, metavar=about["below"])
    add_what_is_gone(below["fleet"])
    return parser


if __name__ == "__main__":
    sys.exit(main())
