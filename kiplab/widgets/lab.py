"""`Lab`: a run in one's hands. Step through it, break it elsewhere, change its rules."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, Protocol

import ipywidgets

from ..api import Run, chosen
from ..figures.describe import sentences, table_html
from ..figures.rows import Rows, rows_of
from ..figures.so_far import so_far
from ..plays.errors import PlayError
from ..plays.library import find
from ..plays.play import Play, Statement
from ..protocol.features import Features
from . import bench as benches
from .bench import Bench
from .controls import column, row, words
from .inflight import InFlight
from .inject import Inject
from .pages import note, transcript, verdict_line
from .painter import Painter
from .rulebook import Rulebook
from .transport import Transport

WIDTH, TRANSCRIPT_HEIGHT = 840, 300
"""Pixels; a notebook beside the list of files has that much room on a screen of 1280."""
_TABLE = """<style>
.kiplab-words { line-height: 1.45; font-size: 12px; }
.kiplab-words td, .kiplab-words th { text-align: left; vertical-align: top; }
.kiplab-words td, .kiplab-words th { padding: 3px 8px 3px 0; }
.kiplab-words caption { text-align: left; padding: 4px 0; font-weight: 600; }
</style>"""
_WAIT = "First lock in your prediction above. The lab opens here as soon as you have."


class Lock(Protocol):
    """What a Lab can wait for: `kiplab.predict` makes one."""

    @property
    def locked(self) -> bool:
        """Whether the wait is over."""

    def when_locked(self, action: Callable[[], None]) -> None:
        """Call `action` once, when it is."""


class Lab:
    """A play with buttons: show it as the last value of a notebook cell.

    `play` is a name, a file, a token or a Play; `kafka`, `on` and `off` are as for `kiplab.run`.
    `after` is something to wait for: until it is locked the lab only says so. `width` is in pixels,
    `theme` is "light" or "dark". Raises PlayError for a play that there is none of.

    Without a browser: `do("crash 2")`, `seek(3)`, `switch("903", True)`, then `run`.
    """

    def __init__(
        self,
        play: str | Path | Play,
        *,
        kafka: str | None = None,
        on: str | tuple[str, ...] = (),
        off: str | tuple[str, ...] = (),
        after: Lock | None = None,
        width: int = WIDTH,
        theme: str = "light",
    ) -> None:
        found, shared = (play, None) if isinstance(play, Play) else find(play)
        features = chosen(found, shared, kafka, _tuple(off), _tuple(on))
        self.bench = benches.open_bench(found, features)
        self._own = self.bench.features
        self._look: dict[str, Any] = {"width": width, "theme": theme}
        self._rows = rows_of(self.bench.whole)
        self._after = after
        self.box = column([words(note(_WAIT))], width="100%")
        if after is None or after.locked:
            self._open()
        else:
            after.when_locked(self._open)

    # --- what one can do ------------------------------------------------------------------------

    def seek(self, at: int) -> None:
        """Stand on step `at`."""
        self._turn_to(benches.seek(self.bench, at), "")

    def act(self, statement: Statement) -> None:
        """Do a line where one stands. One that cannot be done is explained, and changes nothing."""
        try:
            after = benches.act(self.bench, statement)
        except PlayError as problem:
            self._say(_because(problem), alarm=True)
            return
        left = self.bench.last - self.bench.at
        self._turn_to(after, _forked(self.bench.at, left) if left else "")

    def do(self, line: str) -> None:
        """As `act`, for a line as it is written in a play: ``crash 2 disk=replaced``."""
        try:
            statement = benches.read_line(self.bench, line)
        except PlayError as problem:
            self._say(_because(problem), alarm=True)
            return
        self.act(statement)

    def change_rules(self, features: Features) -> None:
        """The same lines under other rules."""
        before = self.bench
        after = benches.rerun(before, features)
        self._turn_to(after, f"The same steps under Kafka {features.label()}.")

    def reset(self) -> None:
        """The play's own lines again, from the start; the rules stay."""
        self._turn_to(benches.reset(self.bench), "The play is as it was opened.")

    # --- what one can read ----------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """The run as it is now, to its last step; lines that could not be done are left out."""
        return Run(benches.as_played(self.bench))

    @property
    def is_open(self) -> bool:
        """Whether there are controls, or still a wait."""
        return self._after is None or self._after.locked

    def __repr__(self) -> str:
        if not self.is_open:
            return f"<Lab of {self.bench.own.name!r}: {_WAIT}>"
        return f"<Lab of {self.bench.own.name!r} at step {self.bench.at} of {self.bench.last}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """A reference to the widgets, and words where there are none: notebooks stay small."""
        bundle: dict[str, Any] = self.box._repr_mimebundle_(**options)
        return {**bundle, "text/plain": repr(self)}

    # --- parts ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self.painter = Painter(self._picture())
        self.transport = Transport(self.seek, self.reset)
        self.inject = Inject(self.bench, self.act, self.do)
        self.in_flight = InFlight(self.act)
        self.rulebook = Rulebook(self._own, self.change_rules)
        self.verdict, self.transcript, self.note = words(), words(), words()
        self.in_words = words()
        self.more = ipywidgets.Accordion(
            (self.rulebook.list, self.in_words),
            titles=("Single rules", "This run so far, in sentences and as a table"),
        )
        self.more.observe(lambda _: self._tell(), "selected_index")
        hands = column([self.inject.box, self.in_flight.box], width="53%")
        told = column([self.transcript], width="47%")
        # The figure keeps its height and the verdict does not: what is pressed most stays put.
        parts = [self.painter.widget, self.transport.box, self.verdict, self.rulebook.box]
        parts += [self.note, row([hands, told], align_items="stretch"), self.more]
        self.box.layout.width = f"{self._look['width'] + 4}px"
        self.box.children = tuple(parts)
        self._show("")

    def _turn_to(self, bench: Bench, said: str) -> None:
        before, self.bench = self.bench, bench
        if bench.stops is not before.stops:
            self._rows = rows_of(bench.whole)
        if self.is_open:
            self.painter.paint(self._picture())
            self._show(said)

    def _picture(self) -> Any:
        """What has happened up to where one stands, on the sheet of the whole run."""
        return so_far(rows_of(self.bench.here), self._rows, **self._look)

    def _show(self, said: str) -> None:
        bench = self.bench
        self.transport.show(bench)
        self.inject.show(bench)
        self.in_flight.show(bench)
        self.rulebook.show(bench.features, self._own)
        self.verdict.value = verdict_line(bench, self._rows.moments[bench.at].label)
        self.transcript.value = transcript(bench, TRANSCRIPT_HEIGHT)
        self._say(said)
        self._tell()

    def _say(self, text: str, *, alarm: bool = False) -> None:
        if self.is_open:
            hint = f"What you do below happens at step {self.bench.at}."
            self.note.value = note(text or hint, alarm=alarm)
        elif text:
            print(text)

    def _tell(self) -> None:
        """The run so far in words: worked out only while somebody looks."""
        if self.more.selected_index == 1:
            self.in_words.value = _told(rows_of(self.bench.here))


def _told(rows: Rows) -> str:
    story = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences(rows))
    table = f'<div style="overflow:auto">{table_html(rows)}</div>'
    return f'{_TABLE}<div class="kiplab-words"><ul>{story}</ul>{table}</div>'


def _because(problem: PlayError) -> str:
    said = f"{problem.problem}; {problem.expected}" if problem.expected else problem.problem
    return f"{said[0].upper()}{said[1:]}. Nothing has changed."


def _forked(at: int, left: int) -> str:
    steps = "The step" if left == 1 else f"The {left} steps"
    return f"{steps} after step {at} made way for yours. Reset brings the play's own lines back."


def _tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
