"""The name, asked once: a form of `my_work()`, and of a lab's stations in a class."""

from contextlib import suppress

from ...widgets.elements.labelled import button, column, line, row, words
from ...widgets.markup import muted, note
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
        self.renew()

    def renew(self) -> None:
        """Show what is to be asked now."""
        work = work_on_disk.read()
        asks = work.student is None or (self._again and not is_settled(work))
        offered = [] if asks or is_settled(work) else [row([self.change_button])]
        asked = [row([self.line, self.keep_button])]
        parts = [*(asked if asks else offered), *[self.said] * bool(self.said.value)]
        self.column.children = tuple(parts)

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
    """Keep the name, and the seed of its numbers in a class; returns what stands in the way."""
    work, name = work_on_disk.read(), " ".join(student.split())[:NAME_MAX]
    if name == work.student:
        return ""
    if is_settled(work):
        return (
            f"Your name stays “{work.student}”: you have answered exercises under it. Tell your"
            " instructor if it is wrong."
        )
    here = class_file.current()
    try:
        work_on_disk.introduce(name, here.seed_for(work, name) if here else "")
    except OSError as problem:
        return f"It cannot be {work_on_disk.nowhere(problem)}. {work_on_disk.remedy()}"
    attempts.answered(_EVENT)
    return ""


def join_class() -> None:
    """Keep the seed of one who gave a name before there was a class."""
    work, here = work_on_disk.read(), class_file.current()
    if here and work.student and not work.seed and (seed := here.seed_for(work, work.student)):
        with suppress(OSError):
            work_on_disk.introduce(work.student, seed)


def class_words(lab: str = "") -> str:
    """The class, its student, and until when a lab is to be done; empty without a class."""
    here = class_file.current()
    if here is None:
        return ""
    deadline = here.deadline_of(lab) if here.has(lab) else None
    until = f"deadline {class_file.told(deadline)}" if deadline else ""
    student = work_on_disk.read().student or ""
    return " · ".join(filter(None, [here.title or here.code, until, student]))


def class_lines(lab: str = "") -> str:
    """The same as HTML, and what is wrong with the class's file."""
    said, (_, problem) = class_words(lab), class_file.looked_up()
    return (muted(said) if said else "") + note(problem, alarm=True)
