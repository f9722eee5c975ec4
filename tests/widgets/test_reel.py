"""What a page is sent to go from step to step by itself is what the kernel shows at each."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import kiplab
from kiplab.widgets.lab import Lab
from tests.repeated import in_long

OTHERS = ("isr-committed", "unclean-election", "380-newer-epoch", "consumer-old-leader")
PLAYS = in_long(OTHERS, "tests/widgets/test_reel.py::test_a_page_holds_what_the_kernel_shows")


def asked(lab: Lab, *steps: int) -> dict[str, Any]:
    """The answer to a page that asks for steps."""
    message = {"part": lab.reel.id, "name": "sheets", "value": [lab.reel.edition, *steps]}
    lab.box._receive(lab.box, message, [])
    sheets: dict[str, Any] = json.loads(json.dumps(lab.reel.sheets))
    return sheets


def unpacked(value: Any, items: list[Any]) -> Any:
    """As a page reads it."""
    if isinstance(value, dict):
        return {key: unpacked(each, items) for key, each in value.items()}
    is_list = isinstance(value, list)
    return [unpacked(items[place], items) for place in value] if is_list else value


@pytest.mark.parametrize("name", ["kafka-14139", *PLAYS])
def test_a_page_holds_what_the_kernel_shows(name: str) -> None:
    lab = kiplab.Lab(name)
    told = asked(lab, *range(lab.playback.last + 1))
    for step, sheet in told["steps"].items():
        lab.seek(int(step))
        shown = lab.box.described()["parts"]
        for id, traits in unpacked(sheet, told["items"]).items():
            if id in shown:
                now = {name: shown[id][name] for name in traits}
                assert json.loads(json.dumps(now)) == traits
        assert {lab.picture.id, lab.verdict.id, lab.note.id, lab.transport.slider.id} <= {*sheet}
    plain = sum(len(json.dumps(unpacked(s, told["items"]))) for s in told["steps"].values())
    assert len(json.dumps(told)) < plain


def test_steps_are_others_when_the_run_or_the_look_is(lab: Lab) -> None:
    before = lab.reel.edition
    lab.seek(3)
    assert lab.reel.edition == before
    editions = [before]
    changes: list[Callable[[], object]] = [
        lambda: lab.switch("903", True),
        lambda: lab.do("crash 1"),
        lambda: lab.rename(lab.branch, "mine"),
        lambda: lab.box._receive(lab.box, {"theme": "dark"}, []),
        lambda: lab.box._receive(lab.box, {"room": {"width": 700, "height": 600}}, []),
        lab.reset,
    ]
    for change in changes:
        change()
        editions.append(lab.reel.edition)
        assert not lab.reel.sheets
    assert editions == sorted(set(editions))


def test_a_position_in_other_steps_comes_too_late(lab: Lab) -> None:
    lab.reel.receive("at", [lab.reel.edition, 5])
    assert lab.playback.at == 5
    lab.reel.receive("at", [lab.reel.edition - 1, 7])
    assert lab.playback.at == 5
