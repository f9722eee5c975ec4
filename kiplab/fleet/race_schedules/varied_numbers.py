"""Numbers that differ between the feature sets that share a run.

A follower whose leader knows its epoch, and one whose leader does not, mostly go the same way: the
number is kept and sent on, and seldom compared. A `VariedNumber` has the value of every set, and
answers every comparison as the first set would. If the answers of the sets differ, it notes them,
and the caller has to part the sets.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...protocol.ids import epoch_in_version, is_of_another_incarnation

_OF_ANYTHING = frozenset(dir(object)) - {
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__str__", "__repr__", "__format__"),
}
QUESTIONS = tuple(
    name
    for name, question in vars(int).items()
    if name.startswith("__") and name not in _OF_ANYTHING and callable(question)
)
"""What Python asks an int, in operators and by itself. A method with a name of its own is none: an
AttributeError says that nobody has thought of it."""


class Asking:
    """Which sets are asked now, by their numbers, and their answers wherever these differ."""

    __slots__ = ("members", "parted")

    def __init__(self) -> None:
        self.members: tuple[int, ...] = ()
        self.parted: list[tuple[Any, ...]] = []

    def answer(self, answers: tuple[Any, ...]) -> Any:
        """The first of the answers, which are in the order of the members."""
        first = answers[0]
        if answers.count(first) != len(answers):
            self.parted.append(answers)
        return first


class VariedNumber:
    """One whole number for each set, by the number of the set; not the same one for all.

    It can be asked whatever Python asks an int. It cannot be hashed: a hash is kept, and would
    answer for another set later.
    """

    __slots__ = ("asking", "values")

    def __init__(self, asking: Asking, values: Mapping[int, int]) -> None:
        self.asking, self.values = asking, values

    def __hash__(self) -> int:
        """Raises TypeError: a caller that needs one needs a way that parts the sets."""
        raise TypeError("a number that is not the same in all sets has no hash for all of them")


def _question(name: str) -> Callable[..., Any]:
    of_int = getattr(int, name)

    def ask(self: VariedNumber, *others: Any) -> Any:
        asking, values = self.asking, self.values
        if any(type(other) is VariedNumber for other in others):
            answers = [
                of_int(values[m], *(number_of(other, m) for other in others))
                for m in asking.members
            ]
        else:
            answers = [of_int(values[m], *others) for m in asking.members]
        return asking.answer(tuple(answers))

    return ask


for _name in QUESTIONS:
    setattr(VariedNumber, _name, _question(_name))


def number_of(number: Any, member: int) -> Any:
    """What a number, varied or not, is for one set."""
    return number.values[member] if type(number) is VariedNumber else number


def joined(
    asking: Asking, parts: Iterable[tuple[int | VariedNumber, tuple[int, ...]]]
) -> int | VariedNumber:
    """One number from those of several groups of sets; a plain one if all have the same."""
    return _together(asking, {m: number_of(n, m) for n, members in parts for m in members})


def _together(asking: Asking, values: dict[int, int]) -> int | VariedNumber:
    distinct = set(values.values())
    return VariedNumber(asking, values) if len(distinct) > 1 else distinct.pop()


@epoch_in_version.register
def _told_since(version: VariedNumber, first: int, epoch: Any) -> Any:
    asking, of_each = version.asking, version.values
    return _together(
        asking,
        {m: epoch_in_version(of_each[m], first, number_of(epoch, m)) for m in asking.members},
    )


@is_of_another_incarnation.register
def _is_of_another_incarnation(epoch: VariedNumber, registered: Any) -> bool:
    asking = epoch.asking
    answers = (
        is_of_another_incarnation(epoch.values[m], number_of(registered, m)) for m in asking.members
    )
    answer: bool = asking.answer(tuple(answers))
    return answer
