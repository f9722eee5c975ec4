"""One list of all that can happen: the engine's own, faults apart, each line doing its move."""

from typing import get_args

import pytest
from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.enabled import EVERYTHING, enabled
from kiplab.plays.library import names
from kiplab.plays.play import Statement
from kiplab.widgets.controls.cluster_offers import WAITS_MS, consumers, producers
from kiplab.widgets.controls.offering import FAULTS, ORDINARY, groups_of, happenings
from kiplab.widgets.history_tree.playback import Playback, act, read_line, seek
from tests.engine.unrouted import NOT_OFFERED
from tests.repeated import COVERING, every_play
from tests.widgets.hands import THREE, done, made, opened, steps
from tests.widgets.test_inject import OPENED, every_choice

OWN = {name: OPENED[name] for name in ("six", "manual", "timed", "recovering")}
SWEEP = "test_the_list_is_the_engines_own_and_each_button_begins_with_one_of_it"
EVERY = every_play()


def run_of(name: str) -> Playback:
    return OWN[name] if name in OWN else opened(name)


def begun(playback: Playback, line: Statement) -> moves.Move | None:
    """The first move that a line comes to; None for one that moves nothing."""
    before, after = playback.here.history, act(playback, line).here.history
    return after.steps[before.at].move if after.at > before.at else None


def possible(playback: Playback) -> tuple[moves.Move, ...]:
    """Every move of the largest menu, for all who read here and for each way to wait."""
    cluster = playback.here.cluster
    waits = WAITS_MS if cluster.timed else ()
    clients = replace(EVERYTHING, poll=consumers(cluster), producers=producers(cluster))
    return enabled(cluster, replace(clients, advance_ms=waits))


@pytest.mark.parametrize("name", [*OWN, *EVERY])
def test_the_list_is_the_engines_own_and_each_button_begins_with_one_of_it(name: str) -> None:
    for playback in steps(run_of(name)):
        found = happenings(playback.here.cluster)
        assert len({h.line.text for h in found}) == len(found)
        for happening, move in zip(found, possible(playback), strict=True):
            first = begun(playback, happening.line)
            # Time passes in smaller pieces, as timers fall due.
            assert first == move or isinstance(move, moves.Advance)
            assert happening.is_fault is isinstance(move, moves.FAULTS)
        # A button may do more, write more records or wait for another message; it is never ahead.
        kinds = {type(move) for move in possible(playback)}
        for choice in every_choice(playback.here):
            if choice.reason is None:
                begins = begun(playback, choice.line)
                assert type(begins) in kinds or begins is None, choice.line.text


def test_every_kind_of_move_is_in_some_list_or_has_a_reason_not_to_be() -> None:
    cut = act(made(THREE), read_line(made(THREE), "cut 1 controller"))
    own = kinds_in(*OWN.values(), cut)
    covered = kinds_in(*map(opened, COVERING))
    assert covered == kinds_in(*map(opened, names()))
    assert set(get_args(moves.Move)) - own - covered == {*NOT_OFFERED}


def kinds_in(*runs: Playback) -> set[type]:
    """The kinds of moves that are possible at some step of some run."""
    return {type(move) for run in runs for playback in steps(run) for move in possible(playback)}


def test_faults_stand_apart_and_after_the_rest() -> None:
    ordinary, faults = groups_of(happenings(seek(opened("kafka-14139"), 1).here.cluster))
    assert (ordinary.title, faults.title) == (ORDINARY, FAULTS)
    assert ordinary.offers[0].label == "Alter-partition #1 from broker 1 arrives"
    said = {offer.label for offer in faults.offers}
    assert {"Broker 2 dies, disk replaced", "Link 1–2 cut", "New controller"} < said
    assert not said & {offer.label for offer in ordinary.offers}


def test_each_says_what_it_is_about_in_the_picture() -> None:
    about = {h.line.text: h.thing for h in happenings(seek(opened("kafka-14139"), 1).here.cluster)}
    assert about["deliver alter-partition from=1"] == "message alter-partition #1 from broker 1"
    assert about["crash 2 disk=replaced"] == "broker 2"
    assert about["cut controller 2"] == "broker 2"
    assert about["elect orders-0"] == "partition orders-0"
    assert about["fail-over"] == "controller"


def test_only_of_alike_messages_is_a_line_exact() -> None:
    playback = seek(opened("kafka-14139"), 3)
    both = done(playback, "duplicate alter-partition from=1")
    lines = {h.line.text for h in happenings(both.here.cluster)}
    assert {"drop alter-partition from=1", "drop alter-partition from=1 n=2 life=1"} < lines
