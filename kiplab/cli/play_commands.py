"""Commands of a few lines each: the labs, the plays, their rules, a real Kafka, the doctor."""

import argparse
import shutil
import sys
from typing import TYPE_CHECKING

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


def run_doctor(options: argparse.Namespace) -> int:
    """The state of this machine."""
    from .doctor import main as doctor

    return doctor(options.json)


def run_real(options: argparse.Namespace) -> int:
    """A play with a real Kafka beside the engine. Raises CommandError where there is none."""
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
