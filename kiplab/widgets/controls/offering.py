"""What a list or a menu offers, and what would follow from it; and the list of all that can happen
next, faults apart, which opens in the place of the buttons.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.enabled import EVERYTHING, enabled
from ...engine.explain import sentence
from ...engine.truth import truth
from ...plays import verdict as verdicts
from ...plays.move_lines import statement_of
from ...plays.play import Statement
from ...plays.play_errors import PlayError
from ...plays.stage import Stage
from ...plays.transcript import lines_of
from ...protocol.facts import Destroyed, NotProposed, Refused, Truncated
from ...protocol.ids import host_of, node_name
from ...rows.columns import plural
from ...rows.step_labels import expected
from ..elements.kinds import ChoiceList, Element, Section
from ..elements.labelled import watch
from ..history_tree.playback import Playback, act
from ..markup import because, capital, record_of
from .actions import Drawer, LabLike, impossible
from .broker_offers import GoTo, Offer, standing
from .cluster_offers import WAITS_MS, consumers, holds_in_words, in_short, producers


class OfferGroup(msgspec.Struct, frozen=True):
    """Offers under a heading; and what cannot be done now, with the reasons, in words."""

    title: str
    offers: tuple[Offer, ...]
    not_now: tuple[str, ...] = ()


def sorted_out(title: str, offers: Iterable[Offer], thing: str) -> OfferGroup:
    """Offers about a thing: those that can be done now, and why the others cannot."""
    every = tuple(offers)
    possible = tuple(replace(one, thing=thing) for one in every if one.reason is None)
    return OfferGroup(title, possible, impossible(every))


class Offering:
    """Shows groups in `list`; the line that is chosen is done, and `go` gets a step."""

    def __init__(self, lab: LabLike, go: Callable[[GoTo], None], *, pops: bool) -> None:
        self._lab, self._go = lab, go
        self._offers: tuple[Offer, ...] = ()
        self.list = ChoiceList(self._foresee, self._chosen, pops=pops)

    def show(self, groups: Iterable[OfferGroup]) -> None:
        shown = tuple(groups)
        self._offers = tuple(offer for group in shown for offer in group.offers)
        sections: list[Section] = []
        for group in shown:
            rows = [[offer.label, offer.line.text, offer.thing] for offer in group.offers]
            notes = [f"Not now: {note}." for note in group.not_now]
            sections.append({"title": group.title, "rows": rows, "notes": notes})
        self.list.show(sections)

    def _foresee(self, place: int) -> tuple[str, ...]:
        line, to = self._offers[place].line, self._offers[place].to
        if to is None:
            return foreseen(self._lab.playback, line)
        then = ("Choose there what happens next; this run is kept.",) * to.acts
        return (f"The Lab stands on step {to.step}.", *then)

    def _chosen(self, place: int) -> None:
        offer = self._offers[place]
        if offer.to is None:
            self._lab.act(offer.line)
        else:
            self._go(offer.to)


# --- what would follow ----------------------------------------------------------------------------

SENTENCES_MAX, EVENTS_MAX = 3, 2
NOTHING, NOTHING_ON_RECORD = "Nothing changes.", "Nothing changes that is on record."
_TELLING = (Refused, NotProposed, Destroyed, Truncated)
"""Events that get a sentence; of the others, their consequences do."""


def foreseen(playback: Playback, line: Statement) -> tuple[str, ...]:
    """A few sentences, the most telling first: what is refused, lost, on record, on its way.

    The playback stays as it is. A line that cannot be done is explained.
    """
    try:
        after = act(playback, line).here
    except PlayError as problem:
        return (because(problem),)
    # What the transcript would say first, where nothing changes that is on record.
    _, *lines = lines_of(after, after.performed[-1])
    first = tuple(capital(f"{line.strip()[1:].strip()}.") for line in lines[:EVENTS_MAX])
    nothing = NOTHING if after.cluster == playback.here.cluster else NOTHING_ON_RECORD
    return (tuple(_consequences(playback.here, after)) or first or (nothing,))[:SENTENCES_MAX]


def _consequences(before: Stage, after: Stage) -> Iterator[str]:
    # Different errors come before repetitions: room is scarce.
    telling = [e for e in after.events_of(after.performed[-1]) if isinstance(e, _TELLING)]
    kinds = [getattr(event, "error", event) for event in telling]
    for at in sorted(range(len(telling)), key=lambda at: kinds[at] in kinds[:at]):
        yield capital(f"{sentence(telling[at]).split('. ')[0]}.")
    then, now = (f"{verdicts.verdict(s)}, {verdicts.sentence(s)}" for s in (before, after))
    if now != then:
        yield f"Verdict: {now}."
    yield from _records(before, after)
    for node in after.cluster.brokers:
        old, new = standing(before.cluster, node.id), standing(after.cluster, node.id)
        if old != new:
            yield f"Broker {node.id}: {new}."
    # What would be sent and not arrive by itself.
    earlier = {message.name for message in before.cluster.messages}
    if sent := [str(m.name) for m in after.cluster.messages if m.name not in earlier]:
        yield f"Then on its way: {', '.join(sent)}."
    held = holds_in_words(after)
    if held != holds_in_words(before):
        yield held or "Nothing is held back any more."


def _records(before: Stage, after: Stage) -> Iterator[str]:
    """``orders-0: ISR {1, 2} → {1}, partition epoch 9 → 10.``"""
    for state in truth(after.cluster).partitions:
        old, new = record_of(before, state.name), record_of(after, state.name)
        changes = [f"{k} {old.get(k)} → {v}" for k, v in new.items() if old.get(k) != v]
        if changes:
            yield f"{state.name}: {', '.join(changes)}."


# --- what can happen next ------------------------------------------------------------------------

TITLE, ORDINARY, FAULTS = "What can happen next", "In the ordinary course", "Faults"


class WhatNext:
    """The list, in a drawer. `covered` is hidden while that is open."""

    def __init__(self, lab: LabLike, go: Callable[[GoTo], None], covered: Element) -> None:
        self._lab, self._covered = lab, covered
        self.offering = Offering(lab, go, pops=False)
        tooltip = "Every event that is possible now, and what would follow from it"
        self.drawer = Drawer(TITLE, self._fill, self.offering.list, tooltip=tooltip)
        self.toggle, self.box, self.show = self.drawer.toggle, self.drawer.box, self.drawer.show
        watch(self.toggle, "value", self._cover)

    def open(self) -> None:
        self.toggle.value = True
        self.offering.list.call()

    def _fill(self) -> None:
        self.offering.show(groups_of(happenings(self._lab.playback.here.cluster)))

    def _cover(self, is_open: bool) -> None:
        self._covered.layout.display = "none" if is_open else "flex"


def groups_of(happenings: tuple[Offer, ...]) -> Iterator[OfferGroup]:
    for title, are_faults in ((ORDINARY, False), (FAULTS, True)):
        here = tuple(offer for offer in happenings if offer.is_fault is are_faults)
        yield OfferGroup(title, here)


def happenings(cluster: Cluster) -> tuple[Offer, ...]:
    """All that can happen: what is on its way first, then in the engine's order."""
    readers, writers = consumers(cluster), producers(cluster)
    waits = WAITS_MS if cluster.timed else ()
    menu = replace(EVERYTHING, poll=readers, producers=writers, advance_ms=waits)
    return tuple(_happening(cluster, move) for move in enabled(cluster, menu))


def _happening(cluster: Cluster, move: moves.Move) -> Offer:
    line, words = statement_of(move), _words(move)
    if isinstance(move, moves.AboutMessage):
        line = in_short(cluster, line, move.message)
    is_fault = isinstance(move, moves.FAULTS)
    return Offer(capital(words), line, thing=_thing(move), is_fault=is_fault)


def _words(move: moves.Move) -> str:
    if isinstance(move, moves.AboutMessage):
        return f"{move.message} {moves.ENDS[type(move)]}"
    if isinstance(move, moves.Produce):
        return f"{plural(move.count, 'record')} written to {node_name(move.broker)}"
    return expected(statement_of(move))


def _thing(move: moves.Move) -> str:
    """What a move is about, by the fields that it has."""
    if isinstance(move, moves.AboutMessage):
        return f"message {move.message}"
    nodes = (getattr(move, name, None) for name in ("broker", "node", "other"))
    node = next((node for node in nodes if node is not None), None)
    if node is not None:
        return node_name(host_of(node))
    partition = getattr(move, "partition", "")
    return f"partition {partition}" if partition else "controller"
