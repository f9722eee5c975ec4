"""Leaders and followers: protocol/replica, as far as this level goes."""

from .jit import inner
from .logs import end_of, noted
from .word_fields import Ints, get, has, has_request, place_of_other, put, seen, send
from .word_layout import (
    BIT,
    C_EPOCH,
    C_ISR,
    C_LEADER,
    C_PARTITION_EPOCH,
    CONTROLLER,
    EPOCH,
    EPOCH_START,
    FENCED,
    FETCH_SAYS_LIFE,
    FIRED,
    FOUR,
    FROM_METADATA,
    ISR,
    LEADER,
    LEADER_CHECKS_EPOCH,
    LEADS,
    LIFE,
    LOG,
    LOG_BITS,
    MARK,
    MAXIMAL,
    MIN_ISR,
    MOVED,
    OUTLIVES,
    P_BROKERS,
    P_RULES,
    P_WANTED,
    PARTITION_EPOCH,
    PROPOSED,
    R_EPOCH,
    R_LIFE,
    R_MEMBERS,
    R_OBSERVED,
    R_PARTITION_EPOCH,
    R_SENDER,
    R_WIRE,
    REMOTE,
    REMOTE_BITS,
    REMOTE_LIFE,
    ROLE,
    SENT,
    SENT_BITS,
    SENT_OBSERVED,
    SENT_WIRE,
    SIX,
    SKIPS_FENCED,
    START,
    THREE,
    TWO,
    VIEW,
    VIEW_BITS,
    VIEW_EPOCH,
    VIEW_FENCED,
)

REMOTE_MASK = (1 << REMOTE_BITS) - 1


@inner
def remote_end(words: Ints, leader: int, other: int) -> int:
    """How far a leader knows a follower to be; -1 while it has not fetched."""
    return get(words, ROLE + leader, REMOTE + REMOTE_BITS * place_of_other(leader, other), FOUR) - 1


@inner
def move_mark(words: Ints, given: Ints, leader: int, out: Ints) -> bool:
    """move_high_watermark: whether it moved. Without a clock, only the ISR is waited for."""
    rules, role = given[P_RULES], ROLE + leader
    counted = get(words, role, ISR, THREE)
    size = (counted & 1) + (counted >> 1 & 1) + (counted >> 2)
    if rules & MIN_ISR != 0 and size < given[P_WANTED]:
        return False
    if rules & MAXIMAL != 0 and get(words, role, SENT, BIT) == 1:
        counted |= get(words, role, PROPOSED, THREE)
    lowest = end_of(words[LOG + leader])
    for other in range(given[P_BROKERS]):
        if other != leader and has(counted, other):
            lowest = min(lowest, remote_end(words, leader, other))
    if lowest <= get(words, LOG + leader, MARK, FOUR):
        return False
    put(words, LOG + leader, MARK, FOUR, lowest)
    out[MOVED] = 1
    return True


@inner
def _bars(words: Ints, given: Ints, leader: int, other: int) -> int:
    """ineligible: the guard that bars a follower, 0 if none does."""
    rules, at = given[P_RULES], place_of_other(leader, other)
    view = seen(words, ROLE + leader, at)
    fenced = view >> VIEW_FENCED == 1
    if fenced and rules & SKIPS_FENCED != 0:
        return SKIPS_FENCED
    if rules & LEADER_CHECKS_EPOCH == 0 or rules & FROM_METADATA != 0:
        return 0
    incarnation = get(words, ROLE + leader, REMOTE + REMOTE_BITS * at + REMOTE_LIFE, THREE)
    if fenced or incarnation == 0 or (rules & FETCH_SAYS_LIFE != 0 and incarnation != view & THREE):
        return LEADER_CHECKS_EPOCH
    return 0


@inner
def _incarnations_sent(words: Ints, given: Ints, leader: int, members: int) -> int:
    """_member of the two others: 6 bits of incarnations as they fetched, and above them as on the
    wire.
    """
    rules, role, sent = given[P_RULES], ROLE + leader, 0
    for other in range(given[P_BROKERS]):
        if other == leader or not has(members, other):
            continue
        at = place_of_other(leader, other)
        incarnation = get(words, role, REMOTE + REMOTE_BITS * at + REMOTE_LIFE, THREE)
        wire = incarnation if rules & FETCH_SAYS_LIFE != 0 else 0
        if rules & FROM_METADATA != 0:
            wire = seen(words, role, at) & THREE
        sent |= (incarnation << (3 * at)) | (wire << (6 + 3 * at))
    return sent


@inner
def proposes(words: Ints, given: Ints, leader: int, other: int, out: Ints) -> bool:
    """propose_expand: whether the leader asks for `other` in the ISR; then it is pending."""
    role, end = ROLE + leader, remote_end(words, leader, other)
    isr = get(words, role, ISR, THREE)
    if get(words, role, SENT, BIT) == 1 or has(isr, other):
        return False
    if end < get(words, LOG + leader, MARK, FOUR):
        return False
    if given[P_RULES] & EPOCH_START != 0 and end < get(words, role, START, FOUR):
        return False
    guard = _bars(words, given, leader, other)
    if guard != 0:
        out[FIRED] |= guard
        return False
    members = isr | (1 << other)
    incarnations = _incarnations_sent(words, given, leader, members)
    sent = 1 | members << (PROPOSED - SENT) | incarnations << (SENT_OBSERVED - SENT)
    words[role] = (words[role] & ~SENT_BITS) | (sent << SENT)
    return True


@inner
def item(words: Ints, broker: int) -> int:
    """The request that a pending proposal makes."""
    role = ROLE + broker
    value = broker << R_SENDER | get(words, LOG + broker, LIFE, THREE) << R_LIFE
    value |= get(words, role, EPOCH, FOUR) << R_EPOCH
    value |= get(words, role, PARTITION_EPOCH, FOUR) << R_PARTITION_EPOCH
    value |= get(words, role, PROPOSED, THREE) << R_MEMBERS
    value |= get(words, role, SENT_OBSERVED, SIX) << R_OBSERVED
    return value | get(words, role, SENT_WIRE, SIX) << R_WIRE


@inner
def submit(words: Ints, leader: int, out: Ints) -> None:
    """Send the pending proposal, unless an earlier request is under way: then it is withdrawn."""
    if has_request(words, leader, get(words, LOG + leader, LIFE, THREE)):
        words[ROLE + leader] &= ~SENT_BITS
    else:
        send(words, item(words, leader), out)


@inner
def refresh(words: Ints, given: Ints, leader: int) -> None:
    """A leader's metadata is now the controller's."""
    role, fenced = ROLE + leader, get(words, CONTROLLER, FENCED, THREE)
    for other in range(given[P_BROKERS]):
        if other != leader:
            incarnation = get(words, LOG + other, LIFE, THREE)
            known = incarnation | ((fenced >> other) & 1) << VIEW_FENCED
            put(words, role, VIEW + VIEW_BITS * place_of_other(leader, other), FOUR, known)
    put(words, role, VIEW_EPOCH, FOUR, get(words, CONTROLLER, C_PARTITION_EPOCH, FOUR))


@inner
def has_news(words: Ints, given: Ints, broker: int) -> bool:
    """Whether the controller's metadata would change anything for a running broker."""
    role = ROLE + broker
    if get(words, role, LEADS, BIT) == 0:
        return get(words, LOG + broker, LEADER, TWO) != get(
            words, CONTROLLER, C_LEADER, TWO
        ) or get(words, role, EPOCH, FOUR) != get(words, CONTROLLER, C_EPOCH, FOUR)
    if get(words, role, VIEW_EPOCH, FOUR) != get(words, CONTROLLER, C_PARTITION_EPOCH, FOUR):
        return True
    fenced = get(words, CONTROLLER, FENCED, THREE)
    for other in range(given[P_BROKERS]):
        if other == broker:
            continue
        incarnation = get(words, LOG + other, LIFE, THREE)
        if (
            seen(words, role, place_of_other(broker, other))
            != incarnation | ((fenced >> other) & 1) << VIEW_FENCED
        ):
            return True
    return False


@inner
def follow(words: Ints, broker: int) -> None:
    """make_follower, with the controller's metadata. A fresh process has a high watermark of 0."""
    log = LOG + broker
    mark = min(get(words, log, MARK, FOUR), end_of(words[log]))
    put(words, log, MARK, FOUR, mark)
    put(words, log, LEADER, TWO, get(words, CONTROLLER, C_LEADER, TWO))
    words[ROLE + broker] = get(words, CONTROLLER, C_EPOCH, FOUR) << EPOCH


@inner
def lead(words: Ints, given: Ints, broker: int, out: Ints) -> int:
    """make_leader, with the controller's metadata.

    Bit 0: whether the high watermark moved; bit 1: whether a leader epoch begins.
    """
    log, role, epoch = LOG + broker, ROLE + broker, get(words, CONTROLLER, C_EPOCH, FOUR)
    put(words, log, 0, LOG_BITS, noted(words[log] & LOG_BITS, epoch, out))
    led = get(words, role, LEADS, BIT) == 1
    begins = not led or epoch > get(words, role, EPOCH, FOUR)
    version = get(words, CONTROLLER, C_PARTITION_EPOCH, FOUR)
    same = get(words, role, EPOCH, FOUR) == epoch and (
        get(words, role, PARTITION_EPOCH, FOUR) == version
    )
    if not led:
        words[role] = 1 << LEADS
    if begins:
        put(words, role, START, FOUR, end_of(words[log]))
    if not (led and same and given[P_RULES] & OUTLIVES != 0):
        words[role] &= ~SENT_BITS
        put(words, role, ISR, THREE, get(words, CONTROLLER, C_ISR, THREE))
    put(words, role, EPOCH, FOUR, epoch)
    put(words, role, PARTITION_EPOCH, FOUR, version)
    put(words, log, LEADER, TWO, broker)
    put(words, log, MARK, FOUR, min(get(words, log, MARK, FOUR), end_of(words[log])))
    refresh(words, given, broker)
    moved = move_mark(words, given, broker, out)
    return (1 if moved else 0) | (2 if begins else 0)
