"""Which lines of a play may write the next records of a log: the likeliest first.

They are tries only: `play_of_history` runs each of them in the engine and takes the first one after
which the engine has written what the log has.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ...engine.cluster import Cluster, broker
from ...engine.truth import registration_of
from ...protocol.ids import NO_LEADER, BrokerId
from ..records import UNKNOWN
from ..states import PartitionState
from .compared_records import FEATURES, SETTINGS, RecordContent, Target
from .header_of_history import RECORDS, metadata_version_of

PlayLines = tuple[str, ...]
SHORT_MS = 1_000
"""Records of one handler are not further apart. Who joins sooner after it was unfenced may have
been asked for before.
"""
_GROUP = 12
"""How many changes of the partition may stand before the record of the broker that caused them."""


class Situation(NamedTuple):
    """What is to come, and how it stands: the partition in the log before the next record, and
    what a process that dies takes along (the word of ``disk=``).
    """

    todo: Sequence[Target]
    cluster: Cluster
    state: PartitionState
    disk: str


def tries(now: Situation) -> Iterator[PlayLines]:
    """The lines to try for the first of `todo`."""
    said, after = now.todo[0].content, now.todo[0].after
    about, _, setting = said.about.partition(":")
    silent = next((t for t in now.todo[:3] if t.is_silent), None)
    if silent is not None:
        yield _upgraded(silent)
    if said.record == "ConfigRecord":
        value = said.field("value") or ""
        word = SETTINGS[setting] + "=" + {"true": "yes", "false": "no"}.get(value, value)
        yield (f"configure {about} {word}",) if about else (f"configure-brokers {word}",)
    elif said.record == "RemoveTopicRecord":
        yield (f"delete-topic {about}",)
    else:
        yield from _of_brokers(now)
        if after is not None:
            yield from _of_partition(now, after)


def _upgraded(target: Target) -> PlayLines:
    level = target.content.field("level") or "0"
    word = FEATURES[target.content.about]
    version = metadata_version_of(target.event.cluster) if word == "metadata" else level
    return (f"upgrade {word}={version}",)


# --- brokers ------------------------------------------------------------------------------------


def _of_brokers(now: Situation) -> Iterator[PlayLines]:
    """What the next broker of the log does; changes of the partition before it may be its doing."""
    changes = list(takewhile(lambda t: t.content.broker is None, now.todo[:_GROUP]))
    cause = now.todo[len(changes) : len(changes) + 1]
    if not cause or not all(_may_belong(t, cause[0]) for t in changes):
        return
    said = cause[0].content
    id = said.broker if said.broker is not None else NO_LEADER
    later = [t for t in now.todo[len(changes) + 1 :] if t.content.broker == id]
    if said.record == "RegisterBrokerRecord":
        yield from _registers(now, id, cause[0])
    elif said.record == "UnregisterBrokerRecord":
        yield (f"send unregister-broker from={id} broker={id}",)
    elif said.field("in_controlled_shutdown"):
        yield (f"shut-down {id}",)
    elif _is_fence(said):
        yield from _is_fenced(now, id, later)
    else:
        yield (f"unfence {id}",)
        yield (f"heartbeat {id}",)


def _may_belong(change: Target, cause: Target) -> bool:
    """Whether one handler may have written both: it does so at one time."""
    one, other = change.event.record, cause.event.record
    is_near = UNKNOWN in (one.time, other.time) or other.time - one.time <= SHORT_MS
    return is_near and change.event.cause in (UNKNOWN, other.offset)


def _registers(now: Situation, id: int, target: Target) -> Iterator[PlayLines]:
    life = target.event.life
    old = now.cluster.features.release_of(BrokerId(id))
    release = life.release if life is not None else ""
    newer = (f"upgrade {id} kafka={release}",) if release and release != old else ()
    start = (*newer, f"start {id}")
    yield (f"crash {id} disk={now.disk}", *start) if _runs(now, id) else start
    # A stop in order leaves no record where the broker leads nothing and its session lasts.
    yield (f"shut-down {id}", *start)


def _is_fenced(now: Situation, id: int, later: Sequence[Target]) -> Iterator[PlayLines]:
    if not _runs(now, id):
        yield (f"expire {id}",)
        return
    registered = registration_of(now.cluster, BrokerId(id))
    if registered is not None and registered.in_controlled_shutdown:
        others = tuple(f"heartbeat {b.id}" for b in now.cluster.brokers if b.process and b.id != id)
        yield (f"heartbeat {id}",)
        yield (*others, f"heartbeat {id}")
    following = later[0].content if later else None
    if following is not None and _is_unfenced(following):
        # It comes back as the same process: it lived, and was not heard.
        yield (f"expire {id}",)
    if _stopped_in_order(now, id) or (following is not None and _is_fence(following)):
        # From 4.0 on a heartbeat of a broker that stops counts as a session: it is fenced twice.
        yield (f"shut-down {id}",)
    yield (f"crash {id} disk={now.disk}", f"expire {id}")
    yield (f"shut-down {id}",)


def _is_fence(said: RecordContent) -> bool:
    return said.record == "FenceBrokerRecord" or said.field("fenced") == "1"


def _is_unfenced(said: RecordContent) -> bool:
    return said.record == "UnfenceBrokerRecord" or said.field("fenced") == "-1"


def _stopped_in_order(now: Situation, id: int) -> bool:
    """Whether the controller takes its next registration for that of a broker that stopped in
    order: with KIP-966, Unclean recovery, it leaves such a one in the ELR.
    """
    state = now.state
    for target in now.todo:
        if target.content == RecordContent("RegisterBrokerRecord", str(id)):
            return target.event.cluster.has_elr and id in (*state.isr, *state.elr)
        state = target.after or state
    return False


def _runs(now: Situation, id: int) -> bool:
    node = broker(now.cluster, BrokerId(id))
    return node is not None and node.process is not None


# --- the partition --------------------------------------------------------------------------------


def _of_partition(now: Situation, after: PartitionState) -> Iterator[PlayLines]:
    """What the leader or an operator does."""
    before, name, leader = now.state, after.name, after.leader
    if leader == before.leader:
        yield tuple(f"catch-up {b}" for b in after.isr if b not in before.isr)
        # Without any record behind, nobody has been behind for too long.
        kept = tuple(f"catch-up {b}" for b in after.isr if b != leader and _runs(now, b))
        yield (f"produce {name} count={RECORDS}", *kept, f"check-lag {leader}")
    yield (f"elect {name}",)
    yield (f"elect {name} unclean=yes",)


def traffic(state: PartitionState) -> PlayLines:
    """Records that a leader takes, and that the whole ISR has: they are committed."""
    if state.leader == NO_LEADER:
        return ()
    followers = [b for b in state.isr if b != state.leader]
    return (f"produce {state.name} count={RECORDS}", *(f"catch-up {b}" for b in followers))
