"""Moving through a run: by buttons, by the slider, by the player that counts in the browser."""

from typing import Any

import pytest

from kiplab.widgets.controls.transport import SPEEDS, Transport
from kiplab.widgets.history_tree.branch_tree import plant
from kiplab.widgets.history_tree.playback import Playback, open_playback
from tests.widgets.hands import Hands, at


class Viewer(Hands):
    """Somebody who follows the transport, and notes where it led."""

    def __init__(self, playback: Playback) -> None:
        super().__init__(playback)
        self.seen: list[int] = []
        self.panel = self.transport = Transport(self, self.tick, self.stops)
        self.transport.show()
        self.transport.show_branch(plant(playback).here)

    def stops(self) -> range:
        return range(self.playback.last + 1)

    def tick(self, at: int) -> None:
        super().seek(at)
        self.seen.append(self.playback.at)

    def seek(self, at: int) -> None:
        self.transport.pause()
        self.tick(at)


@pytest.fixture
def viewer() -> Viewer:
    return Viewer(at(0, kafka="3.5"))


def from_browser(widget: Any, **state: Any) -> None:
    """What the browser sends: what changed since the last time, one after the other."""
    for name, value in state.items():
        widget.receive(name, value)


def counted(viewer: Viewer) -> None:
    """The player in the browser, counting until it comes to its end or is told to stop."""
    player = viewer.transport.player
    while player.playing:
        if player.value < player.max:
            from_browser(player, value=player.value + 1)
        else:
            from_browser(player, playing=False)


def test_play_steps_to_the_end_and_stops(viewer: Viewer) -> None:
    viewer.transport.play.click()
    assert viewer.transport.play.description == "Pause"
    counted(viewer)
    assert viewer.seen == list(range(1, 12))
    assert viewer.transport.play.description == "Play"
    assert not viewer.transport.is_playing


def test_play_at_the_end_begins_again(viewer: Viewer) -> None:
    viewer.seek(11)
    viewer.transport.play.click()
    counted(viewer)
    assert viewer.seen == [11, *range(12)]


def test_play_can_stop_at_a_refusal_and_go_on(viewer: Viewer) -> None:
    viewer.transport.until_refusal.value = True
    viewer.transport.play.click()
    counted(viewer)
    assert viewer.playback.at == 6
    viewer.transport.play.click()
    counted(viewer)
    assert viewer.playback.at == 11


def test_a_slow_kernel_sees_the_last_position_and_nothing_is_left_over(viewer: Viewer) -> None:
    """The browser collapses what the kernel has no time for; the end may come with it."""
    viewer.transport.play.click()
    from_browser(viewer.transport.player, value=1)
    from_browser(viewer.transport.player, value=11, playing=False)
    assert viewer.seen == [1, 11]
    assert viewer.transport.play.description == "Play"


def test_a_burst_on_the_slider_ends_where_the_hand_stopped(viewer: Viewer) -> None:
    from_browser(viewer.transport.slider, value=1)
    from_browser(viewer.transport.slider, value=9)
    assert viewer.seen == [1, 9]
    assert viewer.transport.slider.value == 9


@pytest.mark.parametrize("control", ["first", "back", "step", "last", "slider"])
def test_every_other_control_pauses(viewer: Viewer, control: str) -> None:
    viewer.transport.play.click()
    from_browser(viewer.transport.player, value=3)
    if control == "slider":
        from_browser(viewer.transport.slider, value=4)
    else:
        getattr(viewer.transport, control).click()
    assert not viewer.transport.is_playing
    assert not viewer.transport.player.playing
    assert viewer.transport.play.description == "Play"


def test_a_position_that_was_on_its_way_when_somebody_paused_comes_too_late(viewer: Viewer) -> None:
    viewer.transport.play.click()
    from_browser(viewer.transport.player, value=3)
    viewer.transport.play.click()
    from_browser(viewer.transport.player, value=4)
    assert viewer.seen == [3]
    viewer.transport.play.click()
    from_browser(viewer.transport.player, value=4)
    assert viewer.seen == [3, 4]


def test_speed_is_chosen_by_words(viewer: Viewer) -> None:
    assert viewer.transport.player.interval == SPEEDS["normal"]
    viewer.transport.speed.value = SPEEDS["fast"]
    assert viewer.transport.player.interval == SPEEDS["fast"]


def test_a_play_without_steps_has_nothing_to_play() -> None:
    playback = at(0)
    empty = Viewer(open_playback(type(playback.own)(playback.own.statements[:7], "empty")))
    assert empty.playback.last == 0
    assert empty.transport.play.disabled
    assert empty.transport.step.disabled


def test_undo_and_reset_are_offered_on_a_branch(viewer: Viewer) -> None:
    assert viewer.transport.undo.disabled
    assert viewer.transport.undo.tooltip == "Not now: the lines are the play's own"
    viewer.transport.undo.click()
    viewer.transport.reset.click()
    assert viewer.lines == ["undo", "reset"]
