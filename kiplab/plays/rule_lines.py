"""The lines of a header that ask for rules; and a play's lines under other rules than its own.

Some words of a header belong to one mode alone, some to eligible leader replicas. A play may be run
under rules without these: they have no effect there, and are not written.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ..protocol.features import Features
from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.releases import Mode
from .play import FREE_TEXT, Statement

_RULES = ("kafka", "metadata", "off", "on", "controller")
_WORDS: dict[Mode, dict[str, tuple[str, ...]]] = {
    Mode.KRAFT: {
        "broker": ("fenced", "shutting-down", "directories"),
        "replica": ("directory",),
        "controller": ("kafka", "auto-leader-rebalance", "min-insync-replicas"),
    },
    Mode.ZOOKEEPER: {"controller": ("broker", "epoch"), "given": ("zookeeper-servers",)},
}
"""Keys of a header's verbs, by the only mode in which they say something."""
_LINES: dict[Mode, tuple[str, ...]] = {Mode.KRAFT: ("timed",), Mode.ZOOKEEPER: ()}
"""The same, of whole lines: with ZooKeeper there is no clock."""


def strange_words(statement: Statement, mode: Mode) -> tuple[str, ...]:
    """The keys of a line that say something in the other mode only."""
    others = (verbs for other, verbs in _WORDS.items() if other is not mode)
    strange = {key for verbs in others for key in verbs.get(statement.verb, ())}
    return tuple(key for key, _ in statement.args if key in strange)


def in_mode(statements: Iterable[Statement], mode: Mode) -> Iterator[Statement]:
    """The lines without keys of the other mode; a line without any key left is dropped."""
    strange_lines = {verb for other in Mode if other is not mode for verb in _LINES[other]}
    for statement in statements:
        strange = strange_words(statement, mode)
        kept = tuple(arg for arg in statement.args if arg[0] not in strange)
        if statement.verb in strange_lines or (strange and not (kept or statement.words)):
            continue
        yield statement if not strange else replace(statement, args=kept)


_OF_ELR = ("elr", "last-known")
"""Keys of a topic that say something only of a cluster with eligible leader replicas."""


def heeded(statements: Iterable[Statement], features: Features) -> Iterator[Statement]:
    """The lines without keys that mean nothing under `features`: of the other mode, or of eligible
    leader replicas where the cluster has none.
    """
    for statement in in_mode(statements, features.mode):
        is_topic = statement.verb == "topic" and not features.has_elr
        yield _without_elr(statement) if is_topic else statement


def _without_elr(topic: Statement) -> Statement:
    """Without eligible leader replicas the last member stays in the ISR: who led last."""
    last = (topic.arg("last-known") or topic.arg("elr") or "none").partition(",")[0]
    args = ((k, last if (k, v) == ("isr", "none") else v) for k, v in topic.args)
    return replace(topic, args=tuple(arg for arg in args if arg[0] not in _OF_ELR))


def rules(features: Features, controller: Statement | None = None) -> Iterator[Statement]:
    """The lines that ask for these features, but for the releases of brokers.

    `controller` is the play's own line of that verb: what it says besides a release is said again.
    """
    elr = (("elr", "1"),) if features.has_elr else ()
    yield Statement("kafka", (features.release,), elr)
    yield Statement("metadata", (features.metadata_version,))
    for guard, on in features.overrides:
        yield Statement("on" if on else "off", (guard,))
    own = Statement("controller") if controller is None else controller
    strange = strange_words(own, features.mode)
    placed = _placed(own, CONTROLLER, features)
    args = tuple(arg for arg in placed.args if arg[0] not in strange)
    if args:
        yield replace(placed, args=args)


def under_rules(statements: Iterable[Statement], features: Features) -> tuple[Statement, ...]:
    """Lines of a play under other rules, which stand where its own did, or after what it asks.

    Every node has the release that it has under `features`.
    """
    lines = tuple(statements)
    own = next((s for s in lines if s.verb == "controller"), None)
    first = next((n for n, s in enumerate(lines) if s.verb in _RULES), None)
    last = max((n for n, s in enumerate(lines, 1) if s.verb in FREE_TEXT), default=0)
    at = last if first is None else first
    before, after = (_situation(part, features) for part in (lines[:at], lines[at:]))
    return (*before, *rules(features, own), *after)


def _situation(statements: Iterable[Statement], features: Features) -> Iterator[Statement]:
    """The lines that ask for no rules; every broker with the release that it has."""
    for statement in heeded(statements, features):
        if statement.verb == "broker":
            yield _placed(statement, BrokerId(int(statement.words[0])), features)
        elif statement.verb not in _RULES:
            yield statement


def _placed(statement: Statement, node: BrokerId, features: Features) -> Statement:
    """A node's line with the release that it has under these features, if not that of them all."""
    release = dict(features.nodes).get(node)
    args = tuple(arg for arg in statement.args if arg[0] != "kafka")
    return replace(statement, args=args if release is None else (*args, ("kafka", release)))
