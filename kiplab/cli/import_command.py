"""`kiplab import`: what the metadata log of a real cluster shows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from . import common_options as common

if TYPE_CHECKING:
    from ..incident.metadata_history import MetadataHistory

STOPPED = 130
KIND_OF = {"loss": "lost"}
"""What the command calls otherwise than a finding does."""
_MEGABYTE = 1_000_000


def run_import(options: argparse.Namespace) -> int:
    """Read the files, tell what they show, and say by the exit code how it went.

    Raises CommandError for what cannot be read, written or chosen.
    """
    from ..incident.as_play.play_of_history import NoHistoryError
    from ..incident.history_words import report, stories, text
    from ..incident.records import UnreadableInputError
    from ..pages.browser_picture import ExportError

    common.require_ending(options)
    for out in (options.out, options.findings, options.as_play):
        common.require_folder(out)
    with common.bad_input(UnreadableInputError, ExportError, NoHistoryError, ValueError):
        history = _history(options)
        _write(history, options)
        if options.as_play is not None:
            _write_play(history, options.as_play)
        if options.json:
            common.print_json(report(history))
        elif options.out is None:
            sys.stdout.write(text(history, [*stories(history, history.chosen)]))
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


def _write(history: MetadataHistory, options: argparse.Namespace) -> None:
    from ..incident.history_words import findings_sentence, report
    from ..incident.incident_files import write_history

    if options.findings is not None:
        with common.writing(options.findings):
            Path(options.findings).write_bytes(msgspec.json.encode(report(history)) + b"\n")
    if options.out is not None:
        with common.writing(options.out):
            write_history(history, options.out, theme=options.theme)
        if not options.json:
            print(f"{options.out}: {findings_sentence(history)}")


def _write_play(history: MetadataHistory, out: str) -> None:
    """Of the first partition that is chosen, else of the one with the gravest finding."""
    name = next(iter(history.pictured), None)
    if name is None:
        raise common.CommandError("no finding is about a partition: name one, --partition orders-0")
    play = history.play(name)
    with common.writing(out):
        Path(out).write_text(play.text, "utf-8")
    wrote = f"{out}: {name}, {play.records} of {play.of} records"
    print(f"{wrote}. {play.failed.sentence}" if play.failed else wrote, file=sys.stderr)


def _fails(history: MetadataHistory, kind: str | None) -> bool:
    """Whether there is a finding of that kind, or of a graver one."""
    from ..incident.history_words import KINDS

    if kind is None:
        return False
    kinds = [*KINDS]
    grave = kinds[: kinds.index(KIND_OF.get(kind, kind)) + 1]
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
        said = f"{100 * done // of if of else 100} % of {of / _MEGABYTE:,.1f} MB"
        if said != shown:
            shown = said
            print(f"\rkiplab: {said}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        print(f"\r{' ' * (len(shown) + 8)}\r", end="", file=sys.stderr, flush=True)
