"""An ISR in one number: a digit of three bits per member (1 is replica 0), in Kafka's order."""

from .machine_code import inner


@inner
def contains(isr: int, replica: int) -> bool:
    """Whether a replica is in it."""
    while isr:
        if (isr & 7) == replica + 1:
            return True
        isr >>= 3
    return False


@inner
def size(isr: int) -> int:
    """How many members there are."""
    members = 0
    while isr:
        members += 1
        isr >>= 3
    return members


@inner
def with_member(isr: int, replica: int) -> int:
    """One member more, at the end."""
    return isr | (replica + 1) << (3 * size(isr))


@inner
def without(isr: int, replica: int) -> int:
    """One member less; the others stay in their order."""
    left, place = 0, 0
    while isr:
        if (isr & 7) != replica + 1:
            left |= (isr & 7) << place
            place += 3
        isr >>= 3
    return left


@inner
def is_within(isr: int, other: int) -> bool:
    """Whether every member of `isr` is one of `other`."""
    while isr:
        if not contains(other, (isr & 7) - 1):
            return False
        isr >>= 3
    return True


def digits(members: tuple[int, ...]) -> int:
    """The number of these members, counted from 0."""
    return sum((member + 1) << (3 * place) for place, member in enumerate(members))


def members_of(isr: int) -> tuple[int, ...]:
    """The members in their order, counted from 0."""
    members = []
    while isr:
        members.append((isr & 7) - 1)
        isr >>= 3
    return tuple(members)
