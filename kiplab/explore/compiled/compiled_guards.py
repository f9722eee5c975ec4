"""Guards of the compiled search: compiled, without effect at its level, or refused.

`word_layout.RULES` are compiled. For every other guard of KRaft this file gives the reason why it
makes no difference to the compiled search. A guard without a reason ends in NotCompiledError where
it is on, as those of eligible leader replicas (KIP-966) do. A guard that is off everywhere changes
nothing: no action of the level switches guards. Guards of other modes are never on in a cluster of
KRaft's, and the level begins with no other.
"""

from ...engine.cluster import Cluster
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER
from ...protocol.kraft.partition_change import Code
from . import word_layout as at


class NotCompiledError(ValueError):
    """Why the compiled search cannot speak of a question; the engine's own search can."""


_NO_SHUTDOWN = "Nothing shuts down at this level, and it refuses plays that begin so."
_NO_UNCLEAN = "The level refuses plays with an unclean election, and none of its actions is one."
WITHOUT_EFFECT: dict[str, str] = {
    "kafka-14154.newer-epoch": (
        "Epochs reach a leader from the only controller there is, so no request names a newer one."
    ),
    "497.isr-of-replicas": (
        "Every broker has a replica, and a leader proposes its ISR and one follower, each once."
    ),
    "704.recovering-alone": _NO_UNCLEAN,
    "704.no-way-back": _NO_UNCLEAN,
    "704.leader-recovers": _NO_UNCLEAN,
    "704.leader-refuses": _NO_UNCLEAN,
    "704.follower-refuses": _NO_UNCLEAN,
    "704.unclean-again": _NO_UNCLEAN,
    "704.aborts-transactions": _NO_UNCLEAN,
    "704.election-epoch": _NO_UNCLEAN,
    "704.election-boolean": "Every AlterPartition says RECOVERED, which is 0 in either form.",
    "841.registered": "Every broker is registered as the play begins, and stays so.",
    "841.shutting-down": _NO_SHUTDOWN,
    "841.leader-skips-shutting-down": _NO_SHUTDOWN,
    "841.active-leader": _NO_SHUTDOWN,
    "903.fetch-epoch": "It is compiled as what it does: the Fetch version (FETCH_SAYS_LIFE).",
    "kafka-15021.committed-without-ineligible": (
        "Without a clock a high watermark waits for no replica outside the ISR."
    ),
    "kafka-15221.stale-fetch": (
        "A fetch and its answer are one action, so that no fetch outlives its sender."
    ),
    "kafka-15221.locked-state": "A fetch and its answer are one action: no other comes in between.",
    "320.validated-position": "Consumers are no part of this level.",
    "631.heartbeat-epoch": (
        "A heartbeat and its answer are one action, and only a registered broker sends it."
    ),
    "kafka-12670.unclean-by-config": _NO_UNCLEAN,
}
"""Guards of KRaft that are not compiled, and why none can make a difference there."""


def check_guards(start: Cluster) -> None:
    """Raises NotCompiledError that names the guards that are on and of which nothing is known."""
    features = start.features
    if features.has_elr:
        without = "elr=0 (on the command line --elr 0) asks about a cluster without them"
        raise NotCompiledError(f"it knows no eligible leader replicas (KIP-966); {without}")
    active = features.active(CONTROLLER).union(*(features.active(b.id) for b in start.brokers))
    unknown = sorted(active - at.RULES.keys() - WITHOUT_EFFECT.keys())
    if unknown:
        raise NotCompiledError(f"nothing is compiled for {', '.join(unknown)}, which is on here")


def rules_of(features: Features) -> int:
    """The guards that are on, and what the versions carry, as the bits of word_layout.py."""
    active = features.active(CONTROLLER)
    bits = sum(bit for id, bit in at.RULES.items() if id in active)
    if features.fetch_version() >= 15:
        bits |= at.FETCH_SAYS_LIFE
    if features.alter_partition_version(CONTROLLER) >= 3:
        bits |= at.ALTER_SAYS_LIVES
    code = Code(features.code_of(CONTROLLER), features.metadata_version, active)
    if code.compares_the_target:
        bits |= at.EMPTY_BUMPS
    return bits
