"""Where a student stands now: the stations of a lab; the work in all labs, with a download."""

import base64
from collections.abc import Iterator
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from textwrap import shorten

import msgspec

from ...machine.cache import zipped
from ...widgets.markup import INK, LINE, MUTED, muted, note
from ...widgets.still_fallback import GAP, RUN
from .. import attempts, class_file, work_on_disk
from ..exercise_table import EXERCISES, WRITTEN, Exercise, require_lab
from ..exercises.check_result import broken
from . import own_words, prediction

ARCHIVE = "kiplab-work.zip"
DOWNLOAD_MAX = 75_000
"""Bytes. The button carries the archive itself, and a notebook with it has to stay small."""
_HEADS = ("lab", "question", "so far")
_BUTTON = (
    "display:inline-block;margin:10px 12px 6px 4px;padding:7px 14px;border-radius:3px;"
    "background:#005a8c;color:#fff;font-weight:600;text-decoration:none"
)

_RULE = f"border-bottom:1px solid {LINE}"


class Stations(prediction.LivePanel):
    """What one does in a lab, in its order: what is done, what is next, what is to come."""

    def __init__(self, lab: str) -> None:
        core = (entry for entry in EXERCISES if entry.lab == lab and not entry.optional)
        first, *between, ticket = core
        # A run of one's own is judged as a whole; a lab without one breaks what it was given, last.
        makes = next((entry for entry in reversed(between) if entry.outcomes), between[-1])
        self._ids: dict[str, tuple[str, ...]] = {
            "Your prediction": (first.id,),
            RUN: (),
            GAP: (),
            "Change one thing": (),
            "Checkpoint": tuple(entry.id for entry in between if entry is not makes),
            "Make or break": (makes.id,),
            "Exit ticket": (ticket.id,),
        }
        self.lab, self.name = lab, own_words.NameForm()
        super().__init__(*[self.name.column] * (class_file.current() is not None))

    def renew(self) -> None:
        self.name.renew()
        super().renew()

    @property
    def done(self) -> dict[str, bool]:
        """Whether each is done, by heading; without a question, once something later is done."""
        first, *_ = self._ids["Your prediction"]
        known = {id: attempts.is_answered(id) for ids in self._ids.values() for id in ids}
        done, later = dict[str, bool](), False
        for heading, ids in reversed(self._ids.items()):
            here = [known[id] for id in ids]
            done[heading] = all(here) if ids else later or (first, heading) in attempts.passed
            later = later or any(here)
        return dict(reversed(done.items()))

    def html(self) -> str:
        """The strip: a link to each station; in a class what it is, and until when."""
        done, (said, problem) = self.done, self._class
        ahead = next((heading for heading in done if not done[heading]), "")
        stations = "".join(_station(heading, done[heading], heading == ahead) for heading in done)
        return (
            '<nav aria-label="stations of this lab"><ol style="display:flex;flex-wrap:wrap;gap:4px'
            f' 18px;list-style:none;margin:4px 0;padding:0">{stations}</ol></nav>'
            f"{said and muted(said)}{note(problem, alarm=True)}"
        )

    @property
    def _class(self) -> tuple[str, str]:
        """What class it is, until when this lab is to be done, and who does it; what is wrong."""
        (here, problem), student = class_file.looked_up(), work_on_disk.read().student
        return " · ".join(filter(None, [here.words(self.lab), student])) if here else "", problem

    def __repr__(self) -> str:
        strip = " · ".join(f"{'✓' if done else '○'} {name}" for name, done in self.done.items())
        asks = self._class[0] and work_on_disk.read().student is None
        return "\n".join(filter(None, [strip, *self._class, own_words.IN_WORDS if asks else ""]))


def _station(heading: str, done: bool, is_next: bool) -> str:
    """One of the strip: a link, by which a page finds the heading."""
    mark = "✓" if done else "▶" if is_next else "○"
    here = ' aria-current="step" style="font-weight:700"' if is_next else ""
    href = f"#{heading.replace(' ', '-')}"
    link = f'<a href="{href}" data-kiplab-leads="{heading}">{heading}</a>'
    return f"<li{here}>{mark} {link}</li>"


def stations(lab: str) -> Stations:
    """Where you stand in the lab of that number, as it is now: ``stations("04")``.

    Raises ValueError for the number of no lab.
    """
    require_lab(lab)
    return Stations(lab)


class MyWork(prediction.LivePanel):
    """The work as it is now: whose it is, a table, and a button to download it."""

    def __init__(self, problem: str) -> None:
        self.name, self.problem = own_words.NameForm(), problem
        self._read()
        super().__init__(self.name.column)

    def renew(self) -> None:
        self._read()
        self.name.renew()
        super().renew()

    def _read(self) -> None:
        self.work = work_on_disk.read()
        self.file = work_on_disk.work_file().absolute()
        _, wrong_class = class_file.looked_up()
        self.alarm = work_on_disk.unreadable()
        self.alarms = [text for text in (self.alarm, self.problem, wrong_class) if text]
        self.archive, self.left_out = packed(self.file)

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """(lab, question, so far) for everything that the labs ask."""
        lines = [(e.lab, e.title + " (optional)" * e.optional, self._so_far(e)) for e in EXERCISES]
        for asked in WRITTEN.values():
            length = len(self.work.written.get(asked.id, "").split())
            so_far = f"written: {length} words" if length else self._nothing
            question = shorten(asked.question, 60, placeholder=" …")
            lines.append((asked.lab, f"To discuss: {question}", so_far))
        return sorted(lines, key=itemgetter(0))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The lines, but one for a lab in which nothing is answered yet, if the class takes it."""
        shown, taken = list[tuple[str, str, str]](), class_file.current()
        for lab, lines in groupby(self.lines, key=itemgetter(0)):
            here = list(lines)
            if any(so_far != self._nothing for _, _, so_far in here):
                shown += here
            elif taken is None or taken.has(lab):
                shown.append((lab, f"{len(here)} questions", self._nothing))
        return shown

    @property
    def notes(self) -> list[str]:
        """The class, the last attempt, where the file lies, and what else is worth knowing."""
        here = class_file.current()
        notes = [f"Class: {here.words()}."] if here else []
        times = (tried.at for kept in self.work.exercises.values() for tried in kept.tries)
        if latest := max(times, default=""):
            notes.append(f"Your last attempt: {latest[:16].replace('T', ' ')} UTC.")
        if self.archive or self.left_out:
            notes.append(f"{'The file is' if self.alarm else 'It is kept in'} {self.file}.")
        elif not (self.alarm or work_on_disk.unwritten()):
            notes.append(f"Nothing is kept yet. What you do will be in {self.file}.")
        if work_on_disk.unwritten():
            notes.append(
                f"What you answered could not be written to {self.file}; it is gone with this"
                " kernel. Run the cell of the question again: it says how to have it kept."
            )
        if self.left_out:
            names = ", ".join(self.left_out)
            notes.append(f"Too large to go along: {names}. Take it from the list of files.")
        for path in work_on_disk.damaged_files():
            notes.append(f"{path.name} is earlier work that could not be read. It is unchanged.")
        return notes

    @property
    def href(self) -> str:
        """The archive as an address that holds it all; empty if there is nothing to download."""
        if not self.archive:
            return ""
        return f"data:application/zip;base64,{base64.b64encode(self.archive).decode()}"

    def _so_far(self, entry: Exercise) -> str:
        if not entry.check:
            answer = self.work.predictions.get(entry.id)
            return f"locked in: {answer}" if answer else self._nothing
        kept = self.work.exercises.get(entry.id)
        if kept is None or not kept.attempts:
            return self._nothing
        times = f"{kept.attempts} attempt{'s' * (kept.attempts > 1)}"
        if kept.done:
            return f"✓ right, after {times}"
        hint = kept.tries[-1].hint if kept.tries else ""
        return f"○ {kept.best}/{kept.of} after {times}" + (f". Hint: {hint}" if hint else "")

    @property
    def _nothing(self) -> str:
        return "cannot be read" if self.alarm else "not yet"

    def __repr__(self) -> str:
        rows = [_HEADS, *self.rows]
        wide = max(len(title) for _, title, _ in rows)
        table = (f"{lab:4}{title:<{wide + 2}}{so_far}" for lab, title, so_far in rows)
        first = [part for alarm in self.alarms for part in (broken(alarm), "")]
        student = self.work.student
        whose = own_words.IN_WORDS if student is None else f"Work of {student or 'nobody named'}."
        return "\n".join([*first, *table, "", whose, *self.notes])

    def html(self) -> str:
        """The table and the button: a link, so that it needs neither kernel nor widget."""
        cell = f"text-align:left;vertical-align:top;padding:3px 14px 3px 0;{_RULE}"
        style = f"<style>.kiplab-my-work.kiplab-my-work tr :is(th,td){{{cell}}}</style>"
        heads = "".join(f'<th scope="col">{head}</th>' for head in _HEADS)
        lines = ("".join(f"<td>{escape(text)}</td>" for text in line) for line in self.rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        alarm = "".join(note(text, alarm=True) for text in self.alarms)
        whose = f": {escape(self.work.student)}" if self.work.student else ""
        notes = "<br>".join(escape(text) for text in self.notes)
        return (
            f'<div class="kiplab-my-work" style="max-width:840px;color:{INK};line-height:1.4">'
            f"{style}{alarm}<table>"
            f"<caption style='text-align:left;font-weight:600'>My work{whose}</caption>"
            f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
            f'{self._button()}<div style="color:{MUTED};font-size:13px">{notes}</div></div>'
        )

    def _button(self) -> str:
        if not self.href:
            return ""
        label = f"Download my work ({len(self.archive) // 1_000 + 1} kB)"
        return f'<a download="{ARCHIVE}" href="{self.href}" style="{_BUTTON}">{label}</a>'


def my_work(student: str | None = None) -> MyWork:
    """What you have predicted and solved in all labs, with a button to download it.

    It asks once for your name or number, which may stay empty; where there are no widgets,
    `student` is the answer.

    The download is a zip of the work file and of the notebooks beside it, as they were last saved,
    without their outputs. Labs that nobody has begun stay behind.
    """
    return MyWork(own_words.keep_name(student))


def packed(work_file: Path) -> tuple[bytes, tuple[str, ...]]:
    """(the archive, names of files that it has no room for). Empty without any work to pack."""
    try:
        own = work_file.read_bytes()
    except OSError:
        return b"", ()
    left_out: list[str] = []
    content: dict[str, bytes] = {}
    archive = b""
    for name, data in ((work_file.name, own), *_notebooks(work_file.parent, own)):
        tried = zipped({**content, name: data})
        if len(tried) > DOWNLOAD_MAX:
            left_out.append(name)
            continue
        content[name], archive = data, tried
    return archive, tuple(left_out)


def _notebooks(folder: Path, work: bytes) -> Iterator[tuple[str, bytes]]:
    untouched = {entry.lab for entry in EXERCISES}
    untouched -= {entry.lab for entry in EXERCISES if f'"{entry.id}"'.encode() in work}
    for path in sorted(folder.glob("*.ipynb")):
        data, begun = _bare(path.read_bytes())
        if begun or path.name.partition("-")[0] not in untouched:
            yield path.name, data


def _bare(notebook: bytes) -> tuple[bytes, bool]:
    """A notebook without its outputs, which is what its student wrote, and whether a cell has run.

    Anything else stays as it is, and counts as begun.
    """
    try:
        content = msgspec.json.decode(notebook)
        code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        begun = any(cell["outputs"] or cell["execution_count"] for cell in code)
        for cell in code:
            cell["outputs"], cell["execution_count"] = [], None
        content["metadata"].pop("widgets", None)
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError, AttributeError):
        return notebook, True
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n", begun
