"""The slider's numbers; how it looks and moves is seen in the browser tests."""

from kiplab.widgets.elements.kinds import Slider


def test_a_position_stays_between_the_ends() -> None:
    slider = Slider(max=11)
    slider.value = 40
    assert slider.value == 11
    slider.value = -3
    assert slider.value == 0


def test_a_shorter_run_takes_the_position_with_it() -> None:
    slider = Slider(max=11, value=9)
    slider.max = 5
    assert slider.value == 5
