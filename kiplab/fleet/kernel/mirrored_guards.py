"""Which guards of the protocol the kernel has, as bits, and why it needs no others.

Every guard of the table is in each mode that knows it either mirrored (`mirrored_in`: a bit, a
check in the kernel, and schedules that tell whether it is there) or without effect here
(`without_effect_in`, with the reason). With ZooKeeper the kernel is that of an inter-broker
protocol from 2.7-IV2 to 3.2, or with `WRITES` of 2.6.
"""

from ...protocol.features import Features
from ...protocol.guards import GUARDS
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import Mode

MIRRORED = (
    "497.request-broker-epoch",
    "497.leader-epoch",
    "497.sender-is-leader",
    "497.partition-epoch",
    "841.shutting-down",
    "841.fenced",
    "903.controller-epoch",
    "841.leader-skips-fenced",
    "841.leader-skips-shutting-down",
    "903.fetch-epoch",
    "903.leader-epoch",
    "497.maximal-isr",
    "kafka-15021.committed-without-ineligible",
    "966.committed-with-min-isr",
    "631.one-live-incarnation",
    "841.active-leader",
    "kafka-15021.shrink-keeps-epoch",
    "kafka-12670.unclean-by-config",
    "704.leader-recovers",
    "704.leader-refuses",
    "704.unclean-again",
)
"""In the order of their bits."""
(
    REQUEST_EPOCH, LEADER_EPOCH_IS, SENDER_LEADS, PARTITION_EPOCH_IS, NOT_LEAVING, NOT_FENCED,
    EPOCHS_MATCH, SKIPS_FENCED, SKIPS_LEAVING, FETCH_EPOCH, LEADER_COMPARES, MAXIMAL_ISR,
    WITHOUT_INELIGIBLE, WITH_MIN_ISR, ONE_INCARNATION, ACTIVE_LEADER, SHRINK_KEEPS_EPOCH,
    UNCLEAN_BY_CONFIG, LEADER_RECOVERS, LEADER_REFUSES, UNCLEAN_AGAIN,
) = (1 << bit for bit in range(len(MIRRORED)))  # fmt: skip

ASKED_BY_BROKERS = (SKIPS_FENCED | SKIPS_LEAVING | FETCH_EPOCH | LEADER_COMPARES | MAXIMAL_ISR) | (
    WITHOUT_INELIGIBLE | WITH_MIN_ISR | LEADER_RECOVERS | LEADER_REFUSES
)
"""The guards of leaders and followers: their release decides, and of all others the controller's.
"""
_ANY_BROKER = BrokerId(1)

PURGE = "purge_on_register"
"""What a feature set calls a controller that takes who registers anew out of the ISR."""
CONTROLLER_OF_4_0 = 1 << 42
"""Beside the bits of guards, what no guard switches: such a controller takes who registers anew out
of the ISR, bumps no leader epoch for an ISR that it does not write (KAFKA-16624), and looks for the
silent as soon as it is elected (KAFKA-17793)."""

WRITES = "leaders_write_isr"
"""What a feature set calls leaders that write the ISR to ZooKeeper themselves: up to inter-broker
protocol 2.7-IV1, before KIP-497."""
LEADERS_WRITE = 1 << 43
"""Beside the bits of guards: nobody is asked, nothing is on its way, nor is there a recovery state.
"""

ALWAYS_WITH_ZOOKEEPER: dict[str, str] = {
    "631.one-live-incarnation": (
        "A registration stands until its session is over: KafkaZkClient.checkedEphemeralCreate."
    ),
    "841.active-leader": (
        "Who shuts down is not elected: ControllerContext.isReplicaOnline (2.1.1 to 3.4.1)."
    ),
    "kafka-12670.unclean-by-config": (
        "unclean.leader.election.enable decides: offlinePartitionLeaderElection (2.1.1 to 3.4.1)."
    ),
}
"""What is a guard in KRaft's table and no switch of the code with ZooKeeper, which has always done
so, and where."""

_INSTANT = "Metadata reach every broker that can be reached with the event that wrote them."
_AT_ONCE = (
    "A follower fetches to the end at once, so that no fetch outlives what it was sent under."
)
_ASKED_WELL = "A leader of the kernel asks for its own ISR and one replica, or for less, each once."
_NOBODY_READS = "Who reads, and who writes transactions, is no part of the kernel."
_TAKEN_BACK = "What a KIP rejected is no feature set of the fleet."
WITHOUT_EFFECT: dict[str, str] = {
    "kafka-14154.newer-epoch": _INSTANT,
    "497.isr-of-replicas": _ASKED_WELL,
    "497.leader-in-isr": _ASKED_WELL,
    "704.recovering-alone": "A leader asks for RECOVERED, or for nothing.",
    "704.no-way-back": "A leader asks for RECOVERED, or for nothing.",
    "841.registered": "Every broker is registered from the beginning on, and stays so.",
    "kafka-7128.epoch-start": _AT_ONCE,
    "kafka-15221.stale-fetch": _AT_ONCE,
    "kafka-15221.locked-state": _AT_ONCE,
    "320.fenced-fetch": _INSTANT,
    "320.unknown-fetch": _INSTANT,
    "320.validated-position": _NOBODY_READS,
    "631.heartbeat-epoch": "Only the process that is registered last sends heartbeats.",
    "497.pending-outlives-metadata": "No metadata comes twice under one epoch.",
    "704.follower-refuses": _NOBODY_READS,
    "704.aborts-transactions": _NOBODY_READS,
    "704.election-epoch": _TAKEN_BACK,
    "704.election-boolean": _TAKEN_BACK,
    "903.bump-leader-epochs": _TAKEN_BACK,
    "903.epoch-from-metadata": _TAKEN_BACK,
}
"""In both modes, as far as they know the guard."""
_NO_OLD_MAIL = "A control request arrives with the event that queues it: KIP-380 is only counted."
_NO_TWO_CONTROLLERS = "A controller that was lost never speaks again."
_NEVER_BUILT = "KIP-343 was never built: how long a cut broker goes on is only counted."
_OF_3_3 = "Code of 3.3 and later, or what it brought to ZooKeeper; the kernel is that of 3.2."
LATER_WITH_ZOOKEEPER: dict[str, str] = dict.fromkeys(
    ("841.registered", "841.shutting-down", "zookeeper.leader-skips-absent"), _OF_3_3
)
"""What is switched off in an engine of 3.4 that is to be one of 3.2."""
WITHOUT_EFFECT_WITH_ZOOKEEPER: dict[str, str] = {
    **LATER_WITH_ZOOKEEPER,
    **{id: _NO_OLD_MAIL for id in GUARDS if id.startswith("380.")},
    **{id: _NEVER_BUILT for id in GUARDS if id.startswith("343.")},
    "kafka-9839.newer-epoch": _NO_OLD_MAIL,
    "570.stop-replica-epoch": _NO_OLD_MAIL,
    "kafka-13972.equal-epoch": _NO_OLD_MAIL,
    "zookeeper.controller-epoch": _NO_TWO_CONTROLLERS,
    "zookeeper.controller-check": _NO_TWO_CONTROLLERS,
    "zookeeper.isr-version": "A leader asks the controller, or writes over what it has just read.",
}


ALWAYS_IN_THE_KERNEL: dict[str, str] = {
    "zookeeper.leader-epoch": "A process begins a leader epoch once: metadata_rules.inform.",
}
"""Guards that no release lacks, and the kernel has without a bit: it cannot do without them."""


def without_effect_in(mode: Mode) -> dict[str, str]:
    """The guards of a mode that the kernel does not have there, and why."""
    own = WITHOUT_EFFECT_WITH_ZOOKEEPER if mode is Mode.ZOOKEEPER else {}
    return {**{id: why for id, why in WITHOUT_EFFECT.items() if mode in GUARDS[id].modes}, **own}


def mirrored_in(mode: Mode) -> tuple[str, ...]:
    """The guards that the kernel has in a mode, in the order of their bits."""
    if mode is Mode.KRAFT:
        return MIRRORED
    own = {id for id in MIRRORED if mode in GUARDS[id].modes} - set(LATER_WITH_ZOOKEEPER)
    return tuple(id for id in MIRRORED if id in own | set(ALWAYS_WITH_ZOOKEEPER))


def guard_bits(features: Features) -> int:
    """The bits of the guards that are on, and of what the code does without being asked.

    Every broker is taken to have the release of the first.
    """
    if features.mode is Mode.ZOOKEEPER:
        writes = LEADERS_WRITE if features.leaders_write_isr() else 0
        return _bits(features, _ANY_BROKER) | _ALWAYS | writes
    controller_bits = _bits(features, CONTROLLER) & ~ASKED_BY_BROKERS
    later = CONTROLLER_OF_4_0 if features.code_of(CONTROLLER) >= (4, 0) else 0
    return later | controller_bits | _bits(features, _ANY_BROKER) & ASKED_BY_BROKERS


def _bits(features: Features, node: BrokerId) -> int:
    active = features.active(node)
    return sum(1 << bit for bit, guard in enumerate(MIRRORED) if guard in active)


_ALWAYS = sum(1 << MIRRORED.index(id) for id in ALWAYS_WITH_ZOOKEEPER)
