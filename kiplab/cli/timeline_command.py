"""`kiplab timeline`: the picture of a play, or of several runs of it, as a file."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import common_options
from .common_options import CommandError

if TYPE_CHECKING:
    from ..runs import Run

COMPARED_MAX = 3
"""Runs beside the first that one picture has room for."""
WIDTHS = (480, 4000)
"""Pixels: narrower than the first, words have no room."""


def run_timeline(options: argparse.Namespace) -> int:
    """Write the file, and say what is in it. Raises CommandError for what cannot be drawn."""
    common_options.require_ending(options)
    from ..pages import live
    from ..pages.export import write
    from ..pages.live_engine import write_engine

    out = Path(options.out)
    for option in ("light", "live"):
        if getattr(options, option) and out.suffix.lower() != ".html":
            problem = f"--{option} is of pages: name a file that ends in .html, not {out.name}"
            raise CommandError(problem)
    if options.live and options.compare:
        raise CommandError("--live changes one run: leave --compare out, or --live")
    if len(options.compare) > COMPARED_MAX:
        raise CommandError(
            f"--compare can be given {COMPARED_MAX} times: a picture shows {COMPARED_MAX + 1} runs"
            f" at most, not {len(options.compare) + 1}"
        )
    further = [_compared(options.play, words) for words in options.compare]
    runs = [common_options.run_of(options), *further]
    with common_options.writing(out):
        drawn_with = _drawn_with(options)
        if options.live:
            size = write_engine(out.parent / live.ENGINE)
            drawn_with["controls"] = live.offered(runs[0].stage, drawn_with, size)
        if options.light:
            drawn_with["include_plotlyjs"] = "directory"
        write([r.rows() for r in runs], out, **drawn_with)
    if options.json:
        common_options.print_json({"out": str(out), "verdicts": [r.verdict for r in runs]})
    else:
        print(
            f"{out}: {'; '.join(f'Kafka {r.stage.features.label()}: {r.sentence}' for r in runs)}"
        )
    return max(common_options.code_of(r) for r in runs)


def _drawn_with(options: argparse.Namespace) -> dict[str, Any]:
    """What the picture shows and how; ValueError, in one sentence, for what cannot be read."""
    from ..rows.metric_readings import ALL

    drawn_with: dict[str, Any] = {"partition": options.partition, "theme": options.theme}
    if options.all_steps:
        drawn_with["fold"] = False
    if options.metrics or options.all_metrics:
        drawn_with["metrics"] = ALL if options.all_metrics else True
    if options.kinds is not None:
        drawn_with["kinds"] = tuple(kind.strip() for kind in options.kinds.split(","))
    if options.between is not None:
        first, _, last = options.between.partition(":")
        if not (first.isdecimal() and last.isdecimal()):
            raise ValueError(f"--between takes two moments, as in 34:60, not {options.between!r}")
        drawn_with["between"] = (int(first), int(last))
    if options.width is not None:
        narrow, wide = WIDTHS
        if not (options.width.isdecimal() and narrow <= int(options.width) <= wide):
            problem = f"--width takes pixels, from {narrow} to {wide}, not {options.width!r}"
            raise ValueError(problem)
        drawn_with["width"] = int(options.width)
    return drawn_with


def _compared(play: str, words: list[str]) -> "Run":
    """A further run: features in one word (``3.5-903``) or as options (``--kafka 3.5 ...``)."""
    from ..plays.values import feature_set

    if len(words) == 1 and not words[0].startswith("-"):
        from ..plays.library import find
        from ..plays.runner import run_play
        from ..runs import Run

        chosen, _ = find(play)
        return Run(run_play(chosen, feature_set("@" + words[0].removeprefix("@"))))
    parser = argparse.ArgumentParser(prog="kiplab timeline ... --compare", add_help=False)
    common_options.add_options(parser, {"rules": "group"})
    parser.set_defaults(switches=None)
    further = parser.parse_args(words)
    further.play = play
    return common_options.run_of(further)


def split(arguments: list[str]) -> tuple[list[str], list[list[str]]]:
    """(the command's own arguments, the features after each ``--compare``)."""
    groups: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "--compare":
            groups.append([])
        else:
            groups[-1].append(argument)
    own, compared = groups[0], []
    for words in groups[1:]:
        features, others = _features_of(words)
        own += others
        compared.append(features)
    return own, compared


def _features_of(words: list[str]) -> tuple[list[str], list[str]]:
    """(features, what belongs to the command again) of the words after one ``--compare``."""
    if len(words) == 1 and " " in words[0]:
        words = words[0].split()
    if words and not words[0].startswith("-"):
        # One word names the features.
        return words[:1], words[1:]
    own = [w for w in words if w == "--json"]
    return [w for w in words if w != "--json"], own
