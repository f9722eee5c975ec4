"""A leader and its followers: writing, fetching, committing, and asking for another ISR.

Followers that are level fetch at once whatever is written, and as long as the leader serves it
writes without a pause: so each event finds the logs as they are at that moment (`traffic`), and
leaves them so (`replicate`). Sources and clauses stand with the engine's rules of the same names
(`protocol/replica`); here is what they come to for one partition.

Logs are times. As long as every leader has all that anybody has, there is one history: every log is
a beginning of it, and two logs share the shorter one. A leader with less begins another history.
Whoever has more keeps it until it fetches, and may lead with it later; so from then on it is kept
for each two logs how far they are the same. What is committed counts as one more log.
"""

from . import mirrored_guards as guard
from . import set_words as word
from .machine_code import Longs, inner
from .set_words import contains, size, slot_at, with_member, without

DELAY_TRIES = 4
"""Delays are known for so many requests on account of one incident; the last one serves on."""


@inner
def is_reached(s: Longs, b: int) -> bool:
    """Whether there is a process that is registered, and metadata and fetches reach it."""
    return s[word.UP + b] != 0 and s[word.PHASE + b] >= word.RECOVERY and s[word.CUT + b] == 0


@inner
def serves(s: Longs) -> bool:
    """Whether somebody leads that can be reached, and that knows of the leader epoch."""
    x = s[word.OWNER]
    if x == word.NONE or not is_reached(s, x):
        return False
    return s[word.SEEN_LEADER_EPOCH + x] == s[word.LEADER_EPOCH]


@inner
def refuses_all(s: Longs) -> bool:
    """Whether the leader recovers and answers nobody meanwhile."""
    both = guard.LEADER_RECOVERS | guard.LEADER_REFUSES
    return s[word.RECOVERING] != 0 and s[word.GUARDS] & both == both


@inner
def follows(s: Longs, b: int) -> bool:
    """Whether a replica is level and fetches; the leader itself does not."""
    return is_reached(s, b) and s[word.LEVEL + b] != 0 and b != s[word.OWNER]


@inner
def traffic(s: Longs, w: Longs, now: int) -> None:
    """Up to `now` the leader has written, if it was let: once for each moment."""
    if now <= s[word.WRITTEN]:
        return
    s[word.WRITTEN] = now
    if not serves(s) or refuses_all(s) or size(s[word.ISR]) < w[word.MIN_INSYNC]:
        return
    s[word.LOG + s[word.OWNER]] = now
    commit_more(s, w, now)


@inner
def replicate(s: Longs, w: Longs, delays: Longs, now: int) -> None:
    """Whoever is level has what the leader has, and may be asked for."""
    if not serves(s):
        return
    x = s[word.OWNER]
    s[word.STALE + x] = s[word.SHOCKED + x] = 0
    if refuses_all(s):
        return
    for b in range(w[word.REPLICAS]):
        if follows(s, b):
            copy_log(s, b, x)
            s[word.FAR + b] = s[word.LOG + x]
            s[word.LEVEL_AT + b] = now
            sent = s[word.GUARDS] & guard.FETCH_EPOCH
            s[word.FAR_EPOCH + b] = s[word.EPOCH + b] if sent else word.NONE
            s[word.FAR_LIFE + b] = s[word.EPOCH + b]
            s[word.STALE + b] = s[word.SHOCKED + b] = 0
    commit_more(s, w, now)
    s[word.KNOWN_MARK + x] = s[word.HIGH_WATERMARK]
    for b in range(w[word.REPLICAS]):
        if follows(s, b):
            s[word.KNOWN_MARK + b] = s[word.HIGH_WATERMARK]
            if not contains(s[word.ISR], b):
                _expand(s, delays, b, now)


@inner
def commit_more(s: Longs, w: Longs, now: int) -> None:
    """The high watermark moves to the lowest end among those that count."""
    wanted = min(w[word.MIN_INSYNC], w[word.REPLICAS])
    if s[word.GUARDS] & guard.WITH_MIN_ISR and size(s[word.ISR]) < wanted:
        return
    x = s[word.OWNER]
    lowest = s[word.LOG + x]
    pending = s[word.PENDING + x] if s[word.GUARDS] & guard.MAXIMAL_ISR else 0
    for b in range(w[word.REPLICAS]):
        if b != x and s[word.FAR + b] < lowest:
            counts = contains(s[word.ISR], b) or contains(pending, b)
            if counts or _is_waited_for(s, w, b, now):
                lowest = s[word.FAR + b]
    if lowest > s[word.HIGH_WATERMARK]:
        s[word.HIGH_WATERMARK] = s[word.KNOWN_MARK + x] = lowest
        if lowest > s[word.COMMITTED]:
            commit_log(s, x, lowest)


@inner
def _is_waited_for(s: Longs, w: Longs, b: int, now: int) -> bool:
    if now - s[word.LEVEL_AT + b] > w[word.LAG_US]:
        return False
    return not s[word.GUARDS] & guard.WITHOUT_INELIGIBLE or is_eligible(s, b)


@inner
def is_eligible(s: Longs, b: int) -> bool:
    """Whether the leader may ask for a replica, as far as its metadata goes."""
    if s[word.FENCED + b] and s[word.GUARDS] & guard.SKIPS_FENCED:
        return False
    if s[word.LEAVING + b] and s[word.GUARDS] & guard.SKIPS_LEAVING:
        return False
    if not s[word.GUARDS] & guard.LEADER_COMPARES:
        return True
    if s[word.FENCED + b] or s[word.FAR_EPOCH + b] == word.NOT_FETCHED:
        return False
    return s[word.FAR_EPOCH + b] == word.NONE or s[word.FAR_EPOCH + b] == s[word.REG_EPOCH + b]


@inner
def _expand(s: Longs, delays: Longs, b: int, now: int) -> None:
    x = s[word.OWNER]
    if s[word.PENDING + x] or not is_eligible(s, b):
        return
    if s[word.RECOVERING] and s[word.GUARDS] & guard.LEADER_RECOVERS:
        return
    propose(s, delays, with_member(s[word.ISR], b), b, now)


@inner
def check_lag(s: Longs, w: Longs, delays: Longs, b: int, now: int) -> None:
    """The leader's look at who lags, on account of broker `b`."""
    if not serves(s) or s[word.PENDING + s[word.OWNER]]:
        return
    isr, end = s[word.ISR], s[word.LOG + s[word.OWNER]]
    for member in range(w[word.REPLICAS]):
        lags = s[word.FAR + member] != end and now - s[word.LEVEL_AT + member] > w[word.LAG_US]
        if lags and member != s[word.OWNER] and contains(isr, member):
            isr = without(isr, member)
    if isr != s[word.ISR]:
        propose(s, delays, isr, b, now)


@inner
def propose(s: Longs, delays: Longs, isr: int, cause: int, now: int) -> None:
    """Ask the controller for another ISR, on account of broker `cause`, if nothing is under way."""
    x = s[word.OWNER]
    if s[word.IN_FLIGHT + x]:
        # The manager refuses a second one: the leader goes back to the committed ISR.
        s[word.PENDING + x] = 0
        return
    at = _free_slot(s)
    if at == word.NONE:
        s[word.CHECKS] += 1
        return
    tried = min(s[word.TRIES + cause], DELAY_TRIES - 1)
    s[word.TRIES + cause] += 1
    s[at + word.ARRIVES] = now + delays[(cause * word.BROKERS + x) * DELAY_TRIES + tried]
    s[at + word.NAME] = s[word.TURN]
    s[at + word.SENDER] = x
    s[at + word.SENDER_LIFE], s[at + word.SENDER_EPOCH] = s[word.LIFE + x], s[word.EPOCH + x]
    s[at + word.ASKED_LEADER_EPOCH] = s[word.LEADER_EPOCH]
    s[at + word.ASKED_PARTITION_EPOCH] = s[word.PARTITION_EPOCH]
    s[at + word.ASKED_ISR] = isr
    for b in range(word.BROKERS):
        own, far = b == x, s[word.FAR_EPOCH + b]
        far = word.NONE if far == word.NOT_FETCHED else far
        s[at + word.ASKED_EPOCHS + b] = s[word.EPOCH + b] if own else far
        s[at + word.ASKED_LIVES + b] = s[word.EPOCH + b] if own else s[word.FAR_LIFE + b]
    s[word.PENDING + x], s[word.PENDING_NAME + x], s[word.IN_FLIGHT + x] = isr, s[word.TURN], 1


@inner
def _free_slot(s: Longs) -> int:
    for slot in range(word.SLOTS):
        if s[slot_at(slot) + word.ARRIVES] == 0:
            return slot_at(slot)
    return word.NONE


# --- how far two logs say the same ----------------------------------------------------------------

_PROMISED = word.BROKERS
"""The log of what is committed."""


@inner
def _end_of(s: Longs, a: int) -> int:
    return s[word.COMMITTED] if a == _PROMISED else s[word.LOG + a]


@inner
def _share(s: Longs, a: int, b: int, end: int) -> None:
    s[word.PREFIXES + a * word.LOGS + b] = s[word.PREFIXES + b * word.LOGS + a] = end


@inner
def begin_history(s: Longs, x: int) -> None:
    """`x` begins to lead: whether anybody has more than it."""
    longest = 0
    for a in range(word.LOGS):
        longest = max(longest, _end_of(s, a))
    if s[word.PARTED] or longest <= s[word.LOG + x]:
        return
    s[word.PARTED] = 1
    for a in range(word.LOGS):
        for b in range(word.LOGS):
            _share(s, a, b, min(_end_of(s, a), _end_of(s, b)))


@inner
def copy_log(s: Longs, b: int, x: int) -> None:
    """`b` fetches from `x`, and has from now on what `x` has."""
    s[word.LOG + b] = s[word.LOG + x]
    if not s[word.PARTED]:
        return
    for a in range(word.LOGS):
        if a != b and a != x:
            _share(s, a, b, s[word.PREFIXES + a * word.LOGS + x])
    _share(s, b, x, s[word.LOG + x])


@inner
def cut_log(s: Longs, b: int, end: int) -> None:
    """What `b` has beyond `end` is gone."""
    s[word.LOG + b] = min(s[word.LOG + b], end)
    if not s[word.PARTED]:
        return
    for a in range(word.LOGS):
        if a != b:
            _share(s, a, b, min(s[word.PREFIXES + a * word.LOGS + b], end))


@inner
def commit_log(s: Longs, x: int, end: int) -> None:
    """What `x` has up to `end` is committed, and nothing else."""
    s[word.COMMITTED] = end
    if not s[word.PARTED]:
        return
    for b in range(word.BROKERS):
        if b != x:
            _share(s, _PROMISED, b, min(s[word.PREFIXES + x * word.LOGS + b], end))
    _share(s, _PROMISED, x, end)


@inner
def has_committed(s: Longs, x: int) -> bool:
    """Whether `x` has all that is committed."""
    if not s[word.PARTED]:
        return s[word.LOG + x] >= s[word.COMMITTED]
    return s[word.PREFIXES + _PROMISED * word.LOGS + x] >= s[word.COMMITTED]
