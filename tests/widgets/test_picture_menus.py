"""Every lane, arrow and step of a picture has a menu, of the choices that the lists have."""

from collections.abc import Iterator
from typing import Any

import pytest

from kiplab.figures.timeline.whole_runs import drawing_so_far
from kiplab.plays.play import Statement
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of, rows_until
from kiplab.widgets.controls.broker_offers import GoTo, Offer
from kiplab.widgets.controls.offering import OfferGroup
from kiplab.widgets.controls.picture_menu import HERE, menu_for
from kiplab.widgets.history_tree.playback import Playback, act, read_line, seek
from tests.repeated import every_play
from tests.widgets.hands import SIX, made, opened

EVERY = every_play()


class Looker:
    """Somebody before the picture of a run."""

    def __init__(self, playback: Playback) -> None:
        self.playback = playback
        self.rows: Rows = rows_of(playback.whole)

    def at(self, step: int) -> "Looker":
        self.playback = seek(self.playback, step)
        return self

    @property
    def places(self) -> dict[str, Any]:
        """Where things are in the picture of the step where one stands."""
        now = rows_until(self.rows, self.playback.here)
        found: dict[str, Any] = drawing_so_far(now, self.rows)["layout"]["meta"]["places"]
        return found

    @property
    def things(self) -> Iterator[str]:
        """Everything that can be clicked there."""
        places = self.places
        yield from (lane[0] for lane in places["lanes"])
        yield from (arrow[0] for arrow in places["arrows"])
        yield from (f"step {number}" for number, _ in places["steps"])

    def menu(self, thing: str) -> tuple[OfferGroup, ...]:
        return menu_for(thing, self.playback, self.rows)

    def offers(self, thing: str) -> dict[str, Offer]:
        """The offers of a thing, by their words."""
        return {o.label: o for group in self.menu(thing) for o in group.offers}

    def notes(self, thing: str) -> list[str]:
        """What cannot be done with it now, and why."""
        return [note for group in self.menu(thing) for note in group.not_now]


def looking_at(name: str, step: int = 0) -> Looker:
    return Looker(opened(name)).at(step)


@pytest.mark.parametrize("name", [*EVERY, "six"])
def test_everything_in_the_picture_has_a_menu_that_keeps_its_word(name: str) -> None:
    looker = Looker(made(SIX) if name == "six" else opened(name))
    for step in range(looker.playback.last + 1):
        for thing in looker.at(step).things:
            offers = looker.offers(thing)
            assert offers or looker.notes(thing), thing
            for offer in offers.values():
                if offer.to is None:
                    assert act(looker.playback, offer.line).at >= looker.playback.at
                else:
                    assert 0 <= offer.to.step <= looker.playback.last


def test_a_brokers_lane_offers_what_its_buttons_do_and_says_why_not() -> None:
    looker = looking_at("kafka-14139", 1)
    offers = looker.offers("broker 2")
    lines = {o.line.text for o in offers.values() if o.to is None}
    wanted = {"crash 2", "crash 2 disk=tail-lost", "crash 2 disk=replaced", "expire 2", "fetch 2"}
    assert wanted < lines
    crash = Statement("crash", ("2",), (("disk", "replaced"),))
    assert offers["Crash (disk replaced)"].line == crash
    assert "Start: broker 2 is running already" in looker.notes("broker 2")
    (group,) = looker.at(3).menu("broker 2")
    assert group.title == "broker 2 · down, fenced"
    assert group.offers[0].label == "Start"
    (down,) = (note for note in group.not_now if note.endswith(": broker 2 is down"))
    assert down.startswith("Crash, Crash (tail lost), Crash (disk replaced), Unfence, Fetch")


def test_the_arrow_of_a_message_on_its_way_is_delivered_dropped_and_held() -> None:
    looker = looking_at("kafka-14139", 3)
    (arrow,) = (arrow[0] for arrow in looker.places["arrows"])
    offers = looker.offers(arrow)
    for words in ("Deliver", "Drop", "Duplicate", "Time out", "Lose reply", "Let it flow"):
        assert words in offers
    assert looker.notes(arrow) == ["Hold back: it is held back already"]
    deliver = offers["Deliver"].line
    assert isinstance(deliver, Statement)
    delivered = act(looker.playback, deliver)
    assert delivered.here.cluster.messages == ()
    assert offers["Step 1, where it was sent"].to == GoTo(1)
    assert not any("arrived" in words for words in offers)


def test_the_arrow_of_a_message_that_has_arrived_leads_to_its_two_ends() -> None:
    looker = looking_at("kafka-14139", 8)
    (arrow,) = (arrow[0] for arrow in looker.places["arrows"])
    (group,) = looker.menu(arrow)
    assert [o.label for o in group.offers] == [
        "Step 1, where it was sent",
        "Step 6, where it arrived",
    ]


def test_messages_that_share_an_arrow_are_each_in_its_menu() -> None:
    playback = opened("kafka-14139")
    both = act(seek(playback, 3), read_line(playback, "duplicate alter-partition from=1"))
    looker = Looker(both).at(4)
    (arrow,) = (arrow[0] for arrow in looker.places["arrows"])
    titles = [group.title for group in looker.menu(arrow)]
    assert "alter-partition #1 · broker 1 → controller" in titles
    assert "alter-partition #2 · broker 1 → controller" in titles


def test_a_step_can_be_gone_to_or_be_where_a_branch_begins() -> None:
    looker = looking_at("kafka-14139", 3)
    (group,) = looker.menu("step 2")
    assert group.title == "step 2, broker 2 dies, disk replaced"
    assert [o.to for o in group.offers] == [GoTo(2), GoTo(2, acts=True)]
    assert looker.notes("step 3") == [f"Go there: {HERE}"]
    assert [o.to for o in looker.offers("step 3").values()] == [GoTo(3, acts=True)]
    (later,) = looker.menu("step 8")
    assert later.title == "step 8", "what is still to come says nothing of itself"


def test_the_controller_fails_over_and_a_partition_elects_and_is_written_and_read() -> None:
    looker = looking_at("kafka-14139", 1)
    assert "Fail over" in looker.offers("controller")
    wanted = {"Elect preferred", "Elect unclean", "Produce", "Poll"}
    for thing in ("partition orders-0", "records orders-0"):
        assert wanted <= looker.offers(thing).keys()


def test_rows_of_several_partitions_elect_in_each() -> None:
    titles = [group.title for group in Looker(made(SIX)).menu("partition orders-1 orders-2")]
    assert [title.split(" ")[0] for title in titles] == ["orders-1", "orders-2"]


def test_what_is_not_there_has_no_menu() -> None:
    looker = looking_at("kafka-14139")
    assert looker.menu("message fetch #9 from broker 1") == ()
    assert looker.menu("step 99") == ()
    assert looker.menu("moon") == ()
