"""Commands about plays: their list, a run, its picture, a real Kafka beside it; labs and doctor."""

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import common_options as common

if TYPE_CHECKING:
    from ..runs import Run


def list_plays(options: argparse.Namespace) -> int:
    """The plays with their questions."""
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


def list_guards(options: argparse.Namespace) -> int:
    """Every rule that can be switched."""
    from ..protocol.guards import releases_of
    from ..runs import guards

    if options.json:
        names = ("id", "kip", "clause", "kind", "error", "releases", "requires")
        rows = [{name: getattr(guard, name) for name in names} for guard in guards()]
        for row in rows:
            row["error"] = getattr(row["error"], "name", None)
        return common.print_json({"guards": rows})
    width = max(len(g.id) for g in guards())
    for guard in guards():
        error = f" ({guard.error.name})" if guard.error is not None else ""
        since = releases_of(guard)
        print(f"{guard.id:<{width}}  {guard.kind:<11}  {since:<14}  {guard.clause}{error}")
    return common.DONE


def run_one(options: argparse.Namespace) -> int:
    """A play: a line for each event, and the verdict."""
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


def run_lab(options: argparse.Namespace) -> int:
    """JupyterLab, until it is stopped."""
    from .labs_launcher import open_labs

    return open_labs(options.name, browser=not options.no_browser, port=options.port)


def run_real(options: argparse.Namespace) -> int:
    """A play with a real Kafka beside the engine. Raises CommandError where there is none."""
    from ..judge.java_process import DeadKafkaError
    from ..judge.kafka_jars.jar_cache import UnpublishedReleaseError
    from ..judge.side_by_side.real_run import real

    live = True if options.live else False if options.recorded else None
    try:
        with common.bad_input(UnpublishedReleaseError):
            rules = {"kafka": options.kafka, "judge": options.judge, "elr": options.elr}
            run = real(options.play, live=live, fetch=True, **rules)
    except DeadKafkaError as problem:
        raise common.CommandError(str(problem), common.LACKING) from None
    if options.json:
        common.print_json(run.report())
    else:
        print(run.text(width=shutil.get_terminal_size((120, 40)).columns), end="")
    expected = common.code_of(run.runs[0])
    return expected if run.agree else common.FAILED


# --- the picture of a play ------------------------------------------------------------------------

COMPARED_MAX = 3
"""Runs beside the first that one picture has room for."""
WIDTHS = (480, 4000)
"""Pixels: narrower than the first, words have no room."""


def run_timeline(options: argparse.Namespace) -> int:
    """Write the file, and say what is in it. Raises CommandError for what cannot be drawn."""
    common.require_ending(options)
    from ..pages import live
    from ..pages.export import write
    from ..pages.live_engine import write_engine

    out = Path(options.out)
    for option in ("light", "live"):
        if getattr(options, option) and out.suffix.lower() != ".html":
            problem = f"--{option} is of pages: name a file that ends in .html, not {out.name}"
            raise common.CommandError(problem)
    if options.live and options.compare:
        raise common.CommandError("--live changes one run: leave --compare out, or --live")
    if len(options.compare) > COMPARED_MAX:
        raise common.CommandError(
            f"--compare can be given {COMPARED_MAX} times: a picture shows {COMPARED_MAX + 1} runs"
            f" at most, not {len(options.compare) + 1}"
        )
    further = [_compared(options.play, words) for words in options.compare]
    runs = [common.run_of(options), *further]
    with common.writing(out):
        drawn_with = _drawn_with(options)
        if options.live:
            size = write_engine(out.parent / live.ENGINE)
            drawn_with["controls"] = live.offered(runs[0].stage, drawn_with, size)
        if options.light:
            drawn_with["include_plotlyjs"] = "directory"
        write([r.rows() for r in runs], out, **drawn_with)
    if options.json:
        common.print_json({"out": str(out), "verdicts": [r.verdict for r in runs]})
    else:
        said = (f"Kafka {r.stage.features.label()}: {r.sentence}" for r in runs)
        print(f"{out}: {'; '.join(said)}")
    return max(common.code_of(r) for r in runs)


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
    common.add_options(parser, {"rules": "group"})
    parser.set_defaults(switches=None)
    further = parser.parse_args(words)
    further.play = play
    return common.run_of(further)


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
