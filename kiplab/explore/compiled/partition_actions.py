"""The actions of the level "partition", one function each, on words (word_layout.py).

Each does the same as the engine's `step` for the moves of that action, step by step, because the
observer reads every step. It returns True if it could be done; the caller finds out whether
anything changed. The brief names in other docstrings are those of the engine's functions.
"""

from . import controlling
from . import log_words as logs
from . import replicating as replica
from . import word_layout as at
from .controlling import has_committed, leader_elected, mark_moved, observe
from .words import Ints, get, has, inner, place_of_other, put, request, take


@inner
def _write(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    isr = get(words, at.ISR, broker)
    if (isr & 1) + (isr >> 1 & 1) + (isr >> 2) < ints[at.P_WANTED]:
        return
    log = logs.appended(get(words, at.LOG_OF, broker), get(words, at.EPOCH, broker), out)
    put(words, at.LOG_OF, broker, log)
    if replica.move_mark(words, ints, broker, out):
        mark_moved(words, broker)
    observe(words, ints, 0, -1, out)


@inner
def _fetch(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    """The request and its answer in one action: the leader's side, then the follower's."""
    leader = get(words, at.LEADER, broker)
    if get(words, at.UP, leader) == 0:
        return
    asked, held = (get(words, at.EPOCH, broker), get(words, at.EPOCH, leader))
    if asked < held and ints[at.P_RULES] & at.FENCED_FETCH != 0:
        out[at.FIRED] |= at.FENCED_FETCH
        return
    if asked > held and ints[at.P_RULES] & at.UNKNOWN_FETCH != 0:
        out[at.FIRED] |= at.UNKNOWN_FETCH
        return
    if get(words, at.LEADS, leader) == 0:
        return
    mine, theirs = get(words, at.LOG_OF, broker), get(words, at.LOG_OF, leader)
    offset, epoch = logs.end_of(mine), logs.latest_epoch(mine)
    ends = logs.end_of_epoch(theirs, epoch) if epoch != 0 else -1
    if ends < 0 and (epoch != 0 or offset > logs.end_of(theirs)):
        # OFFSET_OUT_OF_RANGE: the follower goes back to the leader's end.
        _cut(words, ints, broker, asked == held, 0, logs.end_of(theirs), out)
    elif ends >= 0 and (ends >> 4 < epoch or ends & at.FOUR < offset):
        _cut(words, ints, broker, asked == held, ends >> 4, ends & at.FOUR, out)
    else:
        mark = get(words, at.MARK, leader)
        _serve(words, ints, leader, broker, offset, out)
        if asked == held:
            _append(words, ints, broker, theirs, mark, out)


@inner
def _cut(
    words: Ints, ints: Ints, broker: int, is_answered: bool, epoch: int, end: int, out: Ints
) -> None:
    """_truncated, at a follower whose own epoch the answer names."""
    if not is_answered:
        return
    mine = get(words, at.LOG_OF, broker)
    own = logs.end_of_epoch(mine, epoch) if epoch != 0 else -1
    if own >= 0:
        end = min(end, own & at.FOUR) if own >> 4 == epoch else own & at.FOUR
    shorter = logs.truncated(mine, end)
    if shorter == mine:
        return
    put(words, at.LOG_OF, broker, shorter)
    mark = min(get(words, at.MARK, broker), logs.end_of(shorter))
    put(words, at.MARK, broker, mark)
    observe(words, ints, 0, -1, out)


@inner
def _serve(words: Ints, ints: Ints, leader: int, broker: int, offset: int, out: Ints) -> None:
    """follower_fetched, and what it sends."""
    before = replica.remote_end(words, leader, broker)
    noted = (offset + 1) | get(words, at.LIFE, broker) << 4
    put(words, at.REMOTE, leader, noted, place_of_other(leader, broker))
    if replica.proposes(words, ints, leader, broker, out):
        replica.submit(words, leader, out)
    if before != offset and replica.move_mark(words, ints, leader, out):
        mark_moved(words, leader)
    observe(words, ints, 0, -1, out)


@inner
def _append(words: Ints, ints: Ints, broker: int, theirs: int, mark: int, out: Ints) -> None:
    """fetched."""
    log = logs.copied(get(words, at.LOG_OF, broker), theirs, out)
    put(words, at.LOG_OF, broker, log)
    put(words, at.MARK, broker, min(mark, logs.end_of(log)))
    observe(words, ints, 0, -1, out)


@inner
def _deliver(words: Ints, ints: Ints, number: int, out: Ints) -> None:
    proposal = request(words, number)
    take(words, number)
    before = words[at.CONTROLLER]
    result = controlling.alter_partition(words, ints, proposal, out)
    if words[at.CONTROLLER] != before:
        observe(words, ints, 0, -1, out)
    sender, incarnation = proposal >> at.R_SENDER, (proposal >> at.R_LIFE) & at.THREE
    alive = get(words, at.UP, sender) == 1 and get(words, at.LIFE, sender) == incarnation
    if not alive or get(words, at.SENT, sender) == 0 or replica.item(words, sender) != proposal:
        return
    epoch = get(words, at.C_EPOCH)
    if result == controlling.REVERTED:
        put(words, at.PROPOSAL, sender, 0)
    elif result == controlling.ACCEPTED and epoch == get(words, at.EPOCH, sender):
        put(words, at.PROPOSAL, sender, 0)
        put(words, at.ISR, sender, get(words, at.C_ISR))
        version = get(words, at.C_PARTITION_EPOCH)
        put(words, at.PARTITION_EPOCH, sender, version)
        if replica.move_mark(words, ints, sender, out):
            mark_moved(words, sender)
    observe(words, ints, 0, -1, out)


@inner
def _learn(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    """Play the replica as the controller's metadata says: the end of a view and of a start."""
    if get(words, at.C_LEADER) != broker:
        replica.follow(words, broker)
        observe(words, ints, 0, -1, out)
        return
    came = replica.lead(words, ints, broker, out)
    begins_short = came & 2 != 0 and not has_committed(words, broker)
    if came & 1 != 0 and not begins_short:
        mark_moved(words, broker)
    observe(words, ints, 0, broker if came & 2 != 0 else -1, out)


@inner
def _view(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    version = get(words, at.C_PARTITION_EPOCH)
    leads = get(words, at.LEADS, broker) == 1
    if leads and get(words, at.VIEW_EPOCH, broker) == version:
        replica.refresh(words, ints, broker)
    else:
        _learn(words, ints, broker, out)


@inner
def _crash(words: Ints, ints: Ints, broker: int, out: Ints) -> None:
    destroyed = 1 << broker if logs.end_of(get(words, at.LOG_OF, broker)) > 0 else 0
    words[at.LOG + broker] = get(words, at.LIFE, broker) << at.LIFE[1]
    words[at.ROLE + broker] = 0
    observe(words, ints, destroyed, -1, out)


@inner
def _start(words: Ints, ints: Ints, broker: int, out: Ints) -> bool:
    """A process; its registration; the answer, from which on it lives; the metadata with it."""
    fenced = get(words, at.FENCED)
    if not has(fenced, broker) and ints[at.P_RULES] & at.ONE_LIVE != 0:
        out[at.FIRED] |= at.ONE_LIVE
        return False
    observe(words, ints, 0, -1, out)
    put(words, at.LIFE, broker, get(words, at.LIFE, broker) + 1)
    put(words, at.FENCED, 0, fenced | (1 << broker))
    if ints[at.P_RULES] & at.BUMPS != 0:
        controlling.raised(words, at.C_PARTITION_EPOCH, out)
        controlling.raised(words, at.C_EPOCH, out)
        leader_elected(words)
    observe(words, ints, 0, -1, out)
    put(words, at.UP, broker, 1)
    _learn(words, ints, broker, out)
    return True


@inner
def offered(words: Ints, ints: Ints, kind: int, broker: int) -> bool:
    """Whether an action is on the menu, and its bound not used up. For DELIVER: of a request."""
    if kind == at.DELIVER:
        return request(words, broker) != 0
    up = get(words, at.UP, broker) == 1
    if kind == at.START_KIND:
        return not up
    if kind == at.FENCE:
        session = not has(get(words, at.FENCED), broker)
        return session and (not up or get(words, at.BUDGETS, 0, at.FENCES) > 0)
    if not up:
        return False
    leads = get(words, at.LEADS, broker) == 1
    if kind == at.WRITE:
        return leads and get(words, at.BUDGETS, 0, at.WRITES) > 0
    if kind == at.FETCH:
        return not leads and get(words, at.LEADER, broker) != at.NOBODY
    if kind == at.VIEW_KIND:
        return replica.has_news(words, ints, broker)
    if kind == at.CRASH:
        return get(words, at.BUDGETS, 0, at.CRASHES) > 0
    return has(get(words, at.FENCED), broker)


@inner
def act(words: Ints, ints: Ints, kind: int, broker: int, out: Ints) -> bool:
    """Do an action that is offered, without paying for it; False if it comes to nothing."""
    if kind == at.WRITE:
        _write(words, ints, broker, out)
    elif kind == at.FETCH:
        _fetch(words, ints, broker, out)
    elif kind == at.DELIVER:
        _deliver(words, ints, broker, out)
    elif kind == at.VIEW_KIND:
        _view(words, ints, broker, out)
    elif kind == at.CRASH:
        _crash(words, ints, broker, out)
    elif kind == at.START_KIND:
        return _start(words, ints, broker, out)
    elif kind == at.FENCE:
        controlling.fence(words, ints, broker, out)
        observe(words, ints, 0, -1, out)
    else:
        controlling.unfence(words, ints, broker, out)
        observe(words, ints, 0, -1, out)
    return True


@inner
def price(before: Ints, kind: int, broker: int) -> int:
    """What an action takes from the controller's word: one from a budget, or nothing."""
    if kind == at.WRITE:
        return 1 << at.BUDGETS[1] + at.BUDGETS[3] * at.WRITES
    if kind == at.CRASH:
        return 1 << at.BUDGETS[1] + at.BUDGETS[3] * at.CRASHES
    if kind == at.FENCE and get(before, at.UP, broker) == 1:
        return 1 << at.BUDGETS[1] + at.BUDGETS[3] * at.FENCES
    return 0
