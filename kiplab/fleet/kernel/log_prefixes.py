"""How far two logs say the same, once a leader began without what another log has.

Logs are times. As long as every leader has all that anybody has, there is one history: every log is
a beginning of it, and two logs share the shorter one. A leader with less begins another history.
Whoever has more keeps it until it fetches, and may lead with it later; so from then on it is kept
for each two logs how far they are the same. What is committed counts as one more log.
"""

from . import set_words as word
from .machine_code import inner

_PROMISED = word.BROKERS
"""The log of what is committed."""


@inner
def _end_of(s: list[int], a: int) -> int:
    return s[word.COMMITTED] if a == _PROMISED else s[word.LOG + a]


@inner
def _share(s: list[int], a: int, b: int, end: int) -> None:
    s[word.PREFIXES + a * word.LOGS + b] = s[word.PREFIXES + b * word.LOGS + a] = end


@inner
def begin_history(s: list[int], x: int) -> None:
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
def copy_log(s: list[int], b: int, x: int) -> None:
    """`b` fetches from `x`, and has from now on what `x` has."""
    s[word.LOG + b] = s[word.LOG + x]
    if not s[word.PARTED]:
        return
    for a in range(word.LOGS):
        if a != b and a != x:
            _share(s, a, b, s[word.PREFIXES + a * word.LOGS + x])
    _share(s, b, x, s[word.LOG + x])


@inner
def cut_log(s: list[int], b: int, end: int) -> None:
    """What `b` has beyond `end` is gone."""
    s[word.LOG + b] = min(s[word.LOG + b], end)
    if not s[word.PARTED]:
        return
    for a in range(word.LOGS):
        if a != b:
            _share(s, a, b, min(s[word.PREFIXES + a * word.LOGS + b], end))


@inner
def commit_log(s: list[int], x: int, end: int) -> None:
    """What `x` has up to `end` is committed, and nothing else."""
    s[word.COMMITTED] = end
    if not s[word.PARTED]:
        return
    for b in range(word.BROKERS):
        if b != x:
            _share(s, _PROMISED, b, min(s[word.PREFIXES + x * word.LOGS + b], end))
    _share(s, _PROMISED, x, end)


@inner
def has_committed(s: list[int], x: int) -> bool:
    """Whether `x` has all that is committed."""
    if not s[word.PARTED]:
        return s[word.LOG + x] >= s[word.COMMITTED]
    return s[word.PREFIXES + _PROMISED * word.LOGS + x] >= s[word.COMMITTED]
