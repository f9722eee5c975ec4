"""What a student writes in words of their own: the name, asked once, and answers in sentences."""

from ...widgets.elements.kinds import TextArea
from ...widgets.elements.labelled import button, column, line, row, watch, words
from ...widgets.elements.surface import Surface
from ...widgets.markup import heading, note
from .. import attempts, class_file, work_on_disk
from ..exercise_table import WRITTEN, ExerciseIdError
from .prediction import WIDTH, QuestionPanel

ASKED = "Your name or number, for your instructor (may stay empty)"
IN_WORDS = f'{ASKED}: kiplab.my_work(student="...")'
NAME_MAX = 100
"""So many characters of a name are kept."""
_NEW_NUMBERS = "Kept. Your exercises have numbers of their own now: run their cells again."


class NameForm:
    """`column` asks for the name once; then a button offers to correct it, while one may."""

    def __init__(self) -> None:
        self.line = line(ASKED, "")
        self.line.layout.max_width = "640px"
        self.keep_button = button("Keep", self._keep, "Keep this name with your work")
        self.change_button = button("Change my name", self._change, "Correct what was written")
        self.state = words()
        self.column = column([], max_width=WIDTH, padding="0 0 6px")
        self.renew()

    def renew(self) -> None:
        """Show what is to be asked now."""
        work = work_on_disk.read()
        asked = [self.line, self.keep_button] if work.student is None else [self.change_button]
        controls = [] if is_settled(work) else [row(asked)]
        self.column.children = (*controls, self.state)

    def _change(self) -> None:
        self.line.value = work_on_disk.read().student or ""
        self.column.children = (row([self.line, self.keep_button]), self.state)

    def _keep(self) -> None:
        before, problem = attempts.current_seed(), keep_name(self.line.value)
        new = "" if attempts.current_seed() == before else _NEW_NUMBERS
        self.state.value = note(problem or new, alarm=bool(problem))
        self.renew()


def is_settled(work: work_on_disk.Work) -> bool:
    """Whether the name stays as it is: it was given, and an exercise of the class is answered."""
    here = class_file.current()
    return here is not None and work.student is not None and here.has_begun(work)


def keep_name(student: str | None) -> str:
    """Keep the name; returns what stands in the way, empty for nothing."""
    work, name = work_on_disk.read(), " ".join((student or "").split())[:NAME_MAX]
    if student is None or name == work.student:
        return ""
    if is_settled(work):
        return f"Your name stays “{work.student}”: you have answered exercises under it."
    try:
        work_on_disk.introduce(name)
    except OSError as problem:
        return f"It cannot be {work_on_disk.nowhere(problem)}. {work_on_disk.remedy()}"
    attempts.answered("")
    return ""


class WrittenAnswer(QuestionPanel):
    """The question `id` and room for an answer, kept when left. Without a browser: `write`."""

    def __init__(self, id: str) -> None:
        self.id, self.question = id, WRITTEN[id].question
        self.area = TextArea(description="Two or three sentences.", value=self.answer)
        watch(self.area, "value", self.write)
        keep = button("Keep", lambda: self.write(self.area.value), "Keep what is written here")
        self.state = words()
        parts = [words(heading(self.question)), self.area, row([keep]), self.state]
        self.box = Surface(column(parts, max_width=WIDTH))
        self._say()

    @property
    def answer(self) -> str:
        """What is kept; empty for nothing yet."""
        return work_on_disk.read().written.get(self.id, "")

    def write(self, text: str) -> None:
        """Keep `text` as the answer. What stands in the way is said."""
        try:
            work_on_disk.write(self.id, text[: work_on_disk.WRITTEN_MAX])
        except OSError as problem:
            lost = f"This cannot be {work_on_disk.nowhere(problem)}. {work_on_disk.remedy()}"
            self.state.value = note(lost, alarm=True)
        else:
            self._say()
        attempts.answered(self.id)

    def _say(self) -> None:
        length = len(self.answer.split())
        self.state.value = note(f"Kept: {length} word{'s' * (length != 1)}." if length else "")

    def __repr__(self) -> str:
        return f"{self.question}\n{self.answer or 'Nothing is written yet.'}"


def write(id: str) -> WrittenAnswer:
    """Ask the question `id`, to be answered in sentences. Raises ExerciseIdError for no such id."""
    if id in WRITTEN:
        return WrittenAnswer(id)
    raise ExerciseIdError(f"nothing is to be written about {id!r}; there are {', '.join(WRITTEN)}")
