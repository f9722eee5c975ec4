"""Properties: what ought to hold, and under which rules and faults Kafka promises it.

A property that breaks outside its promise is a lesson. One that breaks inside it is a bug: in
Kafka, or in this model of it.
"""

import tomllib
from importlib.resources import files

import msgspec
from msgspec import convert

from ..protocol.features import Features
from ..protocol.guards import ELR, GUARDS, GuardKind, named
from ..protocol.ids import CONTROLLER
from ..protocol.releases import RELEASES, Mode


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


_TABLE = tomllib.loads((files(__package__) / "properties.toml").read_text("utf-8"))
_NEEDS = _TABLE.pop("needs")
PROPERTIES = {
    id: convert({**said, "id": id, "needs": _NEEDS.get(said.get("needs"), ())}, Property)
    for id, said in _TABLE.items()
}
"""Every property by id."""
NO_COMMITTED_RECORD_LOST = PROPERTIES["no-committed-record-lost"]
ELECTABLE_HOLDS_COMMITTED = PROPERTIES["electable-holds-committed"]
NO_STALE_EPOCH_IN_ISR = PROPERTIES["no-stale-epoch-in-isr"]
HIGH_WATERMARK_STAYS = PROPERTIES["high-watermark-never-back"]
EPOCHS_STAY = PROPERTIES["epochs-never-back"]
LOGS_MATCH = PROPERTIES["logs-match"]
CONSUMER_READS_STAY = PROPERTIES["consumer-reads-stay"]
ACKNOWLEDGED_RECORDS_STAY = PROPERTIES["acknowledged-records-stay"]
GIVEN_WHILE_RECOVERING_STAYS = PROPERTIES["given-while-recovering-stays"]
RECOVERED_RECORDS_STAY = PROPERTIES["recovered-records-stay"]
REPLICA_FETCHES = PROPERTIES["replica-fetches"]
LEADER_SERVES = PROPERTIES["leader-serves"]
BROKER_ELECTABLE = PROPERTIES["broker-electable"]
CHECKPOINT_KEEPS_PARTITIONS = PROPERTIES["checkpoint-keeps-partitions"]


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
