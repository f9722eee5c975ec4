"""The controller (protocol/kraft) and the observer, for one partition and two properties."""

from . import log_words as logs
from . import word_layout as at
from .words import Ints, get, has, incarnations_at, inner, place_of_other, put

ACCEPTED, REVERTED, WAITING = 0, 1, 2
"""What the leader makes of the answer to its AlterPartition."""


@inner
def _elected(words: Ints, ints: Ints, isr: int, acceptable: int) -> int:
    """elect: the sitting leader if it may, else the first replica that may."""
    valid = isr & acceptable
    leader = get(words, at.C_LEADER)
    if leader != at.NOBODY and has(valid, leader):
        return leader
    for number in range(ints[at.P_BROKERS]):
        if has(valid, ints[at.P_ORDER + number]):
            return int(ints[at.P_ORDER + number])
    return at.NOBODY


@inner
def raised(words: Ints, field: at.Field, out: Ints) -> None:
    """One epoch more."""
    epoch = get(words, field)
    if epoch == at.MOST_EPOCH:
        out[at.OVERFLOW] = 1
    else:
        put(words, field, 0, epoch + 1)


@inner
def change(words: Ints, ints: Ints, goal: int, acceptable: int, proposal: int, out: Ints) -> int:
    """build and merge: the partition with the ISR `goal`. `proposal` is the request, or 0.

    Returns the leader that the record names, -1 if it names none.
    """
    held, leader = (get(words, at.C_ISR), get(words, at.C_LEADER))
    elected = _elected(words, ints, goal, acceptable)
    isr = goal if goal != 0 else held
    named = elected != leader
    if not named and ints[at.P_RULES] & at.SHRINK_KEEPS == 0:
        decides = goal if ints[at.P_RULES] & at.EMPTY_BUMPS != 0 else isr
        named = held & ~decides != 0
    if not named and isr == held:
        return -1
    put(words, at.C_ISR, 0, isr)
    raised(words, at.C_PARTITION_EPOCH, out)
    if named:
        put(words, at.C_LEADER, 0, elected)
        raised(words, at.C_EPOCH, out)
    if isr != held:
        members_changed(words, proposal)
    if not named:
        return -1
    leader_elected(words)
    return elected


@inner
def fence(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    """expire_session: out of the ISR first, then fenced."""
    isr, fenced = (get(words, at.C_ISR), get(words, at.FENCED))
    member = 1 << broker
    if has(isr, broker):
        change(words, ints, isr & ~member, at.THREE & ~fenced & ~member, 0, out)
    put(words, at.FENCED, 0, fenced | member)


@inner
def unfence(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    """The heartbeat that unfences: a partition without a leader is looked at again."""
    fenced = get(words, at.FENCED) & ~(1 << broker)
    put(words, at.FENCED, 0, fenced)
    if get(words, at.C_LEADER) == at.NOBODY:
        isr = get(words, at.C_ISR)
        change(words, ints, isr, at.THREE & ~fenced, 0, out)


@inner
def _refusing(words: Ints, ints: Ints, proposal: int) -> int:
    """The first guard that refuses an AlterPartition request, 0 if none does."""
    rules = ints[at.P_RULES]
    sender, incarnation = (proposal >> at.R_SENDER) & at.TWO, (proposal >> at.R_LIFE) & at.THREE
    if rules & at.REQUEST_EPOCH != 0 and get(words, at.LIFE, sender) != incarnation:
        return at.REQUEST_EPOCH
    epoch = (proposal >> at.R_EPOCH) & at.FOUR
    if rules & at.LEADER_EPOCH != 0 and epoch != get(words, at.C_EPOCH):
        return at.LEADER_EPOCH
    if rules & at.SENDER_LEADS != 0 and sender != get(words, at.C_LEADER):
        return at.SENDER_LEADS
    version = (proposal >> at.R_PARTITION_EPOCH) & at.FOUR
    held = get(words, at.C_PARTITION_EPOCH)
    if rules & at.SAME_PARTITION_EPOCH != 0 and version != held:
        return at.SAME_PARTITION_EPOCH
    if rules & at.LEADER_IN_ISR != 0 and not has(proposal >> at.R_MEMBERS, sender):
        return at.LEADER_IN_ISR
    return _ineligible(words, ints, proposal)


@inner
def _ineligible(words: Ints, ints: Ints, proposal: int) -> int:
    rules, fenced = ints[at.P_RULES], get(words, at.FENCED)
    sender = (proposal >> at.R_SENDER) & at.TWO
    for broker in range(ints[at.P_BROKERS]):
        if not has(proposal >> at.R_MEMBERS, broker):
            continue
        if rules & at.NOT_FENCED != 0 and has(fenced, broker):
            return at.NOT_FENCED
        if broker == sender:
            wire = (proposal >> at.R_LIFE) & at.THREE
        else:
            wire = incarnations_at(proposal >> at.R_WIRE, place_of_other(sender, broker))
        if rules & at.CONTROLLER_CHECKS_EPOCH == 0 or rules & at.ALTER_SAYS_LIVES == 0 or wire == 0:
            continue
        if wire != get(words, at.LIFE, broker):
            return at.CONTROLLER_CHECKS_EPOCH
    return 0


@inner
def alter_partition(words: Ints, ints: Ints, proposal: int, out: Ints) -> int:
    """alter_partition: ACCEPTED, REVERTED or WAITING."""
    guard = _refusing(words, ints, proposal)
    if guard != 0:
        out[at.FIRED] |= guard
        ineligible = guard in (at.NOT_FENCED, at.CONTROLLER_CHECKS_EPOCH)
        return REVERTED if ineligible else WAITING
    fenced = get(words, at.FENCED)
    members = (proposal >> at.R_MEMBERS) & at.THREE
    named = change(words, ints, members, at.THREE & ~fenced, proposal, out)
    other = named >= 0 and named != (proposal >> at.R_SENDER) & at.TWO
    # NEW_LEADER_ELECTED: the record stands, and the sender waits for metadata.
    return WAITING if other else ACCEPTED


# --- the observer ---------------------------------------------------------------------------------


@inner
def members_changed(words: Ints, proposal: int) -> None:
    """Who is in the ISR, and in which incarnation each caught up; `proposal` may be 0."""
    isr = get(words, at.C_ISR)
    for broker in range(3):
        if not has(isr, broker):
            put(words, at.LIVES, 0, 0, broker)
        elif get(words, at.LIVES, 0, broker) == 0:
            incarnation = _asked_incarnation(proposal, broker)
            if incarnation == 0:
                incarnation = get(words, at.LIFE, broker)
            put(words, at.LIVES, 0, incarnation, broker)


@inner
def _asked_incarnation(proposal: int, broker: int) -> int:
    if proposal == 0 or not has(proposal >> at.R_MEMBERS, broker):
        return 0
    sender = (proposal >> at.R_SENDER) & at.TWO
    if broker == sender:
        return (proposal >> at.R_LIFE) & at.THREE
    place = place_of_other(sender, broker)
    fetched = incarnations_at(proposal >> at.R_OBSERVED, place)
    return fetched if fetched != 0 else incarnations_at(proposal >> at.R_WIRE, place)


@inner
def leader_elected(words: Ints) -> None:
    """A lone member that leads counts as the incarnation that it is registered in."""
    leader = get(words, at.C_LEADER)
    if leader != at.NOBODY and get(words, at.C_ISR) == 1 << leader:
        incarnation = get(words, at.LIFE, leader)
        put(words, at.ALL_LIVES, 0, incarnation << (3 * leader))


@inner
def mark_moved(words: Ints, leader: int) -> None:
    """A high watermark moved: what lies below it is committed."""
    mark = get(words, at.MARK, leader)
    if mark > logs.end_of(get(words, at.COMMITTED_LOG)):
        put(words, at.COMMITTED_LOG, 0, logs.truncated(get(words, at.LOG_OF, leader), mark))


@inner
def has_committed(words: Ints, broker: int) -> bool:
    """Whether a log has every committed record."""
    return logs.holds(get(words, at.LOG_OF, broker), get(words, at.COMMITTED_LOG))


@inner
def _damage(words: Ints, crashed: int) -> None:
    isr, fenced = (get(words, at.C_ISR), get(words, at.FENCED))
    damaged = isr & (get(words, at.DAMAGED) | crashed)
    for broker in range(3):
        if not has(isr & ~damaged & ~fenced, broker) or get(words, at.UP, broker) == 1:
            continue
        if not has_committed(words, broker):
            damaged |= 1 << broker
    put(words, at.DAMAGED, 0, damaged)
    if isr != 0 and damaged == isr:
        put(words, at.EXCUSED, 0, 1)


@inner
def _takes_over(words: Ints, leader: int, out: Ints) -> None:
    if get(words, at.C_LEADER) != leader or has_committed(words, leader):
        return
    mine = get(words, at.LOG_OF, leader)
    put(words, at.COMMITTED_LOG, 0, logs.truncated(mine, get(words, at.MARK, leader)))
    _breaks(1, out)


@inner
def _breaks(property: int, out: Ints) -> None:
    """Property 1 or 2, alone or after the other one (word_layout.BROKEN)."""
    if out[at.BROKEN] == 0:
        out[at.BROKEN] = property
    elif out[at.BROKEN] + property == 3:
        out[at.BROKEN] += 2


@inner
def observe(words: Ints, ints: Ints, crashed: int, new_leader: int, out: Ints) -> None:
    """The end of a step: damage, a leader that takes over (or -1), who could be elected."""
    _damage(words, crashed)
    if new_leader >= 0:
        _takes_over(words, new_leader, out)
    electable = get(words, at.C_ISR) & ~get(words, at.FENCED)
    for broker in range(ints[at.P_BROKERS]):
        if not has(electable, broker) or get(words, at.UP, broker) == 0:
            continue
        if not has_committed(words, broker):
            _breaks(2, out)
            return
