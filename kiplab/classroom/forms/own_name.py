"""The name, asked once: a form of `my_work()`, and of a lab's stations in a class."""

from ...widgets.elements.labelled import button, column, line, row, words
from ...widgets.markup import note
from .. import attempts, class_file, work_on_disk
from .prediction import WIDTH

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
