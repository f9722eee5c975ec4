"""Entries of the ledger that are seen in plays and rows: rules at work, expectations, properties.

A rule is seen at work: the play that the entry names goes otherwise without it, and if it refuses,
it is among the refused. A line of a play stands in it and holds. A property breaks or holds where
the entry says so. Each check yields sentences; no sentence means that the entry holds.
"""

from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from kiplab.engine.events import Event, PropertyBroken
from kiplab.engine.properties import PROPERTIES
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.values import feature_set
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import Features, switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import CONTROLLER, BrokerId
from tests.fidelity.rule_rows import ids_of
from tests.ledger.clauses import Played, PropertyInPlay, RuleAtWork, RuleInTest
from tests.protocol.looked_at import Vector, all_vectors, without

Wrong = Iterator[str]


@cache
def staged(play: str, at: str) -> Stage:
    """The play under a feature set, ``""`` for its own. Raises PlayError if there is none."""
    return run_play(load(play), feature_set(at) if at else None)


def rule_at_work(entry: RuleAtWork) -> Wrong:
    """A guard and a play that goes otherwise without it."""
    guard, where = GUARDS.get(entry.guard), f"{entry.play} {entry.at}".strip()
    if guard is None:
        yield f"there is no guard {entry.guard}"
        return
    if not _is_play(entry.play):
        yield f"there is no play {entry.play}"
        return
    stage = staged(entry.play, entry.at)
    if not any(entry.guard in stage.features.active(node) for node in _nodes(stage.features)):
        yield f"{entry.guard} is not on in {where}"
        return
    without = run_play(stage.play, switched(stage.features, entry.guard, False))
    if _happened(without) == _happened(stage):
        yield f"{where} goes the same way without {entry.guard}: name a play that needs it"
    elif guard.error is not None and entry.guard not in _refused(stage):
        yield f"{entry.guard} refuses nothing in {where}"


def _refused(stage: Stage) -> set[str | None]:
    return {event.guard for event in stage.events if isinstance(event, Refused)}


def _nodes(features: Features) -> tuple[BrokerId, ...]:
    return (CONTROLLER, *(node for node, _ in features.nodes))


def _happened(stage: Stage) -> list[Event]:
    """The events, whatever is promised of them: that hangs on the guards themselves."""
    return [
        replace(event, promised=False) if isinstance(event, PropertyBroken) else event
        for event in stage.events
    ]


def rule_in_test(entry: RuleInTest) -> Wrong:
    """A guard and a row of the tests that fails without it."""
    if entry.guard not in GUARDS:
        yield f"there is no guard {entry.guard}"
        return
    rows = [vector for vector in _vectors() if entry.row in names_of(vector)]
    if not rows:
        yield f"there is no row {entry.row} in tests/protocol/test_vectors_*.py"
    elif all(row.passes(without(entry.guard)) for row in rows):
        yield f"{entry.row} passes without {entry.guard}: name a row that needs it"


_vectors = cache(all_vectors)


def names_of(vector: Vector) -> set[str]:
    """What a row of tests/protocol is called: by its test, by its name, by Kafka's tests' ids."""
    return {vector.test.__name__, vector.row.partition(" ")[0], *ids_of(vector)}


def _is_play(name: str) -> bool:
    return name in names()


def played(entry: Played) -> Wrong:
    """A line of a play."""
    if not _is_play(entry.play):
        yield f"there is no play {entry.play}"
        return
    first = entry.expect.split()[0]
    stage = staged(entry.play, first if first.startswith("@") else "")
    line = " ".join(f"expect {entry.expect}".split())
    found = [e.status for e in stage.expectations if e.text == line]
    if not found:
        yield f"{entry.play} has no line `{line}`"
    elif "held" not in found:
        yield f"`{line}` of {entry.play} {found[0]}"


def property_in_play(entry: PropertyInPlay) -> Wrong:
    """A property and a play."""
    if entry.property not in PROPERTIES:
        yield f"there is no property {entry.property}; they are {', '.join(PROPERTIES)}"
        return
    if not _is_play(entry.play):
        yield f"there is no play {entry.play}"
        return
    if entry.breaks is None and entry.holds is None:
        yield f"say where {entry.property} `breaks`, or `holds`, in {entry.play}"
    for at, breaks in ((entry.breaks, True), (entry.holds, False)):
        if at is None:
            continue
        broken = {id for id, _ in staged(entry.play, at).cluster.broken}
        if (entry.property in broken) is not breaks:
            does = "holds" if breaks else "breaks"
            yield f"{entry.property} {does} in {entry.play} {at}".rstrip()
