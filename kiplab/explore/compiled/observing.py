"""What the observer makes of a step: engine/observer.py, for one partition and two properties."""

from .jit import inner
from .logs import end_of, holds, up_to
from .word_fields import Ints, get, has, incarnations_at, place_of_other, put
from .word_layout import (
    BIT,
    BROKEN,
    C_ISR,
    C_LEADER,
    COMMITTED,
    CONTROLLER,
    DAMAGED,
    EXCUSED,
    FENCED,
    FOUR,
    LIFE,
    LIVES,
    LOG,
    LOG_BITS,
    MARK,
    NOBODY,
    P_BROKERS,
    R_LIFE,
    R_MEMBERS,
    R_OBSERVED,
    R_SENDER,
    R_WIRE,
    THREE,
    TWO,
    UP,
)


@inner
def members_changed(words: Ints, asked: int) -> None:
    """Who is in the ISR, and in which incarnation each caught up; `asked` is the request, or 0."""
    isr = get(words, CONTROLLER, C_ISR, THREE)
    for broker in range(3):
        shift = LIVES + 3 * broker
        if not has(isr, broker):
            put(words, CONTROLLER, shift, THREE, 0)
        elif get(words, CONTROLLER, shift, THREE) == 0:
            incarnation = _asked_incarnation(asked, broker)
            if incarnation == 0:
                incarnation = get(words, LOG + broker, LIFE, THREE)
            put(words, CONTROLLER, shift, THREE, incarnation)


@inner
def _asked_incarnation(asked: int, broker: int) -> int:
    if asked == 0 or not has(asked >> R_MEMBERS, broker):
        return 0
    sender = (asked >> R_SENDER) & TWO
    if broker == sender:
        return (asked >> R_LIFE) & THREE
    at = place_of_other(sender, broker)
    fetched = incarnations_at(asked >> R_OBSERVED, at)
    return fetched if fetched != 0 else incarnations_at(asked >> R_WIRE, at)


@inner
def leader_elected(words: Ints) -> None:
    """A lone member that leads counts as the incarnation that it is registered in."""
    leader = get(words, CONTROLLER, C_LEADER, TWO)
    if leader != NOBODY and get(words, CONTROLLER, C_ISR, THREE) == 1 << leader:
        incarnation = get(words, LOG + leader, LIFE, THREE)
        put(words, CONTROLLER, LIVES, (1 << 9) - 1, incarnation << (3 * leader))


@inner
def mark_moved(words: Ints, leader: int) -> None:
    """A high watermark moved: what lies below it is committed."""
    mark = get(words, LOG + leader, MARK, FOUR)
    if mark > end_of(words[COMMITTED]):
        put(words, COMMITTED, 0, LOG_BITS, up_to(words[LOG + leader] & LOG_BITS, mark))


@inner
def has_committed(words: Ints, broker: int) -> bool:
    """Whether a log has every committed record."""
    return holds(words[LOG + broker] & LOG_BITS, words[COMMITTED] & LOG_BITS)


@inner
def _damage(words: Ints, crashed: int) -> None:
    isr, fenced = get(words, CONTROLLER, C_ISR, THREE), get(words, CONTROLLER, FENCED, THREE)
    damaged = isr & (get(words, COMMITTED, DAMAGED, THREE) | crashed)
    for broker in range(3):
        if not has(isr & ~damaged & ~fenced, broker) or get(words, LOG + broker, UP, BIT) == 1:
            continue
        if not has_committed(words, broker):
            damaged |= 1 << broker
    put(words, COMMITTED, DAMAGED, THREE, damaged)
    if isr != 0 and damaged == isr:
        put(words, COMMITTED, EXCUSED, BIT, 1)


@inner
def _takes_over(words: Ints, leader: int, out: Ints) -> None:
    if get(words, CONTROLLER, C_LEADER, TWO) != leader or has_committed(words, leader):
        return
    mine = words[LOG + leader] & LOG_BITS
    put(words, COMMITTED, 0, LOG_BITS, up_to(mine, get(words, LOG + leader, MARK, FOUR)))
    if out[BROKEN] == 0:
        out[BROKEN] = 1
    elif out[BROKEN] == 2:
        out[BROKEN] = 4


@inner
def observe(words: Ints, given: Ints, crashed: int, new_leader: int, out: Ints) -> None:
    """The end of a step: damage, a leader that takes over (or -1), who could be elected."""
    _damage(words, crashed)
    if new_leader >= 0:
        _takes_over(words, new_leader, out)
    electable = get(words, CONTROLLER, C_ISR, THREE) & ~get(words, CONTROLLER, FENCED, THREE)
    for broker in range(given[P_BROKERS]):
        if not has(electable, broker) or get(words, LOG + broker, UP, BIT) == 0:
            continue
        if not has_committed(words, broker):
            if out[BROKEN] == 0:
                out[BROKEN] = 2
            elif out[BROKEN] == 1:
                out[BROKEN] = 3
            return
