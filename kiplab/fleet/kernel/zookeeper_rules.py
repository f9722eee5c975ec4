"""What is otherwise with ZooKeeper: sessions, registration, controlled shutdown, leader epochs.

The replica set is that of an inter-broker protocol from 2.7-IV2 to 3.2: leaders ask the controller
for another ISR (AlterIsr), which looks at epochs alone. Or it is one of 2.6, if the feature set
says so: leaders write the ISR to ZooKeeper by themselves, at once and without a controller. Nobody
is fenced: a broker is live from its registration, with its log already recovered, until its session
is over. ZooKeeper keeps sessions while there is no controller; a broker that is cut off longer than
its session lasts registers anew. A start finds NODEEXISTS while the session of an earlier life
lasts, and is tried again. While there is no controller brokers register and come back all the same,
but are told nothing: who is new plays no role, who was cut off follows if nobody else has come to
lead meanwhile, and who shuts down is not answered. Who was gone and is back by then has never been
away, for the next controller.

Simplified, all of it: a control request arrives with the event that queues it, so no mail is ever
old (KIP-380 counts what would be, and KIP-343 how long a cut broker goes on: neither changes what
the set does). ZooKeeper ends a session to the microsecond, not at its next tick. Which broker is
the controller is nobody's concern: its failovers come by a clock of their own. A follower that
shuts down is gone at once, as in KRaft. Who comes back with news missed neither leads nor follows
before it is told them.
"""

from . import set_words as word
from .isr_digits import contains, size, without
from .machine_code import inner
from .metadata_rules import (
    BY_CONTROLLER,
    BY_SHUTDOWN,
    account,
    change,
    gone,
    inform,
    tell_state,
    unfence,
)
from .mirrored_guards import ONE_INCARNATION

SHUTDOWN_BACKOFF_US = 5_000_000
"""controlled.shutdown.retry.backoff.ms"""
SHUTDOWN_TRIES = 3
"""controlled.shutdown.max.retries: how often a controller is asked, the first time included."""
_TRYING_US = (SHUTDOWN_TRIES - 1) * SHUTDOWN_BACKOFF_US


@inner
def session_lasts(s: list[int], w: list[int], b: int, now: int) -> bool:
    """Whether ZooKeeper still holds the registration of a broker."""
    return s[word.FENCED + b] == 0 and now < s[word.CONTACT + b] + w[word.SESSION_OVER_US]


@inner
def registered(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A new registration, under a new epoch: live at once. Where it stood before it left first.

    Source: KafkaController.processBrokerChange: who bounced is handled as dead, then as new.
    """
    if s[word.OUTAGE] == 0 and s[word.FENCED + b] == 0:
        gone(s, w, trace, b, now)
    s[word.EPOCH + b] = s[word.REG_EPOCH + b] = s[word.NEXT_EPOCH]
    s[word.NEXT_EPOCH] += 1
    s[word.LEAVING + b], s[word.LEAVES_SINCE + b] = 0, word.NONE
    _is_back(s, w, trace, b, now)
    if s[word.OUTAGE]:
        s[word.FENCED + b] = 0
    else:
        unfence(s, w, trace, b, now)


@inner
def _is_back(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """Heard of; and told what there is to know, if there is a controller."""
    s[word.CONTACT + b], s[word.EXPIRE_AT + b] = now, word.NEVER
    knows = s[word.LEADER] != word.NONE and s[word.SEEN_LEADER_EPOCH + b] == s[word.LEADER_EPOCH]
    if s[word.OUTAGE] and not knows:
        return
    s[word.LEVEL_DUE + b] = now + s[word.CATCH_UP_US + b]
    if s[word.OUTAGE] == 0:
        inform(s, w, trace, now)


@inner
def process_registers(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A process whose log is recovered registers, unless the session of an earlier life lasts."""
    if session_lasts(s, w, b, now) and s[word.GUARDS] & ONE_INCARNATION:
        s[word.READY_AT + b] = now + w[word.RETRY_US]
        return
    s[word.READY_AT + b], s[word.PHASE + b], s[word.SEEN_LEADER_EPOCH + b] = (
        word.NEVER,
        word.RUNNING,
        word.NONE,
    )
    s[word.KNOWN_MARK + b] = min(s[word.CHECKPOINT + b], s[word.LOG + b])
    registered(s, w, trace, b, now)


@inner
def linked_again(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A cut is over; a session that did not outlast it makes place for another."""
    if session_lasts(s, w, b, now):
        _is_back(s, w, trace, b, now)
    else:
        registered(s, w, trace, b, now)


@inner
def is_cut_off(s: list[int], b: int) -> None:
    """What a broker knows as it is cut off: nothing, if it was waiting for a controller."""
    waits = s[word.LEVEL + b] == 0 and s[word.LEVEL_DUE + b] == word.NEVER
    s[word.SEEN_LEADER_EPOCH + b] = word.NONE if waits else s[word.LEADER_EPOCH]


@inner
def _tell_all(s: list[int], w: list[int], trace: list[int], now: int) -> None:
    """Who came while there was no controller begins to catch up as he hears of what there is."""
    for b in range(w[word.REPLICAS]):
        runs = s[word.UP + b] != 0 and s[word.PHASE + b] >= word.RUNNING and s[word.CUT + b] == 0
        if runs and s[word.LEVEL + b] == 0 and s[word.LEVEL_DUE + b] == word.NEVER:
            s[word.LEVEL_DUE + b] = now + s[word.CATCH_UP_US + b]
    inform(s, w, trace, now)


@inner
def take_over(s: list[int], w: list[int], trace: list[int], now: int) -> None:
    """A new controller finds out whose session is over, and does not know who shuts down.

    Source: KafkaController.onControllerFailover (2.3.0 to 3.4.1): it takes the dead out of the ISR
    first, and elects then.
    """
    led, was = s[word.LEADER], s[word.PARTITION_EPOCH]
    s[word.LED_OFFLINE] = 0
    for b in range(w[word.REPLICAS]):
        s[word.LEAVING + b] = 0
        if s[word.EXPIRE_AT + b] < word.NEVER and not session_lasts(s, w, b, now):
            s[word.FENCED + b], s[word.EXPIRE_AT + b] = 1, word.NEVER
    for b in range(w[word.REPLICAS]):
        if s[word.FENCED + b]:
            _replica_offline(s, w, b, now)
    left = s[word.PARTITION_EPOCH]
    if s[word.LEADER] == word.NONE:
        change(s, w, trace, s[word.ISR], word.NONE, word.NONE, BY_CONTROLLER, now)
    if s[word.PARTITION_EPOCH] == left and left != was:
        tell_state(s, trace, now)
    if led != word.NONE and s[word.LEADER] == word.NONE:
        s[word.OFFLINE] += 1
    _tell_all(s, w, trace, now)


@inner
def _replica_offline(s: list[int], w: list[int], b: int, now: int) -> None:
    """With ZooKeeper, what a new controller writes of a dead replica before it elects anybody.

    The last member stays, and costs a leader epoch each time: removeReplicasFromIsr of
    ReplicaStateMachine (2.3.0 to 3.4.1), out of KafkaController.onControllerFailover.
    """
    if not contains(s[word.ISR], b):
        return
    account(s, w, now)
    if size(s[word.ISR]) > 1:
        s[word.ISR] = without(s[word.ISR], b)
    if s[word.LEADER] == b:
        s[word.LEADER] = word.NONE
    s[word.LEADER_EPOCH] += 1
    s[word.PARTITION_EPOCH] += 1


@inner
def hands_over(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A leader that shuts down: a live member of the ISR leads in its place, if there is one.

    Source: controlledShutdownPartitionLeaderElection (2.1.1 to 3.4.1).
    """
    s[word.LEAVING + b], s[word.CONTACT + b] = 1, now
    others, staying = without(s[word.ISR], b), 0
    for c in range(w[word.REPLICAS]):
        if contains(others, c) and s[word.FENCED + c] == 0 and s[word.LEAVING + c] == 0:
            staying += 1
    if staying:
        change(s, w, trace, others, b, word.NONE, BY_SHUTDOWN, now)


@inner
def asks_to_go(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A try of a leader: let go, or out of tries, it stops in the time that a stop takes.

    Source: KafkaServer.controlledShutdown (2.1.1 to 3.4.1).
    """
    if s[word.OUTAGE] == 0:
        hands_over(s, w, trace, b, now)
    goes = s[word.OUTAGE] == 0 and (s[word.LEADER] != b or w[word.REPLICAS] == 1)
    if not goes and now < s[word.GIVES_UP_AT + b]:
        s[word.STOP_AT + b] = now + SHUTDOWN_BACKOFF_US
        return
    s[word.STOP_AT + b], s[word.GIVES_UP_AT + b] = now + s[word.SHUTDOWN_US + b], now


@inner
def begins_to_go(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """The first try of a leader that shuts down."""
    s[word.GIVES_UP_AT + b] = now + _TRYING_US
    asks_to_go(s, w, trace, b, now)


@inner
def may_go(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> bool:
    """Whether a broker that was shutting down is gone now; if not, it has asked once more."""
    goes = s[word.OUTAGE] == 0 and (s[word.LEADER] != b or w[word.REPLICAS] == 1)
    if goes or now > s[word.GIVES_UP_AT + b]:
        return True
    asks_to_go(s, w, trace, b, now)
    return False


@inner
def stops_unseen(s: list[int], w: list[int], b: int, now: int) -> None:
    """Its session is closed, and nobody is there to see it before the next controller."""
    s[word.CONTACT + b] = now - w[word.SESSION_OVER_US]
    s[word.EXPIRE_AT + b] = s[word.OUTAGE] + 1
