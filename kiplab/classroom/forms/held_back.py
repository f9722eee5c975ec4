"""Cells that a lab shows only after an answer: an explanation, a story, a figure."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from .. import attempts, work_on_disk
from ..exercise_table import exercise
from ..exercises.check_result import PlainTexts, broken
from ..sealed_texts import read_text

EXPLANATIONS = Path(__file__).parents[1] / "explanations"
"""Texts in Markdown, by the ids of the questions: ``isr/high-watermark.md``."""
_IDEA = re.compile(r"\[([A-Z])\] (\*\*If you .*)")
"""A paragraph of an explanation for those who chose that letter."""
_OTHERS = "Other ideas"
_FOLD = re.compile(r"</?(?:details|summary)>")
_STEP_LINK = re.compile(r"\[([^]]+)\]\(#[^)]+\)")
"""``[step 6](#kafka-14139-step-6)``: where there is no Lab it says no more than its words."""
_NOW = "This is open now: run this cell."
_ROOM = {"text/html": "", "text/plain": ""}


class Prose(msgspec.Struct, frozen=True):
    """A text in Markdown, which a notebook shows as it shows its own."""

    markdown: str

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        plain = _STEP_LINK.sub(r"\1", _FOLD.sub("", self.markdown))
        return "\n".join(broken(line) for line in plain.splitlines())


class Awaits(msgspec.Struct, frozen=True):
    """What waits for the answer to the question `id`, with a name by which a page finds it."""

    text: str
    id: str

    def __repr__(self) -> str:
        return broken(self.text)

    def _repr_html_(self) -> str:
        place = f'style="font-style:italic" data-kiplab-place="{escape(self.id)}"'
        return f"<p {place}>{escape(self.text)}</p>"


class HeldBack:
    """Something that a cell shows once a question, or each of several, is answered.

    The cell fills itself in as soon as it is. A page that was loaded again cannot do that: it says,
    run this cell. What follows a prediction is its run, unless it `explains`: no class holds it.
    """

    explains = False

    def __init__(
        self, ids: Sequence[str], make: Callable[[], object], *, may_be_panel: bool = False
    ) -> None:
        self.ids, self._make, self._may_be_panel = ids, make, may_be_panel
        for id in ids:
            attempts.awaited(id)

    @property
    def shown(self) -> object:
        """The visible content: its own, or a note of what it waits for."""
        waits = self._waits()
        if not waits:
            return self._make()
        sentence = f"This opens when you lock in your predictions, above. {len(waits)} to go."
        if len(self.ids) == 1:
            sentence = attempts.awaited(*waits)
        return Awaits(sentence, self._place)

    @property
    def _place(self) -> str:
        return " ".join((*self.ids, *["why"] * self.explains))

    def _waits(self) -> list[str]:
        return [id for id in self.ids if not self._is_open(id)]

    def _is_open(self, id: str) -> bool:
        waits_more = self.explains or exercise(id).check
        return attempts.is_open(id) if waits_more else attempts.is_answered(id)

    def __repr__(self) -> str:
        return repr(self.shown)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        publish: Any = display  # which has no annotations
        handles = [publish(self.shown, display_id=True)]
        waits = self._waits()
        if waits and self._may_be_panel:
            handles.append(publish(_ROOM, raw=True, display_id=True))
        for id in waits:
            attempts.when_answered(id, partial(self._fill_in, handles))

    def _fill_in(self, handles: list[Any]) -> None:
        """A panel displays itself, as two outputs: there is room for both."""
        from ...widgets.elements.surface import Surface
        from ...widgets.still_fallback import shown_in

        made = self.shown
        show_itself = getattr(made, "_ipython_display_", None)
        if callable(show_itself):
            with shown_in(handles):
                show_itself()
        else:
            handles[0].update(made)
        Surface.tell_pages(self._place, repr(made) if isinstance(made, Awaits) else _NOW)


def after(id: str | Sequence[str], *shown: object) -> HeldBack:
    """Show something once the question `id` is answered: until then, say what it waits for.

    Of several predictions it waits for all. A prediction is answered when it is locked; an exercise
    by the right answer, or by the third different one. Several texts are shown with a blank line
    between; a function is called when it opens.
    Raises ExerciseIdError, a ValueError, for an id of nothing that the labs ask.
    """
    ids = [id] if isinstance(id, str) else id
    may_be_panel = any(callable(it) or hasattr(it, "_ipython_display_") for it in shown)
    return HeldBack(ids, partial(_opened, shown), may_be_panel=may_be_panel)


def explain(id: str, part: str = "") -> HeldBack:
    """Show the explanation that belongs to the question `id`, once that is answered.

    The idea behind the reader's own choice comes first, those behind others are folded. `part`
    names one of several. Raises ValueError for an id, or a part, that there is none of.
    """
    file = EXPLANATIONS / f"{id}{'.' * bool(part)}{part}.md"
    back = HeldBack([id], lambda: Prose(_whose(id, part) + _personal(read_text(file), id)))
    back.explains = True
    try:
        read_text(file)
    except FileNotFoundError:
        problem = f"there is no explanation {part!r} of {id}: it would be in {file.name}"
        raise ValueError(problem) from None
    return back


def _whose(id: str, part: str) -> str:
    """What to say above an explanation whose numbers are not the reader's."""
    own = attempts.own_exercise(id)
    if part or not own.drawn:
        return ""
    return f"*The numbers here are those of the text. With yours:* `{own.solution}`\n\n"


def _personal(text: str, id: str) -> str:
    """An explanation for whoever has given the answer that is kept under `id`."""
    paragraphs = text.strip().split("\n\n")
    ideas = {found[1]: found[2] for found in map(_IDEA.fullmatch, paragraphs) if found}
    chosen = exercise(id).letter_of(work_on_disk.prediction(id))
    if not ideas or not chosen:
        return "\n\n".join(_IDEA.sub(r"\2", paragraph) for paragraph in paragraphs)
    place = next(n for n, paragraph in enumerate(paragraphs) if _IDEA.fullmatch(paragraph))
    rest = [paragraph for paragraph in paragraphs if not _IDEA.fullmatch(paragraph)]
    own = [ideas.pop(chosen).replace("**If you ", "**You ", 1)] if chosen in ideas else []
    fold = [f"<details><summary>{_OTHERS}</summary>", *ideas.values(), "</details>"]
    return "\n\n".join([*own, *rest[:place], *fold, *rest[place:]])


def _opened(shown: tuple[object, ...]) -> object:
    made = [thing() if callable(thing) else thing for thing in shown]
    if all(isinstance(thing, str) for thing in made):
        return PlainTexts(tuple(str(thing) for thing in made))
    (only,) = made
    return only
