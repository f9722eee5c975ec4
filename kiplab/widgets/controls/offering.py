"""What a list or a menu offers, as values; and the element that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from ...plays.play import Statement
from ..elements.choice_list import ChoiceList, ChoiceRow, Section
from ..elements.labelled import careful
from ..history_tree.bench import Bench
from .actions import impossible
from .choices import Choice
from .foresight import foreseen


class GoTo(msgspec.Struct, frozen=True):
    """Stand on a step; with `acts`, to do something there that the run did not."""

    step: int
    acts: bool = False


class Offer(msgspec.Struct, frozen=True):
    """What can be done, in words, and what it is about in the picture."""

    words: str
    deed: Statement | GoTo
    thing: str = ""


class OfferGroup(msgspec.Struct, frozen=True):
    """Offers under a heading; and what cannot be done now, with the reasons, in words."""

    title: str
    offers: tuple[Offer, ...]
    not_now: tuple[str, ...] = ()


def sorted_out(title: str, choices: tuple[Choice, ...], thing: str) -> OfferGroup:
    """Choices about a thing: those that can be made now, and why the others cannot."""
    offers = (Offer(c.label, c.line, thing) for c in choices if c.reason is None)
    return OfferGroup(title, tuple(offers), impossible(choices))


class Offering:
    """Shows groups in `list`; calls `act` with the line that is chosen, or `go` with a step."""

    def __init__(
        self, bench: Bench, act: Callable[[Statement], None], go: Callable[[GoTo], None], pops: bool
    ) -> None:
        self._bench, self._act, self._go = bench, act, go
        self._offers: tuple[Offer, ...] = ()
        chosen, foresee = careful(self._chosen), self._foresee
        self.list = ChoiceList(foresee, chosen, pops=pops)

    def show(self, bench: Bench, groups: Iterable[OfferGroup]) -> None:
        """Offer these where one stands."""
        self._bench, told = bench, tuple(groups)
        self._offers = tuple(offer for group in told for offer in group.offers)
        self.list.show([_section(group) for group in told])

    def _foresee(self, place: int) -> tuple[str, ...]:
        deed = self._offers[place].deed
        if isinstance(deed, Statement):
            return foreseen(self._bench, deed)
        then = "Choose there what happens next; this run is kept." if deed.acts else ""
        return tuple(filter(None, (f"The Lab stands on step {deed.step}.", then)))

    def _chosen(self, place: int) -> None:
        deed = self._offers[place].deed
        if isinstance(deed, Statement):
            self._act(deed)
        else:
            self._go(deed)


def _section(group: OfferGroup) -> Section:
    notes = tuple(f"Not now: {note}." for note in group.not_now)
    return Section(group.title, tuple(_row(offer) for offer in group.offers), notes)


def _row(offer: Offer) -> ChoiceRow:
    said = offer.deed.text if isinstance(offer.deed, Statement) else ""
    return ChoiceRow(offer.words, said, offer.thing)
