"""Buttons offer what the engine allows, and say what is in the way of the rest."""

import pytest

from kiplab.protocol.ids import BrokerId, controller_on
from kiplab.widgets.controls.broker_offers import Offer, about_broker, more_about_broker, standing
from kiplab.widgets.controls.cluster_offers import about_message, hold
from kiplab.widgets.history_tree.playback import Playback, act
from tests.widgets.hands import at, done

TWO = BrokerId(2)


def all_of(playback: Playback, id: BrokerId = TWO) -> dict[str, Offer]:
    """All that can happen to a broker, by label."""
    offers = (*about_broker(playback.here, id, "kept"), *more_about_broker(playback.here, id))
    return {offer.label: offer for offer in offers}


RUNS, DOWN = "broker 2 is running already", "broker 2 is down"


@pytest.mark.parametrize(
    ("step", "reasons"),
    [
        (1, {"Crash": None, "Start": RUNS, "Unfence": "broker 2 is not fenced"}),
        (2, {"Crash": DOWN, "Expire": None, "Start": None, "Unfence": DOWN, "Fetch": DOWN}),
        (4, {"Crash": None, "Start": RUNS, "Unfence": None}),
    ],
    ids=["running", "dead", "recovering"],
)
def test_offers_depend_on_how_a_broker_does(step: int, reasons: dict[str, str | None]) -> None:
    choices = all_of(at(step))
    assert {label: choices[label].reason for label in reasons} == reasons
    assert choices["Unfence"].line.text == ("heartbeat 2" if step == 1 else "unfence 2")


def test_a_running_broker_that_is_fenced_asks_by_heartbeat() -> None:
    fenced = act(at(0), all_of(at(0))["Expire"].line)
    unfence = all_of(fenced)["Unfence"]
    assert (unfence.reason, unfence.line.text) == (None, "heartbeat 2")
    assert standing(act(fenced, unfence.line).here.cluster, TWO) == "runs as epoch 41"


def test_of_two_alike_messages_the_younger_is_named_exactly() -> None:
    playback = at(3)
    (first,) = playback.here.cluster.messages
    both = done(playback, "duplicate alter-partition from=1")
    younger = both.here.cluster.messages[-1]
    assert younger.name != first.name
    deliver, *_ = about_message(both.here.cluster, younger)
    assert deliver.line.arg("n") == str(younger.name.ordinal)
    assert younger not in act(both, deliver.line).here.cluster.messages


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (1, "runs as epoch 41"),
        (2, "down, not noticed yet"),
        (3, "down, fenced"),
        (4, "recovering as epoch 57, fenced"),
        (5, "runs as epoch 57"),
    ],
)
def test_how_a_broker_does_in_a_few_words(step: int, words: str) -> None:
    assert standing(at(step).here.cluster, TWO) == words


ZERO, ONE = BrokerId(0), BrokerId(1)
BOUNCE = "380-missed-bounce"


def test_with_zookeeper_nobody_is_fenced_and_no_controller_is_apart_from_the_brokers() -> None:
    labels = set(all_of(at(0, BOUNCE)))
    assert not labels & {"Unfence", "Recover", "Heartbeat", "Cut off from controller"}


def test_with_zookeeper_a_broker_is_cut_off_from_it_or_from_the_controller_on_a_broker() -> None:
    choices = all_of(at(0, BOUNCE))
    lines = {label: c.line.text for label, c in choices.items() if label.startswith("Cut off")}
    assert lines == {
        "Cut off from ZooKeeper": "cut 2 zookeeper",
        "Cut off from controller on broker 0": "cut 2 0",
        "Cut off from leader 1": "cut 2 1",
    }
    cut = act(at(0, BOUNCE), choices["Cut off from ZooKeeper"].line)
    assert all_of(cut)["Heal link to ZooKeeper"].reason is None


def test_the_broker_with_the_controller_has_a_link_to_zookeeper_alone() -> None:
    choices = all_of(at(0, BOUNCE), ZERO)
    assert choices["Cut off from ZooKeeper"].reason is None
    assert choices["Cut off from leader"].reason == "broker 0 follows nobody"


def test_in_kip_343_only_brokers_that_do_it_have_heartbeats() -> None:
    playback = at(0, "343-legacy-brokers")
    assert all_of(playback, ONE)["Heartbeat"].reason is None
    assert "Heartbeat" not in all_of(playback, TWO), "broker 2 is of 2.2"


def test_with_zookeeper_a_broker_that_is_down_is_noticed_when_its_session_ends() -> None:
    dead = act(at(0, BOUNCE), all_of(at(0, BOUNCE))["Crash"].line)
    assert standing(dead.here.cluster, TWO) == "down, not noticed yet"
    gone = act(dead, all_of(dead)["Expire"].line)
    assert standing(gone.here.cluster, TWO) == "down"


def test_what_a_controller_on_a_broker_sends_can_be_held_back() -> None:
    playback = at(0, BOUNCE)
    choice = hold(playback.here, "leader-and-isr", controller_on(ZERO))
    assert choice.line.text == "hold leader-and-isr from=controller-0"
    assert act(playback, choice.line).here.holds
