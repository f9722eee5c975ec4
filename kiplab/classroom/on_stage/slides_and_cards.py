"""What the labs mark for the projector and for paper: a deck for each lab, and cards to cut out.

Code is not on a slide: what it shows is. A card is a row of a table, an entry of a list, or a
question, so it says what the lab says.
"""

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...extras import needed_by
from ...figures.drawing.still_picture import described
from ...figures.drawing.svg import svg
from ...figures.drawing.theme import FONT, THEMES
from ...pages.page_files import AUTO, html_page, page_colors
from ...rows.run_titles import titles
from ...site.registries import pinned_reveal
from ..exercise_table import Exercise
from .marked_cells import CARDS, LEFT_OUT, SLIDE, Cells, LabPicture, marked
from .picture_pages import painted

REVEAL = "reveal.js"
"""The folder beside the decks that they load."""
_NOT_SAID = re.compile(
    r"^(\*About \d+ minutes|\*\*The run button|No Java|You need neither|\*\*Your turn"
    r"|\[[A-Z]\] \*\*If you ).*\n?| ?\(In words: `[^`]+`\.?\)| [A-Z][^.*\n]*:\Z"
    r"| ?\[[^]]+\?\]\([^)]+\)| (?:Answer from|Press|The dotted line|◆ marks)[^.|\n]*\.?",
    re.MULTILINE,
)
"""What only a reader of the notebook needs, and a sentence that leads on to its next cell."""
_LINK = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]+\)")
"""Steps of a Lab, and other pages of the labs: a slide says no more than their words."""
_ENTRY = re.compile(r"^(?:(\d+)\.|- \*\*(\w+)\*\*:?) +(.+)$", re.MULTILINE)
_INLINE = {r"`([^`]+)`": "code", r"\*\*([^*]+)\*\*": "b", r"\*([^*]+)\*": "i"}
LONG, LABEL = 90, 3
"""Characters of a text and of a label: more are written in smaller letters."""


def write_decks(out: Path, labs: list[Cells], lacks: list[Exception]) -> list[Path]:
    """Write ``04.html`` and so on to a folder, and reveal.js beside them.

    What the machine lacks is added to `lacks`: without reveal.js there is no deck.
    """
    try:
        written = {REVEAL + "/" + name: data for name, data in pinned_reveal().items()}
        written |= {f"{cells[0].lab}.html": deck(cells, lacks).encode() for cells in labs}
    except LEFT_OUT as lack:
        lacks.append(lack)
        return []
    for name, data in written.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    return [out / name for name in written]


def deck(cells: Cells, lacks: list[Exception]) -> str:
    """A lab's slides as a page that loads reveal.js from the folder beside it.

    Raises MissingExtraError without nbconvert.
    """
    with needed_by("a deck"):
        from nbconvert.exporters import SlidesExporter
        from nbformat import v4
    template = files(__package__).joinpath("deck.html").read_text(encoding="utf-8")
    exporter = SlidesExporter(raw_template=template, reveal_url_prefix=REVEAL)
    style = f"{page_colors(':root', AUTO)} body {{ font-family: {FONT}; }}"
    notebook: Any = v4.new_notebook(metadata={"title": cells[0].heading, "style": style})
    for kind, text in slides(cells, lacks):
        about = {"slideshow": {"slide_type": kind}}
        notebook.cells.append(v4.new_markdown_cell(text, metadata=about))
    body: str = exporter.from_notebook_node(notebook)[0]
    return body


def slides(cells: Cells, lacks: list[Exception]) -> Iterator[tuple[str, str]]:
    """Jupyter's type of slide, and Markdown: of a comparison a slide for each run."""
    for cell, shown in marked(cells, SLIDE, lacks):
        if isinstance(shown, LabPicture):
            heads = titles([run.rows() for run in shown.runs]) if shown.runs[1:] else [""]
            each = [run.timeline() for run in shown.runs] if shown.runs[1:] else [shown]
            for head, picture in zip(heads, each, strict=True):
                yield cell.slide, _pictured(" · ".join(filter(None, [cell.heading, head])), picture)
            continue
        if isinstance(shown, Exercise):
            # In the order that a reader of the lab sees.
            choices = "".join(f"<li>{escape(choice)}</li>" for choice in shown.offered)
            said = f'**{shown.question}**\n\n<ol class="choices">{choices}</ol>'
        else:
            said = _NOT_SAID.sub("", shown)
        has_own = cell.slide == "-" or cell.source.startswith("#")
        heading = "" if has_own else f"## {cell.heading}\n\n"
        yield cell.slide, heading + _LINK.sub(r"\1", said)


def _pictured(heading: str, picture: LabPicture) -> str:
    drawings = (svg(painted(picture, theme), described=False) for theme in THEMES)
    light, dark = (f"data:image/svg+xml,{quote(drawing)}" for drawing in drawings)
    return (
        f'<h2>{escape(heading)}</h2><picture><source media="(prefers-color-scheme: dark)"'
        f' srcset="{dark}"><img src="{light}" alt="{escape(described(picture.drawing))}"></picture>'
    )


PaperCard = tuple[str, str]
"""What stands on a card: its letter or number, and Markdown."""


def write_card_sheet(out: Path, labs: list[Cells], lacks: list[Exception]) -> list[Path]:
    """Write ``cards.html`` to a folder: the cards of every lab that has some."""
    style = files(__package__).joinpath("cards.html").read_text(encoding="utf-8")
    sections = "".join(
        f'<section><h2>{escape(title)}</h2><ul class="cards">{shown}</ul></section>'
        for cells in labs
        for title, cards in card_sets(cells, lacks)
        for shown in ["".join(map(_card, cards))]
    )
    page = html_page("Cards to cut out", style + sections, theme="light", style="", width=760)
    (out / "cards.html").write_text(page, encoding="utf-8")
    return [out / "cards.html"]


def card_sets(cells: Cells, lacks: list[Exception]) -> list[tuple[str, list[PaperCard]]]:
    """The cards of a lab by the heading of their exercise."""
    sets = dict[str, list[PaperCard]]()
    for cell, shown in marked(cells, CARDS, lacks):
        cards = sets.setdefault(f"Lab {cell.lab}: {cell.heading}", [])
        if isinstance(shown, Exercise):
            label, _, text = shown.question.partition(" · ")
            cards.append((label, text))
        elif isinstance(shown, dict):
            cards += shown.items()
        else:
            cards += _rows([line for line in shown.splitlines() if line.startswith("|")])
            cards += [(n or letter, text) for n, letter, text in _ENTRY.findall(shown)]
    return [*sets.items()]


def _rows(lines: list[str]) -> list[PaperCard]:
    """The cards of tables; the heads of columns stand on each. Without heads two are in a row."""
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
    rules = {n for n, row in enumerate(rows) if {*"".join(row)} == {"-"}}
    cards, right, heads = list[PaperCard](), list[PaperCard](), list[str]()
    for n, (label, *row) in enumerate(rows):
        if n + 1 in rules:
            heads = row
        elif n in rules:
            continue
        elif any(heads) or not row[1:]:
            named = zip(heads, row, strict=True)
            parts = (f"{head}: {text}" if row[1:] and head else text for head, text in named)
            cards.append((label.replace("**", ""), "\n".join(parts)))
        else:
            cards.append((label, row[0]))
            right.append((row[1], row[2]))
    return cards + right


def _card(card: PaperCard) -> str:
    label, text = card
    is_long = len(text) > LONG or text.count("\n") > 2
    size = "worded" if len(label) > LABEL else "long" if is_long else ""
    return f'<li class="{size}"><strong>{_html(label)}</strong><p>{_html(text)}</p></li>'


def _html(text: str) -> str:
    text = _LINK.sub(r"\1", escape(text, quote=False))
    for pattern, element in _INLINE.items():
        text = re.sub(pattern, rf"<{element}>\1</{element}>", text)
    return text.replace("\n", "<br>")
