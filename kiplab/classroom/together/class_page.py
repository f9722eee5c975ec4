"""A class's answers to be shown to it: real tables, in each row a bar as long as its number.

A click opens the right choice, question by question, and the ideas behind wrong answers, lab by
lab: the class sees the page before the discussion. It is one file, which needs no network and runs
no script.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template

from ...figures.drawing.theme import FONT
from ...pages.page_files import page_colors
from ...rows.columns import plural
from ...rows.sentences import html_table
from . import class_text
from .class_counts import ChoiceCount, ClassCounts, ExerciseCount, PredictionCount
from .handed_in import LeftOut

_IN_NOTEBOOK = (
    ".kiplab-class { --kiplab-text: var(--jp-ui-font-color1, currentColor);"
    " --kiplab-muted: var(--jp-ui-font-color2, currentColor);"
    " --kiplab-line: var(--jp-border-color1, #8b949c);"
    " --kiplab-accent: #0072b2; max-width: 844px; font-size: 14px; }"
)
"""A notebook has colours of its own; the blue can be seen on any paper."""
TITLE = "What the class answered"
NAMES_MAX = 20
"""Names in a row that are shown without a click."""


def class_page(counts: ClassCounts, left_out: Sequence[LeftOut], *, names: bool, theme: str) -> str:
    """The whole page as HTML. Raises ValueError for a theme that there is none of."""
    return page_of_class(TITLE, _body(counts, left_out, names), theme)


def page_of_class(title: str, body: str, theme: str) -> str:
    """A page about a class; `body` is HTML. Raises ValueError for a theme that there is none of."""
    page = Template(files(__package__).joinpath("class.html").read_text(encoding="utf-8"))
    colors = {"colors": page_colors(":root", theme), "printed": page_colors(":root", "light")}
    return page.substitute(title=title, font=FONT, style=_style(), body=body, **colors)


def class_fragment(counts: ClassCounts, left_out: Sequence[LeftOut], *, names: bool) -> str:
    """The same for a notebook, in the colours that it has."""
    style = f"<style>{_IN_NOTEBOOK}\n{_style()}</style>"
    return f'<div class="kiplab-class">{style}{_body(counts, left_out, names)}</div>'


def _style() -> str:
    return files(__package__).joinpath("class.css").read_text(encoding="utf-8").strip()


def _body(counts: ClassCounts, left_out: Sequence[LeftOut], names: bool) -> str:
    parts = [f"<p>{escape(class_text.summary(counts))}</p>"]
    parts += [_muted(text) for text in class_text.not_counted(left_out, names=names)]
    parts += [_lab(counts, lab, names) for lab in counts.labs()]
    return "\n".join(parts)


def _lab(counts: ClassCounts, lab: str, names: bool) -> str:
    predictions, exercises = counts.of_lab(lab)
    parts = [f"<h2>{escape(class_text.heading_of(lab))}</h2>"]
    parts += [_prediction(p, counts.students, names) for p in predictions if p.answered]
    parts += _exercises([e for e in exercises if e.tried], counts.students, names)
    parts.append(_muted(class_text.nobody_yet(predictions, exercises)))
    return f"<section>{''.join(parts)}</section>"


def _prediction(entry: PredictionCount, students: int, names: bool) -> str:
    rows = "".join(_choice(choice, entry.answered, names) for choice in entry.choices)
    caption = f"{entry.answered} of {plural(students, 'student')} locked a choice in"
    return (
        f"<article><h3>{escape(entry.title)}</h3><p>{escape(entry.question)}</p>"
        f"{html_table(caption, ('choice', 'students'), rows)}{_comes_true(entry)}</article>"
    )


def _choice(choice: ChoiceCount, answered: int, names: bool) -> str:
    letter = f"<b>{choice.letter}</b>&ensp;" if choice.letter else ""
    text = f"{letter}{escape(choice.choice)}{'' if letter else _ANOTHER}"
    drawn = bar((choice.students, answered))
    return _row(f"{text}{drawn}{_who(choice.who, names)}", (choice.students,))


_ANOTHER = ' <span class="who">not among the choices of this kiplab\'s lab</span>'


def _comes_true(entry: PredictionCount) -> str:
    """The answer, behind a click; empty where it is unknown."""
    if entry.right is None:
        return ""
    text = f"{escape(entry.right.choice)} ({entry.right.students} of {entry.answered})"
    return (
        "<details><summary>Which one comes true?</summary>"
        f"<p><b>{entry.right.letter}</b>&ensp;{text}</p></details>"
    )


def _exercises(exercises: list[ExerciseCount], students: int, names: bool) -> Iterator[str]:
    if not exercises:
        return
    rows = "".join(_exercise(entry, students, names) for entry in exercises)
    whole = plural(students, "student")
    caption = f"Of {whole}: outlined those who tried, filled who solved it"
    heads = ("exercise", "tried", "solved", "at once", "attempts")
    yield f"<article><h3>Exercises</h3>{html_table(caption, heads, rows)}</article>"
    yield _ideas(exercises, names)
    yield _muted(class_text.unexplained(exercises))


def _ideas(exercises: list[ExerciseCount], names: bool) -> str:
    """Behind a click as well: an idea behind a wrong answer may be a choice of a prediction."""
    ideas = [
        _row(
            f"{escape(idea.misconception)}{bar((idea.first, entry.tried))}"
            f"{small(entry.title)}{_who(idea.who, names)}",
            (idea.first, idea.ever),
        )
        for idea, entry in class_text.most_frequent(exercises)
    ]
    if not ideas:
        return ""
    caption = "Students who had the idea at their first attempt, and at any attempt"
    table = html_table(caption, ("idea", "first", "any"), "".join(ideas))
    count = plural(len(ideas), "idea")
    return (
        '<article><h3>Ideas behind wrong answers</h3><details class="ideas">'
        f"<summary>Show {count}</summary>{table}</details></article>"
    )


def _exercise(entry: ExerciseCount, students: int, names: bool) -> str:
    drawn = bar((entry.tried, students, "open"), (entry.solved, students))
    who = _who(entry.unsolved, names, "not solved yet: ")
    numbers = (entry.tried, entry.solved, entry.at_once, entry.attempts)
    return _row(f"{escape(entry.title)}{drawn}{who}", numbers)


def _row(head: str, numbers: Iterable[int]) -> str:
    """A row; its first number is the one that its bar shows."""
    first, *others = (str(number) for number in numbers)
    cells = f'<td class="many">{first}</td>' + "".join(f"<td>{text}</td>" for text in others)
    return f'<tr><th scope="row">{head}</th>{cells}</tr>'


def bar(*parts: tuple[int, int] | tuple[int, int, str]) -> str:
    """(how many, of how many, look) of each part, from the left. The numbers stand beside it."""
    drawn = "".join(
        f'<i class="{str(*look)}" style="width:{100 * count / of:.4g}%"></i>'
        for count, of, *look in parts
        if count
    )
    return f'<span class="bar" aria-hidden="true">{drawn}</span>'


def _who(who: Sequence[str], names: bool, before: str = "") -> str:
    """Names, if they are asked for; folded where they are too many for a glance."""
    if not (names and who):
        return ""
    text = escape(before + ", ".join(who))
    if len(who) <= NAMES_MAX:
        return small(before + ", ".join(who))
    head = f"{before}{plural(len(who), 'student')}"
    return f'<details class="who"><summary>{head}</summary>{text}</details>'


def small(text: str) -> str:
    """A remark below what it is about, as HTML."""
    return f'<span class="who">{escape(text)}</span>'


def _muted(text: str) -> str:
    return f'<p class="muted">{escape(text)}</p>' if text else ""
