"""Which guards of the protocol the kernel has, as bits, and why it needs no others.

Every guard of KRaft is either mirrored (MIRRORED: a bit, a check in the kernel, and schedules that
tell whether it is there) or without effect here (WITHOUT_EFFECT, with the reason).
"""

from ...protocol.features import Features
from ...protocol.ids import BrokerId

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
    "966.elr-members",
    "966.elr-empty-isr",
    "966.elr-election",
    "966.elr-last-known-leader",
    "966.elr-unclean-shutdown",
)
"""In the order of their bits."""
(
    REQUEST_EPOCH, LEADER_EPOCH_IS, SENDER_LEADS, PARTITION_EPOCH_IS, NOT_LEAVING, NOT_FENCED,
    EPOCHS_MATCH, SKIPS_FENCED, SKIPS_LEAVING, FETCH_EPOCH, LEADER_COMPARES, MAXIMAL_ISR,
    WITHOUT_INELIGIBLE, WITH_MIN_ISR, ONE_INCARNATION, ACTIVE_LEADER, SHRINK_KEEPS_EPOCH,
    UNCLEAN_BY_CONFIG, LEADER_RECOVERS, LEADER_REFUSES, UNCLEAN_AGAIN, ELR_MEMBERS, EMPTY_ISR,
    ELR_ELECTION, LAST_LEADER, STRIKES_UNCLEAN, CODE_OF_4_0,
) = (1 << bit for bit in range(len(MIRRORED) + 1))  # fmt: skip
"""The last one is no guard: from 4.0 on a session is a contact (KAFKA-17793), and a registration
takes the last incarnation out of the ISR. That sessions are looked at every 1.1 s is left out."""

_ANY_BROKER = BrokerId(1)
_INSTANT = "Metadata reach every broker that can be reached with the event that wrote them."
_AT_ONCE = (
    "A follower fetches to the end at once, so that no fetch outlives what it was sent under."
)
_ASKED_WELL = "A leader of the kernel asks for its own ISR and one replica, or for less, each once."
_NOBODY_READS = "Who reads, and who writes transactions, is no part of the kernel."
_TAKEN_BACK = "What a KIP rejected is no feature set of the fleet."
_AS_BUILT = "The set with eligible leader replicas is of a release that has it; none is of 4.0."
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
    "966.elr-cleared": "Nobody changes min.insync.replicas.",
    "kafka-19522.live-last-leader": _AS_BUILT,
    "pr-20629.last-known-by-leader": _AS_BUILT,
    "pr-20716.dirs-keep-elr": "A disk that fails is replaced by one with the same directory.",
}


def guard_bits(features: Features) -> int:
    """The bits of the guards that are on; every node is taken to have the release of the first."""
    active = features.active(_ANY_BROKER)
    bits = sum(1 << bit for bit, guard in enumerate(MIRRORED) if guard in active)
    return bits | (CODE_OF_4_0 if features.code_of(_ANY_BROKER) >= (4, 0) else 0)
