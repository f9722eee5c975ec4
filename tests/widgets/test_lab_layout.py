"""How a Lab lies: what is looked at comes first and together, the legend only when asked for."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

import kiplab
from kiplab.widgets import Lab, still_fallback


@pytest.fixture
def lab() -> Lab:
    return kiplab.Lab("kafka-14139")


def drawn(lab: Lab) -> str:
    """The legend's image, as SVG."""
    found = re.search(r"base64,([^\"]*)", lab.signs.image.value)
    assert found is not None
    return base64.b64decode(found[1]).decode()


def test_picture_steps_and_verdict_are_on_one_stage(lab: Lab) -> None:
    stage = lab.box.root.inside[0]
    assert "kiplab-stage" in stage.classes
    inside = list(stage.everything())
    places = [inside.index(part) for part in (lab.picture, lab.transport.step, lab.verdict)]
    assert places == sorted(places)
    assert lab.note in inside


def test_what_can_be_done_comes_before_what_is_promised(lab: Lab) -> None:
    order = list(lab.box.root.everything())
    wanted = (lab.transport.step, lab.rulebook.box, lab.inject.box, lab.invariants.box)
    places = [order.index(part) for part in (*wanted, lab.folds.box)]
    assert places == sorted(places)


def test_the_legend_is_folded_and_costs_nothing(lab: Lab) -> None:
    words = {word for trace in lab.picture.drawing["data"] for word in trace.get("text") or ()}
    assert "out of the ISR" not in words
    lab.seek(6)
    assert (lab.signs.box.layout.display, lab.signs.image.value) == ("none", "")


def test_the_legend_follows_the_picture_while_it_is_open(lab: Lab) -> None:
    lab.signs.toggle.value = True
    assert lab.signs.box.layout.display == "flex"
    assert "out of the ISR" in drawn(lab)
    assert 'alt="★ leader; ' in lab.signs.image.value
    before = drawn(lab)
    lab._look_at({"theme": "dark"})
    assert drawn(lab) != before
    assert "lost message" not in drawn(lab)
    lab.seek(1)
    lab.do("drop alter-partition")
    assert "lost message" in drawn(lab)


def test_what_is_kept_in_a_file_has_its_legend(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[dict[str, Any]] = []
    monkeypatch.setattr(still_fallback, "show", lambda _box, _text, drawing: kept.append(drawing))
    lab._ipython_display_()
    words = {word for trace in kept[0]["data"] for word in trace.get("text") or ()}
    assert "out of the ISR" in words
