"""The plays and guards that fit into words, and the meaning of one play's words.

`word_layout.RULES` are compiled; of every other guard of KRaft guards_without_effect.toml says why
it makes no difference here. A guard that is off everywhere changes nothing: no action of the level
switches guards. Guards of other modes are never on in a cluster of KRaft's, and the level begins
with no other.
Offsets and epochs of a play are small numbers in words. Rules only compare offsets and add single
records. So a long stretch without events may shrink, as long as the records that can still be
written fit into it. Epochs rise by one from the highest existing one.
"""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.renumbering import Numbering, renumbered
from ...engine.truth import truth
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER
from ...protocol.kraft.partition_change import Code
from ...protocol.replica.broker_parts import here, process_of
from ...protocol.replica.remote_replicas import wanted_in_sync
from ..levels import normal_partition as forms
from . import word_layout as at


class NotCompiledError(ValueError):
    """Why the compiled search cannot speak of a question; the engine's own search can."""


def parameters_of(start: Cluster) -> list[int]:
    """The array `ints` of the rules."""
    state, features = truth(start).partitions[0], start.features
    ids = [b.id for b in start.brokers]
    order = [ids.index(b) for b in state.replicas]
    first = start.brokers[0]
    wanted = wanted_in_sync(here(first, features, None), process_of(first).replicas[0])
    parameters = [rules_of(features), len(ids), *order, *[0] * (at.BROKERS - len(ids)), wanted]
    assert len(parameters) == at.PARAMETERS
    return parameters


def check_play(start: Cluster, bounds: Mapping[str, int]) -> None:
    """Raises NotCompiledError for a play, in its normal form, that has no words."""
    features, state = start.features, truth(start).partitions[0]
    mixed = any(r != features.release for _, r in features.nodes)
    if mixed or features.code_of(CONTROLLER) < (3, 3):
        raise NotCompiledError("it knows clusters whose nodes all run one release from 3.3 on")
    ids = [b.id for b in start.brokers]
    if len(ids) > at.BROKERS or sorted(state.replicas) != ids:
        raise NotCompiledError("it knows one to three brokers that all have a replica")
    check_guards(start)
    registered = [r.broker for r in truth(start).registrations]
    down = [b.id for b in start.brokers if b.process is None or not b.process.replicas]
    if down or registered != ids or start.cut:
        raise NotCompiledError("it begins with brokers that are all up, registered and connected")
    first = max(b.incarnation for b in start.brokers)
    if first + bounds["crashes"] > at.MOST_LIFE:
        most = at.MOST_LIFE - first
        raise NotCompiledError(f"its words have room for {most} crashes at most")


# --- guards ---------------------------------------------------------------------------------------

_FILE = tomllib.loads((files(__package__) / "guards_without_effect.toml").read_text("utf-8"))
WITHOUT_EFFECT: dict[str, str] = {
    id: reason["why"] for reason in _FILE["without_effect"] for id in reason["guards"]
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


# --- offsets and epochs ---------------------------------------------------------------------------


class NumberScale:
    """Numbers of a play, rising, and the small ones that stand for them.

    Between two of them lies what lay there before, but at most `room`; beyond the last one
    everything goes on one by one.
    """

    def __init__(self, name: str, numbers: Iterable[int], first: int, room: int) -> None:
        self.name = name
        self.real = sorted(set(numbers))
        self.small = [first]
        for one, next in zip(self.real, self.real[1:], strict=False):
            self.small.append(self.small[-1] + min(next - one, room))

    def down(self, number: int) -> int:
        """The small number. Raises NotCompiledError if it is not small enough."""
        place = max(i for i, real in enumerate(self.real) if real <= number)
        return fitting(self.name, self.small[place] + number - self.real[place], at.FOUR)


def fitting(name: str, value: int, most: int) -> int:
    """`value` itself. Raises NotCompiledError where a word has no room for it."""
    if not 0 <= value <= most:
        raise NotCompiledError(f"{name} {value} is beyond the {most} that its words have room for")
    return value


class SmallNumbers:
    """The three number scales of one search that may write `writes` records.

    Raises NotCompiledError when a log has a leader epoch that the controller does not know yet.
    """

    def __init__(self, cluster: Cluster, writes: int) -> None:
        numbers: dict[Numbering, set[int]] = {numbering: set() for numbering in Numbering}

        def note(numbering: Numbering, _whose: str, number: int) -> int:
            numbers[numbering].add(number)
            return number

        # A leader's metadata is the controller's as a play begins, and has no leader epochs.
        imageless = tuple(forms.without_image(b) for b in cluster.brokers)
        renumbered(replace(cluster, brokers=imageless, messages=()), note)
        epochs, versions = numbers[Numbering.LEADER], numbers[Numbering.PARTITION] - {-1}
        if min(epochs) < 0 or max(epochs) > truth(cluster).partitions[0].leader_epoch:
            raise NotCompiledError("a log has a leader epoch that the controller does not know yet")
        offsets = {0} | numbers[Numbering.OFFSET] - {-1}
        self.offsets = NumberScale("offset", offsets, 0, writes + 1)
        self.epochs = NumberScale("leader epoch", epochs, 1, 1)
        self.versions = NumberScale("partition epoch", [min(versions)], 0, 1)
