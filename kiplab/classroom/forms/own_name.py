"""The name, asked once: a form of `my_work()`, and of a lab's stations in a class."""

from ...widgets.elements.labelled import button, column, line, row, words
from ...widgets.markup import note
from .. import attempts, class_file, work_on_disk
from .prediction import WIDTH

ASKED = "Your name or number, for your instructor (may stay empty)"
IN_WORDS = f'{ASKED}: kiplab.my_work(student="...")'
NAME_MAX = 100
"""So many characters of a name are kept."""
_NEW_NUMBERS = (
    "Kept. Your exercises have numbers of their own now: cells below that you have run already show"
    " those of others. Run them again."
)
_EVENT = "student"
"""What is answered when a name is kept; no question has this id."""


class NameForm:
    """`column` asks for the name while nobody has; later a button offers to correct it, until an
    exercise of the class is answered: then the name may have made its numbers.
    """

    def __init__(self) -> None:
        self.line = line(ASKED, "")
        self.line.layout.max_width = "640px"
        self.keep_button = button("Keep", self._keep, "Keep this name with your work")
        self.change_button = button("Change my name", self._change, "Correct what was written")
        self.said = words()
        self.column = column([], max_width=WIDTH)
        self._again = False
        # One who gave a name before there was a class joins it now.
        if student := work_on_disk.read().student:
            keep_name(student)
        self.renew()

    def renew(self) -> None:
        """Show what is to be asked now."""
        work = work_on_disk.read()
        is_asked = work.student is None or self._again
        controls = [self.line, self.keep_button] if is_asked else [self.change_button]
        parts = [] if is_settled(work) else [row(controls)]
        self.column.children = (*parts, *[self.said] * bool(self.said.value))

    def _change(self) -> None:
        self.line.value, self._again = work_on_disk.read().student or "", True
        self.renew()

    def _keep(self) -> None:
        before = work_on_disk.read().seed
        problem = keep_name(self.line.value)
        self._again = bool(problem)
        new = "" if work_on_disk.read().seed == before else _NEW_NUMBERS
        self.said.value = note(problem or new, alarm=bool(problem))
        self.renew()


def is_settled(work: work_on_disk.Work) -> bool:
    """Whether the name stays as it is: it was given, and an exercise of the class is answered."""
    here = class_file.current()
    return here is not None and work.student is not None and here.has_begun(work)


def keep_name(student: str) -> str:
    """Keep the name, and in a class the seed of its numbers; returns what stands in the way."""
    work, here = work_on_disk.read(), class_file.current()
    name = " ".join(student.split())[:NAME_MAX]
    seed = here.seed_for(work, name) if here else work.seed
    if (name, seed) == (work.student, work.seed):
        return ""
    if name != work.student and is_settled(work):
        why = "you have answered exercises under it. If it is wrong, tell your instructor."
        return f"Your name stays “{work.student}”: {why}"
    try:
        work_on_disk.introduce(name, seed)
    except OSError as problem:
        return f"It cannot be {work_on_disk.nowhere(problem)}. {work_on_disk.remedy()}"
    attempts.answered(_EVENT)
    return ""
