"""A question that is answered in sentences: they are kept with the rest of the work."""

from ...widgets.elements.kinds import TextArea
from ...widgets.elements.labelled import button, column, row, watch, words
from ...widgets.elements.surface import Surface
from ...widgets.markup import heading, note
from .. import attempts, work_on_disk
from ..exercise_table import WRITTEN, ExerciseIdError
from .prediction import WIDTH, QuestionPanel

ASKED_FOR = "Two or three sentences."


class WrittenAnswer(QuestionPanel):
    """The question `id` and room for an answer, kept when left. Without a browser: `write`."""

    def __init__(self, id: str) -> None:
        self.id, self.question = id, WRITTEN[id].question
        self.area = TextArea(description=ASKED_FOR, value=self.answer)
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
    if id not in WRITTEN:
        raise ExerciseIdError(
            f"nothing is to be written about {id!r}; there are {', '.join(WRITTEN)}"
        )
    return WrittenAnswer(id)
