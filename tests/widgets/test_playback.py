"""A Lab's value: one stop per step; acting in the middle forks; a failure changes nothing."""

import pytest

import kiplab
from kiplab.plays.library import load
from kiplab.plays.play import Statement
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.verdict import verdict
from kiplab.protocol.features import parse_features
from kiplab.runs import Run
from kiplab.widgets.history_tree import playback as playbacks
from kiplab.widgets.history_tree.playback import Playback
from tests.repeated import every_play
from tests.widgets.hands import done

CRASH = Statement("crash", ("1",))
NEW = parse_features("3.5")


@pytest.fixture
def playback() -> Playback:
    return playbacks.open_playback(load("kafka-14139"))


def test_there_is_one_stop_per_step(playback: Playback) -> None:
    assert [stop.stage.moment for stop in playback.frames] == list(range(12))
    assert (playback.at, playback.last) == (0, 11)


def test_a_hold_belongs_to_the_step_before_it(playback: Playback) -> None:
    assert [p.statement.verb for p in playback.here.performed] == ["hold"]
    assert playback.here.holds


@pytest.mark.parametrize("name", every_play())
def test_every_play_ends_as_when_it_is_run(name: str) -> None:
    opened, run = playbacks.open_playback(load(name)), run_play(load(name))
    assert opened.whole.cluster == run.cluster
    assert opened.last == run.moment


@pytest.mark.parametrize(("asked", "at"), [(-3, 0), (4, 4), (99, 11)])
def test_seeking_stays_within_the_run(playback: Playback, asked: int, at: int) -> None:
    assert playbacks.seek(playback, asked).at == at


def test_acting_in_the_middle_leaves_the_rest_out(playback: Playback) -> None:
    forked = playbacks.act(playbacks.seek(playback, 3), CRASH)
    assert (forked.at, forked.last) == (4, 4)
    assert forked.frames[:4] == playback.frames[:4]
    assert forked.play.statements[-1] == CRASH
    assert playback.last == 11


def test_acting_at_the_end_adds_a_step(playback: Playback) -> None:
    longer = playbacks.act(playbacks.seek(playback, 11), CRASH)
    assert (longer.at, longer.last) == (12, 12)
    assert longer.frames[:12] == playback.frames


def test_a_line_that_moves_nothing_takes_no_step(playback: Playback) -> None:
    held = playbacks.act(playbacks.seek(playback, 3), Statement("hold", ("fetch",)))
    assert (held.at, held.last) == (3, 3)
    assert len(held.here.holds) == 2


def test_what_cannot_be_done_says_why_and_changes_nothing(playback: Playback) -> None:
    before = playbacks.seek(playback, 2)
    with pytest.raises(PlayError, match="broker 2 is down"):
        playbacks.act(before, Statement("crash", ("2",)))
    assert before == playbacks.seek(playback, 2)


def test_under_other_rules_ones_own_line_is_judged_as_strictly(playback: Playback) -> None:
    other = playbacks.seek(playbacks.rerun(playback, NEW), 11)
    with pytest.raises(PlayError, match="running already"):
        playbacks.act(other, Statement("start", ("2",)))


def test_other_rules_keep_lines_and_place(playback: Playback) -> None:
    other = playbacks.rerun(playbacks.seek(playback, 6), NEW)
    assert (other.at, other.last) == (6, 11)
    assert (verdict(playback.whole), verdict(other.whole)) == ("loss", "safe")


def test_a_line_that_lost_its_object_keeps_its_step(playback: Playback) -> None:
    other = playbacks.rerun(playback, NEW)
    assert [p.statement.text for p in other.whole.performed if p.not_applicable] == ["fetch 1"]
    assert other.last == playback.last


def test_without_its_last_line_a_run_is_what_it_was_before(playback: Playback) -> None:
    crashed = playbacks.act(playbacks.seek(playback, 3), CRASH)
    again = playbacks.without_last(playbacks.act(crashed, Statement("expire", ("1",))))
    assert (again.play, again.at, again.last) == (crashed.play, 4, 4)
    assert again.whole == crashed.whole


def test_a_line_without_a_step_of_its_own_can_be_taken_back(playback: Playback) -> None:
    held = done(playbacks.seek(playback, 3), "crash 1", "hold fetch")
    again = playbacks.without_last(held)
    assert (again.at, again.last, len(again.here.holds)) == (4, 4, 1)
    # There is no step before the first one.
    first = done(playbacks.seek(playback, 0), "hold fetch", "hold fetch from=2")
    assert [len(p.here.holds) for p in (first, playbacks.without_last(first))] == [
        len(playback.frames[0].stage.holds) + n for n in (2, 1)
    ]


def test_a_run_made_by_hand_replays_from_its_token(playback: Playback) -> None:
    made = done(playbacks.seek(playbacks.rerun(playback, NEW), 6), "crash 1", "expire 1")
    run = Run(playbacks.as_played(made))
    replayed, features = kiplab.run(run.token), run.stage.features
    assert replayed.stage.cluster == made.whole.cluster
    assert features == NEW


def test_a_run_with_inapplicable_lines_replays_too(playback: Playback) -> None:
    other = playbacks.rerun(playback, NEW)
    run = Run(playbacks.as_played(other))
    assert "fetch 1" not in [s.text for s in run.stage.play.statements]
    assert kiplab.run(run.token).stage.cluster == other.whole.cluster


def test_a_written_line_is_a_statement(playback: Playback) -> None:
    assert playbacks.read_line(playback, " crash 2  disk=replaced ").text == "crash 2 disk=replaced"
