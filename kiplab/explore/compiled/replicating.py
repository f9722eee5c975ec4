"""Leaders and followers: protocol/replica, as far as this level goes."""

from . import log_words as logs
from . import word_layout as at
from .words import Ints, get, has, has_request, inner, place_of_other, put, send


@inner
def remote_end(words: Ints, leader: int, other: int) -> int:
    """How far a leader knows a follower to be; -1 while it has not fetched."""
    return get(words, at.REMOTE_END, leader, place_of_other(leader, other)) - 1


@inner
def move_mark(words: Ints, ints: Ints, leader: int, out: Ints) -> bool:
    """move_high_watermark: whether it moved. Without a clock, only the ISR is waited for."""
    rules = ints[at.P_RULES]
    counted = get(words, at.ISR, leader)
    size = (counted & 1) + (counted >> 1 & 1) + (counted >> 2)
    if rules & at.MIN_ISR != 0 and size < ints[at.P_WANTED]:
        return False
    if rules & at.MAXIMAL != 0 and get(words, at.SENT, leader) == 1:
        counted |= get(words, at.PROPOSED, leader)
    lowest = logs.end_of(get(words, at.LOG_OF, leader))
    for other in range(ints[at.P_BROKERS]):
        if other != leader and has(counted, other):
            lowest = min(lowest, remote_end(words, leader, other))
    if lowest <= get(words, at.MARK, leader):
        return False
    put(words, at.MARK, leader, lowest)
    out[at.MOVED] = 1
    return True


@inner
def _bars(words: Ints, ints: Ints, leader: int, other: int) -> int:
    """ineligible: the guard that bars a follower, 0 if none does."""
    rules, place = ints[at.P_RULES], place_of_other(leader, other)
    fenced = get(words, at.VIEW_FENCED, leader, place) == 1
    if fenced and rules & at.SKIPS_FENCED != 0:
        return at.SKIPS_FENCED
    if rules & at.LEADER_CHECKS_EPOCH == 0 or rules & at.FROM_METADATA != 0:
        return 0
    incarnation = get(words, at.REMOTE_LIFE, leader, place)
    other_one = incarnation != get(words, at.VIEW_LIFE, leader, place)
    if fenced or incarnation == 0 or (rules & at.FETCH_SAYS_LIFE != 0 and other_one):
        return at.LEADER_CHECKS_EPOCH
    return 0


@inner
def _incarnations_sent(words: Ints, ints: Ints, leader: int, members: int) -> int:
    """_member of the two others: 6 bits of incarnations as fetched, above these as on the wire."""
    rules, sent = ints[at.P_RULES], 0
    for other in range(ints[at.P_BROKERS]):
        if other == leader or not has(members, other):
            continue
        place = place_of_other(leader, other)
        incarnation = get(words, at.REMOTE_LIFE, leader, place)
        wire = incarnation if rules & at.FETCH_SAYS_LIFE != 0 else 0
        if rules & at.FROM_METADATA != 0:
            wire = get(words, at.VIEW_LIFE, leader, place)
        sent |= (incarnation << (3 * place)) | (wire << (6 + 3 * place))
    return sent


@inner
def proposes(words: Ints, ints: Ints, leader: int, other: int, out: Ints) -> bool:
    """propose_expand: whether the leader asks for `other` in the ISR; then it is pending."""
    end, isr = remote_end(words, leader, other), get(words, at.ISR, leader)
    if get(words, at.SENT, leader) == 1 or has(isr, other):
        return False
    if end < get(words, at.MARK, leader):
        return False
    if ints[at.P_RULES] & at.EPOCH_START != 0 and end < get(words, at.START, leader):
        return False
    guard = _bars(words, ints, leader, other)
    if guard != 0:
        out[at.FIRED] |= guard
        return False
    members = isr | (1 << other)
    incarnations = _incarnations_sent(words, ints, leader, members)
    put(words, at.SENT, leader, 1)
    put(words, at.PROPOSED, leader, members)
    put(words, at.SENT_OBSERVED, leader, incarnations & at.SIX)
    put(words, at.SENT_WIRE, leader, incarnations >> 6)
    return True


@inner
def item(words: Ints, broker: int) -> int:
    """The request that a pending proposal makes."""
    value = broker << at.R_SENDER | get(words, at.LIFE, broker) << at.R_LIFE
    value |= get(words, at.EPOCH, broker) << at.R_EPOCH
    value |= get(words, at.PARTITION_EPOCH, broker) << at.R_PARTITION_EPOCH
    value |= get(words, at.PROPOSED, broker) << at.R_MEMBERS
    value |= get(words, at.SENT_OBSERVED, broker) << at.R_OBSERVED
    return value | get(words, at.SENT_WIRE, broker) << at.R_WIRE


@inner
def submit(words: Ints, leader: int, out: Ints) -> None:
    """Send the pending proposal, unless an earlier request is under way: then it is withdrawn."""
    if has_request(words, leader, get(words, at.LIFE, leader)):
        put(words, at.PROPOSAL, leader, 0)
    else:
        send(words, item(words, leader), out)


@inner
def refresh(words: Ints, ints: Ints, leader: int) -> None:
    """A leader's metadata is now the controller's."""
    for other in range(ints[at.P_BROKERS]):
        if other != leader:
            registered_now = _registered(words, other)
            put(words, at.VIEW, leader, registered_now, place_of_other(leader, other))
    put(words, at.VIEW_EPOCH, leader, get(words, at.C_PARTITION_EPOCH))


@inner
def _registered(words: Ints, broker: int) -> int:
    """What the controller's metadata says of a broker, as in VIEW."""
    fenced = (get(words, at.FENCED) >> broker) & 1
    return get(words, at.LIFE, broker) | fenced << 3


@inner
def has_news(words: Ints, ints: Ints, broker: int) -> bool:
    """Whether the controller's metadata would change anything for a running broker."""
    if get(words, at.LEADS, broker) == 0:
        other_leader = get(words, at.LEADER, broker) != get(words, at.C_LEADER)
        return other_leader or get(words, at.EPOCH, broker) != get(words, at.C_EPOCH)
    if get(words, at.VIEW_EPOCH, broker) != get(words, at.C_PARTITION_EPOCH):
        return True
    for other in range(ints[at.P_BROKERS]):
        if other != broker:
            registered_then = get(words, at.VIEW, broker, place_of_other(broker, other))
            if registered_then != _registered(words, other):
                return True
    return False


@inner
def follow(words: Ints, broker: int) -> None:
    """make_follower, with the controller's metadata. A fresh process has a high watermark of 0."""
    mark = min(get(words, at.MARK, broker), logs.end_of(get(words, at.LOG_OF, broker)))
    put(words, at.MARK, broker, mark)
    put(words, at.LEADER, broker, get(words, at.C_LEADER))
    words[at.ROLE + broker] = 0
    put(words, at.EPOCH, broker, get(words, at.C_EPOCH))


@inner
def lead(words: Ints, ints: Ints, broker: int, out: Ints) -> int:
    """make_leader, with the controller's metadata.

    Bit 0: whether the high watermark moved; bit 1: whether a leader epoch begins.
    """
    epoch, version = get(words, at.C_EPOCH), get(words, at.C_PARTITION_EPOCH)
    log = logs.noted(get(words, at.LOG_OF, broker), epoch, out)
    put(words, at.LOG_OF, broker, log)
    led = get(words, at.LEADS, broker) == 1
    begins = not led or epoch > get(words, at.EPOCH, broker)
    same = get(words, at.EPOCH, broker) == epoch
    same = same and get(words, at.PARTITION_EPOCH, broker) == version
    if not led:
        words[at.ROLE + broker] = 0
        put(words, at.LEADS, broker, 1)
    if begins:
        put(words, at.START, broker, logs.end_of(log))
    if not (led and same and ints[at.P_RULES] & at.OUTLIVES != 0):
        put(words, at.PROPOSAL, broker, 0)
        put(words, at.ISR, broker, get(words, at.C_ISR))
    put(words, at.EPOCH, broker, epoch)
    put(words, at.PARTITION_EPOCH, broker, version)
    put(words, at.LEADER, broker, broker)
    put(words, at.MARK, broker, min(get(words, at.MARK, broker), logs.end_of(log)))
    refresh(words, ints, broker)
    moved = move_mark(words, ints, broker, out)
    return (1 if moved else 0) | (2 if begins else 0)
