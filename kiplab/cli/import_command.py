"""`kiplab import`: what the metadata log of a real cluster shows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from . import common_options as common

if TYPE_CHECKING:
    from ..incident.metadata_history import MetadataHistory

STOPPED, MEGABYTE = 130, 1_000_000


def run_import(options: argparse.Namespace) -> int:
    """Read the files, tell what they show, and say by the exit code how it went.

    Raises CommandError for what cannot be read, written or chosen.
    """
    from ..incident.as_play.play_of_history import NoHistoryError
    from ..incident.history_words import findings_sentence, report, stories, text
    from ..incident.incident_files import write_history
    from ..incident.log_items import UnreadableInputError
    from ..pages.browser_picture import ExportError
    from ..pages.export import check_installed
    from ..pages.page_files import page_theme

    common.require_ending(options)
    files = [file for file in (options.findings, options.out) if file is not None]
    common.require_folder(options.as_play)
    for file in files:
        common.require_folder(file)
        check_installed(file)
    with common.bad_input(UnreadableInputError, ExportError, NoHistoryError, ValueError):
        page_theme(options.theme)
        history = _history(options)
        for file in files:
            with common.writing(file):
                write_history(history, file, theme=options.theme)
        if options.as_play is not None:
            _write_play(history, options.as_play, options.since)
        if options.json:
            common.print_json(report(history))
        elif options.out is not None:
            print(f"{options.out}: {findings_sentence(history)}")
        else:
            sys.stdout.write(text(history, stories(history, history.chosen)))
            for name in () if history.chosen else history.pictured[:1]:
                print(f"Every change of a partition: --partition {name}. As a page: -o page.html")
    if not history.is_whole:
        return common.complain("stopped: this is what was found until then", STOPPED)
    return common.FAILED if _fails(history, options.fail_on) else common.DONE


def _history(options: argparse.Namespace) -> MetadataHistory:
    from ..incident.metadata_history import read_metadata_log

    with _progress() as progress:
        return read_metadata_log(
            *options.files,
            partitions=options.partition,
            topic=options.topic,
            broker=options.broker,
            from_=options.since,
            to=options.to,
            limit_ms=round(options.limit * 1000),
            every=options.all,
            logs=options.logs,
            zone=options.zone,
            anonymise=options.anonymise,
            progress=progress,
        )


def _write_play(history: MetadataHistory, out: str, since: str | None) -> None:
    """Of the first partition that is chosen, else of the one with the gravest finding."""
    name = next(iter(history.pictured), None)
    if name is None:
        raise common.CommandError("no finding is about a partition: name one, --partition orders-0")
    play = history.play(name, since=since)
    with common.writing(out):
        Path(out).write_text(play.text, "utf-8")
    common.complain(f"{out}: {name}, {play.records} of {play.of} records. {play.failed}".rstrip())


def _fails(history: MetadataHistory, kind: str | None) -> bool:
    """Whether there is a finding of that kind, or of a graver one."""
    from ..incident.history_words import KINDS

    kinds = [*KINDS]
    grave = kinds[: kinds.index(kind.replace("loss", "lost")) + 1] if kind else []
    return any(finding.kind in grave for finding in history.findings)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """Says how many bytes are read, on one line of a terminal; elsewhere nothing is said."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = ""

    def tell(done: int, of: int) -> None:
        nonlocal shown
        said = f"\rkiplab: {100 * done // max(of, 1)} % of {of / MEGABYTE:,.1f} MB"
        if said != shown:
            print(said, end="", file=sys.stderr, flush=True)
        shown = said

    try:
        yield tell
    finally:
        print(f"\r{' ' * len(shown)}\r", end="", file=sys.stderr, flush=True)
