"""The controller: protocol/kraft, as far as this level goes."""

from .jit import inner
from .observing import leader_elected, members_changed
from .word_fields import Ints, get, has, incarnations_at, place_of_other, put
from .word_layout import (
    ALTER_SAYS_LIVES,
    C_EPOCH,
    C_ISR,
    C_LEADER,
    C_PARTITION_EPOCH,
    CONTROLLER,
    CONTROLLER_CHECKS_EPOCH,
    EMPTY_BUMPS,
    FENCED,
    FIRED,
    FOUR,
    LEADER_EPOCH,
    LEADER_IN_ISR,
    LIFE,
    LOG,
    MOST_EPOCH,
    NOBODY,
    NOT_FENCED,
    OVERFLOW,
    P_BROKERS,
    P_ORDER,
    P_RULES,
    R_EPOCH,
    R_LIFE,
    R_MEMBERS,
    R_PARTITION_EPOCH,
    R_SENDER,
    R_WIRE,
    REQUEST_EPOCH,
    SAME_PARTITION_EPOCH,
    SENDER_LEADS,
    SHRINK_KEEPS,
    THREE,
    TWO,
)

ACCEPTED, REVERTED, WAITING = 0, 1, 2
"""What the leader makes of the answer to its AlterPartition."""


@inner
def _elected(words: Ints, given: Ints, isr: int, acceptable: int) -> int:
    """elect: the sitting leader if it may, else the first replica that may."""
    valid = isr & acceptable
    leader = get(words, CONTROLLER, C_LEADER, TWO)
    if leader != NOBODY and has(valid, leader):
        return leader
    for number in range(given[P_BROKERS]):
        if has(valid, given[P_ORDER + number]):
            return int(given[P_ORDER + number])
    return NOBODY


@inner
def raised(words: Ints, shift: int, out: Ints) -> None:
    """One epoch more."""
    epoch = get(words, CONTROLLER, shift, FOUR)
    if epoch == MOST_EPOCH:
        out[OVERFLOW] = 1
    else:
        put(words, CONTROLLER, shift, FOUR, epoch + 1)


@inner
def change(words: Ints, given: Ints, goal: int, acceptable: int, asked: int, out: Ints) -> int:
    """build and merge: the partition with the ISR `goal`. `asked` is the request, or 0.

    Returns the leader that the record names, -1 if it names none.
    """
    held, leader = get(words, CONTROLLER, C_ISR, THREE), get(words, CONTROLLER, C_LEADER, TWO)
    elected = _elected(words, given, goal, acceptable)
    isr = goal if goal != 0 else held
    named = elected != leader
    if not named and given[P_RULES] & SHRINK_KEEPS == 0:
        decides = goal if given[P_RULES] & EMPTY_BUMPS != 0 else isr
        named = held & ~decides != 0
    if not named and isr == held:
        return -1
    put(words, CONTROLLER, C_ISR, THREE, isr)
    raised(words, C_PARTITION_EPOCH, out)
    if named:
        put(words, CONTROLLER, C_LEADER, TWO, elected)
        raised(words, C_EPOCH, out)
    if isr != held:
        members_changed(words, asked)
    if not named:
        return -1
    leader_elected(words)
    return elected


@inner
def fence(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    """expire_session: out of the ISR first, then fenced."""
    isr, fenced = get(words, CONTROLLER, C_ISR, THREE), get(words, CONTROLLER, FENCED, THREE)
    member = 1 << broker
    if has(isr, broker):
        change(words, given, isr & ~member, THREE & ~fenced & ~member, 0, out)
    put(words, CONTROLLER, FENCED, THREE, fenced | member)


@inner
def unfence(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    """The heartbeat that unfences: a partition without a leader is looked at again."""
    fenced = get(words, CONTROLLER, FENCED, THREE) & ~(1 << broker)
    put(words, CONTROLLER, FENCED, THREE, fenced)
    if get(words, CONTROLLER, C_LEADER, TWO) == NOBODY:
        isr = get(words, CONTROLLER, C_ISR, THREE)
        change(words, given, isr, THREE & ~fenced, 0, out)


@inner
def _refusing(words: Ints, given: Ints, asked: int) -> int:
    """The first guard that refuses an AlterPartition request, 0 if none does."""
    rules = given[P_RULES]
    sender, incarnation = (asked >> R_SENDER) & TWO, (asked >> R_LIFE) & THREE
    if rules & REQUEST_EPOCH != 0 and get(words, LOG + sender, LIFE, THREE) != incarnation:
        return REQUEST_EPOCH
    epoch = (asked >> R_EPOCH) & FOUR
    if rules & LEADER_EPOCH != 0 and epoch != get(words, CONTROLLER, C_EPOCH, FOUR):
        return LEADER_EPOCH
    if rules & SENDER_LEADS != 0 and sender != get(words, CONTROLLER, C_LEADER, TWO):
        return SENDER_LEADS
    version = (asked >> R_PARTITION_EPOCH) & FOUR
    held = get(words, CONTROLLER, C_PARTITION_EPOCH, FOUR)
    if rules & SAME_PARTITION_EPOCH != 0 and version != held:
        return SAME_PARTITION_EPOCH
    if rules & LEADER_IN_ISR != 0 and not has(asked >> R_MEMBERS, sender):
        return LEADER_IN_ISR
    return _ineligible(words, given, asked)


@inner
def _ineligible(words: Ints, given: Ints, asked: int) -> int:
    rules, fenced = given[P_RULES], get(words, CONTROLLER, FENCED, THREE)
    sender = (asked >> R_SENDER) & TWO
    for broker in range(given[P_BROKERS]):
        if not has(asked >> R_MEMBERS, broker):
            continue
        if rules & NOT_FENCED != 0 and has(fenced, broker):
            return NOT_FENCED
        if broker == sender:
            wire = (asked >> R_LIFE) & THREE
        else:
            wire = incarnations_at(asked >> R_WIRE, place_of_other(sender, broker))
        if rules & CONTROLLER_CHECKS_EPOCH == 0 or rules & ALTER_SAYS_LIVES == 0 or wire == 0:
            continue
        if wire != get(words, LOG + broker, LIFE, THREE):
            return CONTROLLER_CHECKS_EPOCH
    return 0


@inner
def alter_partition(words: Ints, given: Ints, asked: int, out: Ints) -> int:
    """alter_partition: ACCEPTED, REVERTED or WAITING."""
    guard = _refusing(words, given, asked)
    if guard != 0:
        out[FIRED] |= guard
        ineligible = guard in (NOT_FENCED, CONTROLLER_CHECKS_EPOCH)
        return REVERTED if ineligible else WAITING
    fenced = get(words, CONTROLLER, FENCED, THREE)
    members = (asked >> R_MEMBERS) & THREE
    named = change(words, given, members, THREE & ~fenced, asked, out)
    other = named >= 0 and named != (asked >> R_SENDER) & TWO
    # NEW_LEADER_ELECTED: the record stands, and the sender waits for metadata.
    return WAITING if other else ACCEPTED
