"""Which plays fit into words, and what the words of one play stand for.

word_layout.py has the words, small_numbers.py the numbers in them.
"""

from collections.abc import Mapping

from ...engine.cluster import Cluster
from ...engine.truth import registration_of, truth
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, NO_LEADER, BrokerId
from ...protocol.kraft.partition_change import Code
from ...protocol.replica.broker_parts import here, process_of
from ...protocol.replica.high_watermark import wanted_in_sync
from . import word_layout as at
from .compiled_guards import check_guards
from .small_numbers import NotCompiledError, SmallNumbers


class Encoding:
    """What all words of one search have in common: its play's brokers, numbers and rules.

    `start` is the play's normal form. Raises NotCompiledError with a reason for people.
    """

    def __init__(self, start: Cluster, bounds: Mapping[str, int]) -> None:
        _check(start, bounds)
        self.start = start
        self.state = truth(start).partitions[0]
        self.ids = [b.id for b in start.brokers]
        self.numbers = SmallNumbers(start, bounds["writes"])

    def number(self, broker: BrokerId) -> int:
        """A broker as the words have it."""
        return at.NOBODY if broker == NO_LEADER else self.ids.index(broker)

    def broker(self, number: int) -> BrokerId:
        """The broker of that number."""
        return NO_LEADER if number == at.NOBODY else self.ids[number]

    def members(self, bits: int) -> tuple[BrokerId, ...]:
        """The brokers whose bits are set."""
        return tuple(b for number, b in enumerate(self.ids) if bits >> number & 1)

    def place(self, id: BrokerId, other: BrokerId) -> int:
        """Where `other` stands in a table about the two other brokers, at broker `id`."""
        return (self.ids.index(other) - self.ids.index(id) + at.BROKERS - 1) % at.BROKERS


def rules_of(features: Features) -> int:
    """The guards that are on, and what the versions carry, as the bits of word_layout.py."""
    active = features.active(CONTROLLER)
    bits = sum(1 << number for number, id in enumerate(at.RULES) if id in active)
    if features.fetch_version() >= 15:
        bits |= at.FETCH_SAYS_LIFE
    if features.alter_partition_version(CONTROLLER) >= 3:
        bits |= at.ALTER_SAYS_LIVES
    code = Code(features.code_of(CONTROLLER), features.metadata_version, active)
    if code.compares_the_target:
        bits |= at.EMPTY_BUMPS
    return bits


def parameters_of(start: Cluster) -> list[int]:
    """The array `given` of the rules."""
    state, features = truth(start).partitions[0], start.features
    ids = [b.id for b in start.brokers]
    order = [ids.index(b) for b in state.replicas]
    first = start.brokers[0]
    wanted = wanted_in_sync(here(first, features, None), process_of(first).replicas[0])
    given = [rules_of(features), len(ids), *order, *[0] * (at.BROKERS - len(ids)), wanted]
    assert len(given) == at.PARAMETERS
    return given


def _check(start: Cluster, bounds: Mapping[str, int]) -> None:
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
    if any(registration_of(start, b) is None for b in ids):
        raise NotCompiledError("it begins with brokers that are all registered")
    first = max(b.incarnation for b in start.brokers)
    if first + bounds["crashes"] > at.MOST_LIFE:
        most = at.MOST_LIFE - first
        raise NotCompiledError(f"its words have room for {most} crashes at most")
