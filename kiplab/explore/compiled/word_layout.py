"""Where every field of a state is: ten words of 64 bits, of which the lowest 62 are used.

Brokers are numbered 0, 1, 2 in the order of their ids. Sets of brokers are three bits, bit b for
broker b. Numbers are small: offsets, leader epochs and partition epochs count from the play's own
(fitting.py), incarnations from 1. In tables about the two other brokers, the place of `other` at
`broker` is `(other - broker + 2) % 3`.
"""

from typing import Any

BROKERS = 3
LOG, ROLE, COMMITTED, CONTROLLER, FLIGHT, WORDS = 0, 3, 6, 7, 8, 10

TWO, THREE, FOUR, SIX = 3, 7, 15, 63
"""Masks of so many bits."""
LOG_BITS = (1 << 52) - 1
NOBODY = 3
"""In place of a leader, where there is none."""

Field = tuple[int, int, int, int]
"""Where a field is: (word of the first broker, lowest bit, mask, bits between two in a table)."""
# LOG + b, of broker b. A log is in COMMITTED, too: its end, and six entries from FIRST_ENTRY on,
# each 4 bits of leader epoch (0: none) and 4 of start offset. MARK is the high watermark.
LOG_OF, LIFE, UP = (LOG, 0, LOG_BITS, 0), (LOG, 52, THREE, 0), (LOG, 55, 1, 0)
MARK, LEADER = (LOG, 56, FOUR, 0), (LOG, 60, TWO, 0)
FIRST_ENTRY, ENTRY_BITS, ENTRIES = 4, 8, 6
# ROLE + b, of broker b, 0 while it is down; all but the leader epoch is of a leader.
EPOCH, LEADS, PARTITION_EPOCH = (ROLE, 0, FOUR, 0), (ROLE, 4, 1, 0), (ROLE, 5, FOUR, 0)
START, ISR = (ROLE, 9, FOUR, 0), (ROLE, 13, THREE, 0)
# Whether a proposal is pending, its members, and all of it; incarnations of the two others in it as
# they fetched, and as on the wire.
SENT, PROPOSED, PROPOSAL = (ROLE, 16, 1, 0), (ROLE, 17, THREE, 0), (ROLE, 16, (1 << 16) - 1, 0)
SENT_OBSERVED, SENT_WIRE = (ROLE, 20, SIX, 0), (ROLE, 26, SIX, 0)
# Of the two others: how far they are, end + 1; what the metadata shows, and its partition epoch.
REMOTE, REMOTE_END, REMOTE_LIFE = (ROLE, 32, 127, 7), (ROLE, 32, FOUR, 7), (ROLE, 36, THREE, 7)
VIEW, VIEW_LIFE, VIEW_FENCED = (ROLE, 46, FOUR, 4), (ROLE, 46, THREE, 4), (ROLE, 49, 1, 4)
VIEW_EPOCH = (ROLE, 54, FOUR, 0)
# COMMITTED, of the observer.
COMMITTED_LOG, DAMAGED = (COMMITTED, 0, LOG_BITS, 0), (COMMITTED, 52, THREE, 0)
EXCUSED = (COMMITTED, 55, 1, 0)
# CONTROLLER.
FENCED, C_LEADER = (CONTROLLER, 0, THREE, 0), (CONTROLLER, 3, TWO, 0)
C_EPOCH, C_PARTITION_EPOCH = (CONTROLLER, 5, FOUR, 0), (CONTROLLER, 9, FOUR, 0)
C_ISR, BUDGETS = (CONTROLLER, 13, THREE, 0), (CONTROLLER, 25, FOUR, 4)
# Incarnations in which members of the ISR caught up; 0: no member.
LIVES, ALL_LIVES = (CONTROLLER, 16, THREE, 3), (CONTROLLER, 16, 511, 0)
WRITES, CRASHES, FENCES = range(3)
"""Places in BUDGETS."""

# FLIGHT, FLIGHT + 1: two AlterPartition requests each, in the order of sender and incarnation, 0
# for none. R_WIRE and R_OBSERVED are incarnations of the two others.
REQUESTS, REQUEST_BITS = 4, 28
REQUEST_MASK = (1 << REQUEST_BITS) - 1
IN_FLIGHT = (FLIGHT, 0, REQUEST_MASK, REQUEST_BITS)
R_WIRE, R_OBSERVED, R_MEMBERS, R_PARTITION_EPOCH = 0, 6, 12, 15
R_EPOCH, R_LIFE, R_SENDER = 19, 23, 26

MOST_OFFSET, MOST_EPOCH, MOST_LIFE = 14, 15, 7
"""The largest offset (its successor has to fit, too), epoch and incarnation."""

WRITE, FETCH, DELIVER, VIEW_KIND, CRASH, START_KIND, FENCE, UNFENCE, KINDS = range(9)
KIND_NAMES = ("write", "fetch", "deliver", "view", "crash", "start", "fence", "unfence")
BOUND_NAMES = ("writes", "crashes", "fences")
"""Kinds of actions and bounds in the level's order, by number and by name."""

# What an action came to, beside the state: places in the array `out`.
BROKEN, FIRED, MOVED, OVERFLOW, OUTS = range(5)
"""BROKEN: 0 nothing, 1 lost, 2 electable, 3 lost and then electable, 4 the other way round. FIRED:
guards that refused, as in RULES. MOVED: a high watermark moved. OVERFLOW: a field is too narrow."""

RULES = {
    "497.request-broker-epoch": (REQUEST_EPOCH := 1 << 0),
    "497.leader-epoch": (LEADER_EPOCH := 1 << 1),
    "497.sender-is-leader": (SENDER_LEADS := 1 << 2),
    "497.partition-epoch": (SAME_PARTITION_EPOCH := 1 << 3),
    "497.leader-in-isr": (LEADER_IN_ISR := 1 << 4),
    "841.fenced": (NOT_FENCED := 1 << 5),
    "903.controller-epoch": (CONTROLLER_CHECKS_EPOCH := 1 << 6),
    "841.leader-skips-fenced": (SKIPS_FENCED := 1 << 7),
    "903.leader-epoch": (LEADER_CHECKS_EPOCH := 1 << 8),
    "497.maximal-isr": (MAXIMAL := 1 << 9),
    "kafka-7128.epoch-start": (EPOCH_START := 1 << 10),
    "966.committed-with-min-isr": (MIN_ISR := 1 << 11),
    "320.fenced-fetch": (FENCED_FETCH := 1 << 12),
    "320.unknown-fetch": (UNKNOWN_FETCH := 1 << 13),
    "631.one-live-incarnation": (ONE_LIVE := 1 << 14),
    "kafka-15021.shrink-keeps-epoch": (SHRINK_KEEPS := 1 << 15),
    "497.pending-outlives-metadata": (OUTLIVES := 1 << 16),
    "903.bump-leader-epochs": (BUMPS := 1 << 17),
    "903.epoch-from-metadata": (FROM_METADATA := 1 << 18),
}
"""Compiled guards, each with its bit in the rules and FIRED. guards_without_effect.toml has all
others."""
FETCH_SAYS_LIFE, ALTER_SAYS_LIVES, EMPTY_BUMPS = (1 << len(RULES) + number for number in range(3))
"""What versions carry: Fetch 15, AlterPartition 3. And whether the last member's fencing bumps the
leader epoch although no ISR is written (partition_change.Code.compares_the_target)."""

P_RULES, P_BROKERS, P_ORDER, P_WANTED, PARAMETERS = 0, 1, 2, 5, 6
"""Places in `ints`: rules, number of brokers, brokers as the replicas are, min.insync.replicas."""


def get(words: Any, field: Field, broker: int = 0, place: int = 0) -> int:
    """One field: of a broker, if there is one of each, at a place in a table, if it is one."""
    return int((words[field[0] + broker] >> (field[1] + field[3] * place)) & field[2])


def put(words: Any, field: Field, broker: int, value: int, place: int = 0) -> None:
    """Write one field."""
    word, shift = field[0] + broker, field[1] + field[3] * place
    words[word] = (words[word] & ~(field[2] << shift)) | (value << shift)
