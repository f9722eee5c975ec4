"""Properties: what ought to hold, and under which rules and faults Kafka promises it.

A property that breaks outside its promise is a lesson. One that breaks inside it is a bug: in
Kafka, or in this model of it.
"""

from functools import partial

import msgspec

from ..protocol.features import Features
from ..protocol.guards import ELR, GUARDS, GuardKind, named
from ..protocol.ids import CONTROLLER
from ..protocol.releases import RELEASES, Mode

_DURABLE = (
    *("497.leader-epoch", "497.sender-is-leader", "497.partition-epoch", "497.leader-in-isr"),
    *("497.isr-of-replicas", "497.maximal-isr", "497.request-broker-epoch"),
    *("841.fenced", "841.shutting-down", "841.registered", "841.active-leader"),
    *("903.controller-epoch", "903.leader-epoch", "903.fetch-epoch"),
    *("320.fenced-fetch", "320.unknown-fetch", "kafka-7128.epoch-start"),
    *("631.one-live-incarnation", "631.heartbeat-epoch"),
)


class Property(msgspec.Struct, frozen=True, kw_only=True):
    """`needs` are the guards under which it is promised; `durable` that it is not promised once
    every ISR member died without the committed records (but with eligible leader replicas it still
    is), or after an unclean election;
    `needs_controller` that it is promised while somebody is the controller. `mode` is the only one
    that has what it speaks of. `harm` describes a run in which it broke.
    """

    id: str
    sentence: str
    needs: tuple[str, ...] = ()
    durable: bool = False
    needs_controller: bool = False
    mode: Mode | None = None
    harm: str = "a replica that lacks records could be elected"

    @property
    def promise(self) -> str:
        """The faults and features under which it must hold, in words."""
        words = []
        if self.needs:
            kips = sorted({GUARDS[g].subject for g in self.needs})
            words.append(f"with {', '.join(kips)}")
        if self.durable:
            words.append("while one member of the ISR still has the committed records")
            words[-1] += " (with eligible leader replicas in any case)"
            words[-1] += ", and without an unclean election"
        if self.needs_controller:
            words.append("while a broker is the controller")
        return "; ".join(words) or "always"


_DURABILITY = partial(Property, needs=_DURABLE, durable=True)
NO_COMMITTED_RECORD_LOST = _DURABILITY(
    id="no-committed-record-lost",
    sentence="Every leader has every record that was ever committed.",
)
ELECTABLE_HOLDS_COMMITTED = _DURABILITY(
    id="electable-holds-committed",
    sentence="Every replica that could be elected now has every committed record.",
)
NO_STALE_EPOCH_IN_ISR = Property(
    id="no-stale-epoch-in-isr",
    sentence="Every member of the ISR is the incarnation that caught up (except a last member).",
    needs=_DURABLE,
)
HIGH_WATERMARK_STAYS = Property(
    id="high-watermark-never-back",
    sentence="The high watermark of a current leader never goes back.",
)
EPOCHS_STAY = Property(
    id="epochs-never-back",
    sentence="Leader, partition, broker and controller epochs never go back.",
)
LOGS_MATCH = Property(
    id="logs-match",
    sentence="Two logs that agree at an offset agree at every offset before it.",
    needs=("631.one-live-incarnation",),
)
CONSUMER_READS_STAY = _DURABILITY(
    id="consumer-reads-stay",
    sentence="Every leader has every record that a consumer has read.",
)
ACKNOWLEDGED_RECORDS_STAY = _DURABILITY(
    id="acknowledged-records-stay",
    sentence="The leader has every record that was acknowledged to a producer with acks=all.",
)
GIVEN_WHILE_RECOVERING_STAYS = Property(
    id="given-while-recovering-stays",
    sentence=(
        "Every leader has every record that a consumer read while the partition was"
        " RECOVERING, from a broker of that leader epoch."
    ),
    needs=("704.leader-recovers", "704.leader-refuses", "704.follower-refuses"),
)
RECOVERED_RECORDS_STAY = Property(
    id="recovered-records-stay",
    sentence=(
        "Once a recovery is over, every leader has all records that its leader, or a later one,"
        " has committed."
    ),
    needs=_DURABLE,
)

_WITH_ZOOKEEPER = partial(
    Property,
    mode=Mode.ZOOKEEPER,
    needs=("380.control-request-epoch", "380.shutdown-epoch", "380.bounce-detection"),
)
REPLICA_FETCHES = _WITH_ZOOKEEPER(
    id="replica-fetches",
    sentence="At rest, every replica of a broker that is up is leader or follower.",
    needs_controller=True,
    harm="a replica is abandoned",
)
LEADER_SERVES = _WITH_ZOOKEEPER(
    id="leader-serves",
    sentence="At rest, a leader that is up knows that it leads.",
    needs_controller=True,
    harm="a leader does not know that it leads",
)
BROKER_ELECTABLE = _WITH_ZOOKEEPER(
    id="broker-electable",
    sentence="At rest, no controller treats a running broker as shutting down.",
    harm="a broker is never elected again",
)
CHECKPOINT_KEEPS_PARTITIONS = _WITH_ZOOKEEPER(
    id="checkpoint-keeps-partitions",
    sentence="The file of high watermarks is never written without a partition that it had.",
    harm="a high watermark is forgotten",
)

PROPERTIES = {p.id: p for p in tuple(globals().values()) if isinstance(p, Property)}
"""Every property by id."""


def properties_of(features: Features) -> tuple[Property, ...]:
    """Those that speak of something that a cluster with these features has."""
    mode = RELEASES[features.release].mode
    return tuple(p for p in PROPERTIES.values() if p.mode in (None, mode))


def is_promised(
    promise: Property,
    features: Features,
    *,
    excused: bool,
    forged: bool,
    without_controller: bool = False,
) -> bool:
    """Whether `found` must hold here: its guards act on every node, and no fault excuses it.

    `without_controller`: nobody is the controller. A real 3.4.1 was seen to stay so. When
    /controller is deleted after an election, and before the brokers handle NodeCreated of that
    election, no session watches it; NodeCreated makes a controller resign, and nobody stands for
    election (KafkaController.processControllerChange and maybeResign, 2.1.1 to 3.4.1).
    """
    if forged or (excused and promise.durable) or (without_controller and promise.needs_controller):
        return False
    needs = set(promise.needs)
    if promise.durable and features.has_elr:
        # Only all of KIP-966 keeps whoever lost its disk out of both lists.
        needs.update(named(f"966.{ELR}"))
    nodes = [CONTROLLER, *(n for n, _ in features.nodes)]
    active = [features.active(n) for n in nodes]
    if features.nodes:
        # A broker that `nodes` does not name runs the common release.
        active.append(msgspec.structs.replace(features, nodes=()).active(CONTROLLER))
    return all(needs <= a and not a & ALTERNATIVES for a in active)


_VOIDING = (GuardKind.ALTERNATIVE,)
"""Kinds of guards that void every promise while they are on: no release has them."""
ALTERNATIVES = frozenset(g.id for g in GUARDS.values() if g.kind in _VOIDING)
"""Guards that void every promise while they are on."""
