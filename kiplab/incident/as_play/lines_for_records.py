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
from ...protocol.kraft import records
from ..log_items import UNKNOWN
from ..states import PartitionState
from .compared_records import FEATURES, SETTINGS, RecordTarget
from .header_of_history import RECORDS, WORDS, metadata_version_of

PlayLines = tuple[str, ...]
SHORT_MS = 1_000
"""Records of one handler are not further apart. Who joins sooner after it was unfenced may have
been asked for before.
"""


class Situation(NamedTuple):
    """What is to come, and how it stands: the partition in the log before the next record, and
    what a process that dies takes along (the word of ``disk=``).
    """

    todo: Sequence[RecordTarget]
    cluster: Cluster
    state: PartitionState
    disk: str

    def dies(self, id: int) -> str:
        """The line for a process that dies."""
        return f"crash {id} disk={self.disk}"

    def runs(self, id: int) -> bool:
        """Whether the broker has a process in the engine."""
        node = broker(self.cluster, BrokerId(id))
        return node is not None and node.process is not None


def tries(now: Situation) -> Iterator[PlayLines]:
    """The lines to try for the first of `todo`."""
    content, after = now.todo[0].content, now.todo[0].after
    level = next((t for t in now.todo[:3] if t.content is None), None)
    if level is not None:
        yield (_upgrade(level),)
    if isinstance(content, records.ConfigRecord):
        setting = f"{SETTINGS[content.name]}={WORDS.get(content.value, content.value)}"
        verb = f"configure {content.topic}" if content.topic else "configure-brokers"
        yield (f"{verb} {setting}",)
    elif isinstance(content, records.RemoveTopicRecord):
        yield (f"delete-topic {content.topic}",)
    else:
        yield from _of_brokers(now)
        if after is not None:
            yield from _of_partition(now, after)


def _upgrade(target: RecordTarget) -> str:
    fields, version = target.event.record.fields, metadata_version_of(target.event.cluster)
    word = FEATURES[fields["name"]]
    return f"upgrade {word}={version if word == 'metadata' else fields['featureLevel']}"


def _of_brokers(now: Situation) -> Iterator[PlayLines]:
    """What the next broker of the log does; changes of the partition before it may be its doing."""
    changes = [*takewhile(lambda t: t.broker is None, now.todo)]
    cause = now.todo[len(changes)] if len(changes) < len(now.todo) else None
    if cause is None or not all(_may_belong(change, cause) for change in changes):
        return
    content, id = cause.content, NO_LEADER if cause.broker is None else cause.broker
    if isinstance(content, records.RegisterBrokerRecord):
        yield from _registers(now, id, cause)
    elif isinstance(content, records.UnregisterBrokerRecord):
        yield (f"send unregister-broker from={id} broker={id}",)
    elif getattr(content, "in_controlled_shutdown", 0):
        yield (f"shut-down {id}",)
    elif _is_fence(cause):
        later = (t for t in now.todo[len(changes) + 1 :] if t.broker == id)
        yield from _is_fenced(now, id, next(later, None))
    else:
        yield (f"unfence {id}",)
        yield (f"heartbeat {id}",)


def _may_belong(change: RecordTarget, cause: RecordTarget) -> bool:
    """Whether one handler may have written both: it does so at one time."""
    one, other = change.event.record, cause.event.record
    is_near = UNKNOWN in (one.time, other.time) or other.time - one.time <= SHORT_MS
    return change.after is not None and is_near and change.event.cause in (UNKNOWN, other.offset)


def _registers(now: Situation, id: int, target: RecordTarget) -> Iterator[PlayLines]:
    release = target.event.incarnation.release if target.event.incarnation is not None else ""
    is_other = release not in ("", now.cluster.features.release_of(BrokerId(id)))
    start = (*((f"upgrade {id} kafka={release}",) if is_other else ()), f"start {id}")
    yield (now.dies(id), *start) if now.runs(id) else start
    # A stop in order leaves no record where the broker leads nothing and its session lasts.
    yield (f"shut-down {id}", *start)


def _is_fenced(now: Situation, id: int, following: RecordTarget | None) -> Iterator[PlayLines]:
    if not now.runs(id):
        yield (f"expire {id}",)
        return
    registered = registration_of(now.cluster, BrokerId(id))
    if registered is not None and registered.in_controlled_shutdown:
        others = tuple(f"heartbeat {b.id}" for b in now.cluster.brokers if b.process and b.id != id)
        yield (f"heartbeat {id}",)
        yield (*others, f"heartbeat {id}")
    fenced_again = following is not None and _is_fence(following)
    if _stopped_in_order(now, id) or fenced_again:
        # From 4.0 on a heartbeat of a broker that stops counts as a session: it is fenced twice.
        yield (f"shut-down {id}",)
    elif following and not isinstance(following.content, records.RegisterBrokerRecord):
        # It comes back as the same process: it lived, and was not heard.
        yield (f"expire {id}",)
    yield (now.dies(id), f"expire {id}")
    yield (f"shut-down {id}",)


def _is_fence(target: RecordTarget) -> bool:
    is_old = isinstance(target.content, records.FenceBrokerRecord)
    changes = isinstance(target.content, records.BrokerRegistrationChangeRecord)
    return is_old or (changes and getattr(target.content, "fenced", 0) == 1)


def _stopped_in_order(now: Situation, id: int) -> bool:
    """Whether the controller takes its next registration for that of a broker that stopped in
    order: with KIP-966, Unclean recovery, it leaves such a one in the ELR.
    """
    state = now.state
    for target in now.todo:
        if target.broker == id and isinstance(target.content, records.RegisterBrokerRecord):
            return target.event.cluster.has_elr and id in (*state.isr, *state.elr)
        state = target.after or state
    return False


def _of_partition(now: Situation, after: PartitionState) -> Iterator[PlayLines]:
    """What the leader or an operator does."""
    before, name, leader = now.state, after.name, after.leader
    if leader == before.leader:
        yield tuple(f"catch-up {b}" for b in after.isr if b not in before.isr)
        # Without any record behind, nobody has been behind for too long.
        kept = tuple(f"catch-up {b}" for b in after.isr if b != leader and now.runs(b))
        yield (f"produce {name} count={RECORDS}", *kept, f"check-lag {leader}")
    yield (f"elect {name}",)
    yield (f"elect {name} unclean=yes",)
