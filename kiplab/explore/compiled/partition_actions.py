"""The actions of the level "partition", one function each, on words (word_layout.py).

Each does what the engine's `step` does for the moves of that action, step by step, because the
observer looks after every step. True: it could be done (whether anything changed is for the caller
to see). The brief names in other docstrings are those of the engine's functions.
"""

from .controlling import ACCEPTED, REVERTED, alter_partition, fence, raised, unfence
from .jit import inner
from .logs import appended, copied, end_of, end_of_epoch, latest_epoch, truncated
from .observing import has_committed, leader_elected, mark_moved, observe
from .replicating import (
    REMOTE_MASK,
    follow,
    has_news,
    item,
    lead,
    move_mark,
    proposes,
    refresh,
    remote_end,
    submit,
)
from .word_fields import Ints, get, has, place_of_other, put, request, take
from .word_layout import (
    BIT,
    BUMPS,
    C_EPOCH,
    C_ISR,
    C_LEADER,
    C_PARTITION_EPOCH,
    CONTROLLER,
    CRASH,
    CRASHES,
    DELIVER,
    EPOCH,
    FENCE,
    FENCED,
    FENCED_FETCH,
    FENCES,
    FETCH,
    FIRED,
    FOUR,
    ISR,
    LEADER,
    LEADS,
    LIFE,
    LOG,
    LOG_BITS,
    MARK,
    NOBODY,
    ONE_LIVE,
    P_RULES,
    P_WANTED,
    PARTITION_EPOCH,
    R_LIFE,
    R_SENDER,
    REMOTE,
    REMOTE_BITS,
    ROLE,
    SENT,
    SENT_BITS,
    START_KIND,
    THREE,
    TWO,
    UNKNOWN_FETCH,
    UP,
    VIEW_EPOCH,
    VIEW_KIND,
    WRITE,
    WRITES,
)


@inner
def _write(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    isr = get(words, ROLE + broker, ISR, THREE)
    if (isr & 1) + (isr >> 1 & 1) + (isr >> 2) < given[P_WANTED]:
        return
    log = appended(words[LOG + broker] & LOG_BITS, get(words, ROLE + broker, EPOCH, FOUR), out)
    put(words, LOG + broker, 0, LOG_BITS, log)
    if move_mark(words, given, broker, out):
        mark_moved(words, broker)
    observe(words, given, 0, -1, out)


@inner
def _fetch(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    """The request and its answer in one action: the leader's side, then the follower's."""
    leader = get(words, LOG + broker, LEADER, TWO)
    if get(words, LOG + leader, UP, BIT) == 0:
        return
    asked, held = get(words, ROLE + broker, EPOCH, FOUR), get(words, ROLE + leader, EPOCH, FOUR)
    if asked < held and given[P_RULES] & FENCED_FETCH != 0:
        out[FIRED] |= FENCED_FETCH
        return
    if asked > held and given[P_RULES] & UNKNOWN_FETCH != 0:
        out[FIRED] |= UNKNOWN_FETCH
        return
    if get(words, ROLE + leader, LEADS, BIT) == 0:
        return
    mine, theirs = words[LOG + broker] & LOG_BITS, words[LOG + leader] & LOG_BITS
    offset, epoch = end_of(mine), latest_epoch(mine)
    ends = end_of_epoch(theirs, epoch) if epoch != 0 else -1
    if ends < 0 and (epoch != 0 or offset > end_of(theirs)):
        # OFFSET_OUT_OF_RANGE: the follower goes back to the leader's end.
        _cut(words, given, broker, asked == held, 0, end_of(theirs), out)
    elif ends >= 0 and (ends >> 4 < epoch or ends & FOUR < offset):
        _cut(words, given, broker, asked == held, ends >> 4, ends & FOUR, out)
    else:
        mark = get(words, LOG + leader, MARK, FOUR)
        _serve(words, given, leader, broker, offset, out)
        if asked == held:
            _append(words, given, broker, theirs, mark, out)


@inner
def _cut(
    words: Ints, given: Ints, broker: int, heard: bool, epoch: int, end: int, out: Ints
) -> None:
    """_truncated, at a follower whose own epoch the answer names."""
    if not heard:
        return
    mine = words[LOG + broker] & LOG_BITS
    own = end_of_epoch(mine, epoch) if epoch != 0 else -1
    if own >= 0:
        end = min(end, own & FOUR) if own >> 4 == epoch else own & FOUR
    shorter = truncated(mine, end)
    if shorter == mine:
        return
    put(words, LOG + broker, 0, LOG_BITS, shorter)
    mark = min(get(words, LOG + broker, MARK, FOUR), end_of(shorter))
    put(words, LOG + broker, MARK, FOUR, mark)
    observe(words, given, 0, -1, out)


@inner
def _serve(words: Ints, given: Ints, leader: int, broker: int, offset: int, out: Ints) -> None:
    """follower_fetched, and what it sends."""
    before = remote_end(words, leader, broker)
    noted = (offset + 1) | get(words, LOG + broker, LIFE, THREE) << 4
    put(
        words,
        ROLE + leader,
        REMOTE + REMOTE_BITS * place_of_other(leader, broker),
        REMOTE_MASK,
        noted,
    )
    if proposes(words, given, leader, broker, out):
        submit(words, leader, out)
    if before != offset and move_mark(words, given, leader, out):
        mark_moved(words, leader)
    observe(words, given, 0, -1, out)


@inner
def _append(words: Ints, given: Ints, broker: int, theirs: int, mark: int, out: Ints) -> None:
    """fetched."""
    log = copied(words[LOG + broker] & LOG_BITS, theirs, out)
    put(words, LOG + broker, 0, LOG_BITS, log)
    put(words, LOG + broker, MARK, FOUR, min(mark, end_of(log)))
    observe(words, given, 0, -1, out)


@inner
def _deliver(words: Ints, given: Ints, number: int, out: Ints) -> None:
    asked = request(words, number)
    take(words, number)
    before = words[CONTROLLER]
    result = alter_partition(words, given, asked, out)
    if words[CONTROLLER] != before:
        observe(words, given, 0, -1, out)
    sender, incarnation = asked >> R_SENDER, (asked >> R_LIFE) & THREE
    alive = (
        get(words, LOG + sender, UP, BIT) == 1
        and get(words, LOG + sender, LIFE, THREE) == incarnation
    )
    role = ROLE + sender
    if not alive or get(words, role, SENT, BIT) == 0 or item(words, sender) != asked:
        return
    epoch = get(words, CONTROLLER, C_EPOCH, FOUR)
    if result == REVERTED:
        words[role] &= ~SENT_BITS
    elif result == ACCEPTED and epoch == get(words, role, EPOCH, FOUR):
        words[role] &= ~SENT_BITS
        put(words, role, ISR, THREE, get(words, CONTROLLER, C_ISR, THREE))
        version = get(words, CONTROLLER, C_PARTITION_EPOCH, FOUR)
        put(words, role, PARTITION_EPOCH, FOUR, version)
        if move_mark(words, given, sender, out):
            mark_moved(words, sender)
    observe(words, given, 0, -1, out)


@inner
def _learn(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    """Play the replica as the controller's metadata says: the end of a view and of a start."""
    if get(words, CONTROLLER, C_LEADER, TWO) != broker:
        follow(words, broker)
        observe(words, given, 0, -1, out)
        return
    came = lead(words, given, broker, out)
    begins_short = came & 2 != 0 and not has_committed(words, broker)
    if came & 1 != 0 and not begins_short:
        mark_moved(words, broker)
    observe(words, given, 0, broker if came & 2 != 0 else -1, out)


@inner
def _view(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    version = get(words, CONTROLLER, C_PARTITION_EPOCH, FOUR)
    leads = get(words, ROLE + broker, LEADS, BIT) == 1
    if leads and get(words, ROLE + broker, VIEW_EPOCH, FOUR) == version:
        refresh(words, given, broker)
    else:
        _learn(words, given, broker, out)


@inner
def _crash(words: Ints, given: Ints, broker: int, out: Ints) -> None:
    destroyed = 1 << broker if end_of(words[LOG + broker]) > 0 else 0
    words[LOG + broker] &= THREE << LIFE
    words[ROLE + broker] = 0
    observe(words, given, destroyed, -1, out)


@inner
def _start(words: Ints, given: Ints, broker: int, out: Ints) -> bool:
    """A process; its registration; the answer, from which on it lives; the metadata with it."""
    fenced = get(words, CONTROLLER, FENCED, THREE)
    if not has(fenced, broker) and given[P_RULES] & ONE_LIVE != 0:
        out[FIRED] |= ONE_LIVE
        return False
    observe(words, given, 0, -1, out)
    put(words, LOG + broker, LIFE, THREE, get(words, LOG + broker, LIFE, THREE) + 1)
    put(words, CONTROLLER, FENCED, THREE, fenced | (1 << broker))
    if given[P_RULES] & BUMPS != 0:
        raised(words, C_PARTITION_EPOCH, out)
        raised(words, C_EPOCH, out)
        leader_elected(words)
    observe(words, given, 0, -1, out)
    put(words, LOG + broker, UP, BIT, 1)
    _learn(words, given, broker, out)
    return True


@inner
def offered(words: Ints, given: Ints, kind: int, broker: int) -> bool:
    """Whether an action is on the menu, and its bound not used up. For DELIVER: of a request."""
    if kind == DELIVER:
        return request(words, broker) != 0
    up = get(words, LOG + broker, UP, BIT) == 1
    if kind == START_KIND:
        return not up
    if kind == FENCE:
        session = not has(get(words, CONTROLLER, FENCED, THREE), broker)
        return session and (not up or get(words, CONTROLLER, FENCES, FOUR) > 0)
    if not up:
        return False
    leads = get(words, ROLE + broker, LEADS, BIT) == 1
    if kind == WRITE:
        return leads and get(words, CONTROLLER, WRITES, FOUR) > 0
    if kind == FETCH:
        return not leads and get(words, LOG + broker, LEADER, TWO) != NOBODY
    if kind == VIEW_KIND:
        return has_news(words, given, broker)
    if kind == CRASH:
        return get(words, CONTROLLER, CRASHES, FOUR) > 0
    return has(get(words, CONTROLLER, FENCED, THREE), broker)


@inner
def act(words: Ints, given: Ints, kind: int, broker: int, out: Ints) -> bool:
    """Do an action that is offered, without paying for it; False if it comes to nothing."""
    if kind == WRITE:
        _write(words, given, broker, out)
    elif kind == FETCH:
        _fetch(words, given, broker, out)
    elif kind == DELIVER:
        _deliver(words, given, broker, out)
    elif kind == VIEW_KIND:
        _view(words, given, broker, out)
    elif kind == CRASH:
        _crash(words, given, broker, out)
    elif kind == START_KIND:
        return _start(words, given, broker, out)
    elif kind == FENCE:
        fence(words, given, broker, out)
        observe(words, given, 0, -1, out)
    else:
        unfence(words, given, broker, out)
        observe(words, given, 0, -1, out)
    return True


@inner
def price(before: Ints, kind: int, broker: int) -> int:
    """What an action takes from the controller's word: one from a budget, or nothing."""
    if kind == WRITE:
        return 1 << WRITES
    if kind == CRASH:
        return 1 << CRASHES
    if kind == FENCE and get(before, LOG + broker, UP, BIT) == 1:
        return 1 << FENCES
    return 0
