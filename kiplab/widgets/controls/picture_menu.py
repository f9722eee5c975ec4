"""A click on a thing, named as in `figures.timeline.places`, opens a menu of what can happen."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.stage import Stage
from ...plays.values import LOSSES
from ...protocol.ids import BrokerId, node_name
from ...rows import columns
from ...rows.state_tree import leader_and_isr
from ...rows.step_labels import expected
from ..elements.kinds import Container, TouchedPicture
from ..history_tree.playback import Playback
from ..view_model import ViewModel
from . import cluster_offers as about
from .actions import LabLike
from .broker_offers import GoTo, Offer, about_broker, more_about_broker, standing
from .offering import OfferGroup, Offering, sorted_out

RECORDS = 10
HERE = "you are there"


def menu_for(thing: str, playback: Playback, rows: columns.Rows) -> tuple[OfferGroup, ...]:
    """The menu of a thing where one stands; `rows` are those of the whole run.

    Later steps stay hidden. Empty for a thing without offers, such as a message of another run.
    """
    kind, _, name = thing.partition(" ")
    stage, cluster = playback.here, playback.here.cluster
    match kind:
        case "broker":
            return (_broker(stage, BrokerId(int(name))),)
        case "controller":
            offers = (*about.about_controller(cluster), *about.about_time(stage))
            return (sorted_out(thing, offers, thing),)
        case columns.ZOOKEEPER_LANE:
            return (sorted_out(thing, about.about_zookeeper(cluster), thing),)
        case "partition" | "records":
            names = name.split(" ")
            return tuple(_partition(cluster, one, len(names) > 1) for one in names)
        case "message":
            return tuple(_message(playback, rows, name))
        case "step":
            return tuple(_step(playback, rows, int(name)))
    return ()


def _broker(stage: Stage, id: BrokerId) -> OfferGroup:
    crash, *others = about_broker(stage, id, "kept")
    losing = (about_broker(stage, id, disk)[0] for disk in LOSSES if disk != "kept")
    named = ((loss, expected(loss.line).partition(", ")[2]) for loss in losing)
    losses = (replace(loss, label=f"{loss.label} ({gone})") for loss, gone in named)
    title = f"broker {id} · {standing(stage.cluster, id)}"
    offers = (crash, *losses, *others, *more_about_broker(stage, id))
    return sorted_out(title, offers, node_name(id))


def _partition(cluster: Cluster, name: str, briefly: bool) -> OfferGroup:
    """`briefly` for one of several that share a row of the picture."""
    state = partition_of(cluster, name)
    offers = [*about.about_partition(cluster, name), *about.more_about_partition(cluster, name)]
    if not briefly:
        offers.append(about.produce(cluster, name, RECORDS, "all"))
        offers += [*about.sends_again(cluster, name), about.delete_records(cluster, name)]
        for who in about.consumers(cluster):
            offers += about.about_consumer(cluster, who, name)
    title = f"{name} · {leader_and_isr(state)}" if state is not None else name
    return sorted_out(title, offers, f"partition {name}")


def _message(playback: Playback, rows: columns.Rows, name: str) -> Iterator[OfferGroup]:
    """Offers for a message in flight, and for every message the step where it was sent."""
    row = next((row for row in rows.messages if row.name == name), None)
    if row is None:
        return
    cluster = playback.here.cluster
    # With those that the picture draws as one with it.
    paths = {_path(message) for message in cluster.messages if str(message.name) == name}
    for message in (message for message in cluster.messages if _path(message) in paths):
        sent = message.name
        whose = (playback.here, sent.kind, sent.sender)
        holding = (about.hold(*whose), about.let_flow(*whose))
        offers = (*about.about_message(cluster, message), *holding)
        title = f"{sent.kind} #{sent.ordinal} · {about.route(message)}"
        yield sorted_out(title, offers, f"message {name}")
    ends = [_go(row.x_sent, f"Step {row.x_sent}, where it was sent")]
    if row.x_arrived is not None and row.x_arrived <= playback.at:
        what = {"dropped": "was lost", "refused": "was refused"}.get(row.fate, "arrived")
        ends.append(_go(row.x_arrived, f"Step {row.x_arrived}, where it {what}"))
    yield _going("Go to", playback, *ends)


def _path(message: Message) -> tuple[object, ...]:
    name = message.name
    return name.kind, name.sender, message.receiver, message.body.about()


def _step(playback: Playback, rows: columns.Rows, step: int) -> Iterator[OfferGroup]:
    if step > playback.last:
        return
    # What is not there yet has no words.
    label = f", {rows.moments[step].label}" if step <= playback.at else ""
    words, branch = "Branch here: choose what happens next", GoTo(step, acts=True)
    branching = Offer(words, Statement(), to=branch)
    yield _going(f"step {step}{label}", playback, _go(step, "Go there"), branching)


def _go(step: int, words: str) -> Offer:
    return Offer(words, Statement(), thing=f"step {step}", to=GoTo(step))


def _going(title: str, playback: Playback, *offers: Offer) -> OfferGroup:
    """No offer leads to the current step."""
    here = [offer.label for offer in offers if offer.to == GoTo(playback.at)]
    left = tuple(offer for offer in offers if offer.to != GoTo(playback.at))
    return OfferGroup(title, left, tuple(f"{words}: {HERE}" for words in here))


class PictureMenu:
    """The menu of a thing, beside the picture of `view` in which it was clicked.

    Where nothing `acts`, a click on the axis leads to its step, and one elsewhere does nothing.
    """

    def __init__(self, lab: LabLike, view: ViewModel, go: Callable[[GoTo], None]) -> None:
        self._lab, self._view = lab, view
        self.acts = True
        self.picture = TouchedPicture({}, self.touch)
        self.offering = Offering(lab, go, pops=True)
        both = (self.picture, self.offering.list)
        self.box = Container(children=both, classes=("kiplab-touchable",))

    def touch(self, thing: str) -> None:
        if not self.acts:
            kind, _, step = thing.partition(" ")
            if kind == "step":
                self._lab.seek(int(step))
            return
        groups = menu_for(thing, self._lab.playback, self._view.rows)
        self.offering.show(groups)
        if groups:
            self.offering.list.call()

    def show(self) -> None:
        """Follow the Lab: the menu was about the step before."""
        self.offering.show(())
