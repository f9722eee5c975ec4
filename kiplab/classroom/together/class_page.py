"""The counts of a class, as text for a terminal; and as a page to be shown to it: real tables, in
each row a bar as long as its number.

On the page a click opens the right choice, question by question, and the ideas behind wrong
answers, lab by lab: the class sees the page before the discussion. It is one file, which needs no
network and runs no script.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template
from textwrap import wrap

from ...figures.drawing.theme import FONT
from ...pages.page_files import page_colors
from ...rows.columns import plural
from ...rows.sentences import html_table
from ..exercises.check_result import LINE
from . import class_counts
from .class_counts import OTHER_LAB, ChoiceCount, ClassCounts, ExerciseCount, PredictionCount
from .handed_in import LeftOut

BAR = 24
"""Characters of the bar of a whole class."""
_EXERCISE = "  {:<46}{:>9}{:>9}{:>9}{:>9}"
_HEADS = ("exercise", "tried", "solved", "at once", "attempts")


def class_text(counts: ClassCounts, left_out: Sequence[LeftOut], *, names: bool) -> str:
    """A table per lab: each prediction's choices, each exercise, the ideas behind wrong answers.

    Which choice comes true is not in it: it may be seen before the discussion.
    """
    lines = [*wrap(summary(counts), LINE)]
    for sentence in not_counted(left_out, names=names):
        lines += wrap(sentence, LINE, subsequent_indent="  ")
    for lab in counts.labs():
        predictions, exercises = counts.of_lab(lab)
        lines += ["", heading_of(lab)]
        for prediction in predictions:
            lines += _prediction_lines(prediction, counts.students, names)
        lines += _exercise_lines([e for e in exercises if e.tried], names)
        for asked in (w for w in counts.written if w.lab == lab and w.answered):
            lines += _written_lines(asked, counts.students, names)
        left = nobody_yet(predictions, exercises)
        lines += [f"  {line}" for line in wrap(left, LINE - 2)]
    return "\n".join(lines) + "\n"


def summary(counts: ClassCounts) -> str:
    """How many students, and the labs that none of them has begun."""
    sentence = f"{plural(counts.students, 'student')}."
    untouched = counts.untouched()
    if untouched:
        sentence += f" Nothing yet from lab{'s' * (len(untouched) > 1)} {', '.join(untouched)}."
    return sentence


def not_counted(left_out: Sequence[LeftOut], *, names: bool) -> list[str]:
    """What is left out, a line each; their number alone without names: a file's is a student's."""
    if names:
        return [f"Not counted: {left.file}: {left.why}" for left in left_out]
    return [f"Not counted, or not wholly: {plural(len(left_out), 'file')}."] if left_out else []


def heading_of(lab: str) -> str:
    return "Asked in no lab of this kiplab" if lab == OTHER_LAB else f"Lab {lab}"


def nobody_yet(predictions: Iterable[PredictionCount], exercises: Iterable[ExerciseCount]) -> str:
    """Those without any answer, as a sentence; empty if there are none."""
    titles = [p.title for p in predictions if not p.answered]
    titles += [e.title for e in exercises if not e.tried]
    return f"Nobody has answered yet: {'; '.join(titles)}." if titles else ""


def most_frequent(
    exercises: Iterable[ExerciseCount],
) -> list[tuple[class_counts.MisconceptionCount, ExerciseCount]]:
    """The ideas behind wrong answers to these, with the exercise, the most frequent in front."""
    listed = [(idea, entry) for entry in exercises for idea in entry.misconceptions]
    return sorted(listed, key=lambda pair: (-pair[0].first, -pair[0].ever))


def unexplained(exercises: Iterable[ExerciseCount]) -> str:
    """How many first attempts were wrong without a known idea behind them; empty if none was."""
    listed = [f"{e.title} ({e.unexplained})" for e in exercises if e.unexplained]
    return f"Wrong at first, with no known idea behind it: {'; '.join(listed)}." if listed else ""


def _prediction_lines(entry: PredictionCount, students: int, names: bool) -> Iterator[str]:
    if not entry.answered:
        return
    yield ""
    yield f"  {entry.title}: {entry.answered} of {students} have locked a choice in"
    yield from (f"  {line}" for line in wrap(entry.question, LINE - 2))
    for choice in entry.choices:
        drawn = "█" * round(BAR * choice.students / entry.answered)
        first, *more = wrap(choice.choice, LINE - BAR - 14) or [""]
        yield f"    {choice.letter or '-':2}{choice.students:4}  {drawn:<{BAR}}  {first}"
        yield from (f"{'':{BAR + 14}}{line}" for line in more)
        if names and choice.who:
            yield from _who_lines(choice.who)


def _written_lines(asked: class_counts.WrittenCount, students: int, names: bool) -> Iterator[str]:
    """How many have written, and what, where names are shown: their own words are not anonymous."""
    yield ""
    head = f"To discuss: {asked.question} {asked.answered} of {students} have written."
    yield from (f"  {line}" for line in wrap(head, LINE - 2))
    for name, text in asked.who.items() if names else ():
        yield from wrap(f"{name}: {text}", LINE, initial_indent="    ", subsequent_indent="      ")


def _exercise_lines(exercises: list[ExerciseCount], names: bool) -> Iterator[str]:
    if not exercises:
        return
    yield ""
    yield _EXERCISE.format(*_HEADS)
    for entry in exercises:
        title = entry.title if len(entry.title) <= 46 else f"{entry.title[:45]}…"
        counts = (entry.tried, entry.solved, entry.at_once, entry.attempts)
        yield _EXERCISE.format(title, *counts)
        if names and entry.unsolved:
            yield from _who_lines(("not solved yet:", ", ".join(entry.unsolved)), " ")
    yield from _idea_lines(exercises, names)


def _idea_lines(exercises: list[ExerciseCount], names: bool) -> Iterator[str]:
    listed = most_frequent(exercises)
    sentence = unexplained(exercises)
    if listed or sentence:
        yield ""
        yield "  Ideas behind wrong answers: students who had them at first, and at any attempt"
    for idea, entry in listed:
        first, *more = wrap(f"{idea.misconception} ({entry.title})", LINE - 16)
        yield f"  {idea.first:6}{idea.ever:6}  {first}"
        yield from (f"{'':16}{line}" for line in more)
        if names and idea.who:
            yield from _who_lines(idea.who)
    yield from (f"  {line}" for line in wrap(sentence, LINE - 2))


def _who_lines(names: Iterable[str], between: str = ", ") -> list[str]:
    return [f"{'':16}{line}" for line in wrap(between.join(names), LINE - 16)]


# --- the page -------------------------------------------------------------------------------------


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
    parts = [f"<p>{escape(summary(counts))}</p>"]
    parts += [_muted(text) for text in not_counted(left_out, names=names)]
    parts += [_lab(counts, lab, names) for lab in counts.labs()]
    return "\n".join(parts)


def _lab(counts: ClassCounts, lab: str, names: bool) -> str:
    predictions, exercises = counts.of_lab(lab)
    parts = [f"<h2>{escape(heading_of(lab))}</h2>"]
    parts += [_prediction(p, counts.students, names) for p in predictions if p.answered]
    parts += _exercises([e for e in exercises if e.tried], counts.students, names)
    parts.append(_muted(nobody_yet(predictions, exercises)))
    return f"<section>{''.join(parts)}</section>"


def _prediction(entry: PredictionCount, students: int, names: bool) -> str:
    rows = "".join(_choice(choice, entry.answered, names) for choice in entry.choices)
    caption = f"{entry.answered} of {plural(students, 'student')} locked a choice in"
    return (
        f"<article><h3>{escape(entry.title)}</h3><p>{escape(entry.question)}</p>"
        f"{html_table(caption, ('choice', 'students'), rows)}{_comes_true(entry)}</article>"
    )


def _choice(choice: ChoiceCount, answered: int, names: bool) -> str:
    text, drawn = escape(choice.choice), bar((choice.students, answered))
    another = ' <span class="who">not among the choices of this kiplab\'s lab</span>'
    text = f"<b>{choice.letter}</b>&ensp;{text}" if choice.letter else f"{text}{another}"
    return _row(f"{text}{drawn}{_who(choice.who, names)}", (choice.students,))


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
    rows = ""
    for entry in exercises:
        drawn = bar((entry.tried, students, "open"), (entry.solved, students))
        who = _who(entry.unsolved, names, "not solved yet: ")
        numbers = (entry.tried, entry.solved, entry.at_once, entry.attempts)
        rows += _row(f"{escape(entry.title)}{drawn}{who}", numbers)
    whole = plural(students, "student")
    caption = f"Of {whole}: outlined those who tried, filled who solved it"
    yield f"<article><h3>Exercises</h3>{html_table(caption, _HEADS, rows)}</article>"
    yield _ideas(exercises, names)
    yield _muted(unexplained(exercises))


def _ideas(exercises: list[ExerciseCount], names: bool) -> str:
    """Behind a click as well: an idea behind a wrong answer may be a choice of a prediction."""
    ideas = []
    for idea, entry in most_frequent(exercises):
        head = f"{escape(idea.misconception)}{bar((idea.first, entry.tried))}{small(entry.title)}"
        ideas.append(_row(f"{head}{_who(idea.who, names)}", (idea.first, idea.ever)))
    if not ideas:
        return ""
    caption = "Students who had the idea at their first attempt, and at any attempt"
    table = html_table(caption, ("idea", "first", "any"), "".join(ideas))
    count = plural(len(ideas), "idea")
    return (
        '<article><h3>Ideas behind wrong answers</h3><details class="ideas">'
        f"<summary>Show {count}</summary>{table}</details></article>"
    )


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
