"""The player's steps, as the page carries them, and the pages and fragments they are in."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kiplab import run
from kiplab.figures.columns import Rows
from kiplab.figures.page import fragment, page
from kiplab.figures.player import script_safe, steps_of
from kiplab.figures.rows import rows_of
from kiplab.figures.sheet import move_cursor
from kiplab.figures.timeline import timeline
from kiplab.figures.twin import twin
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play


def carried(text: str) -> Any:
    """What the page's script is given."""
    (found,) = re.findall(r'<script type="application/json" id="[^"]+">(.*?)</script>', text)
    return json.loads(found)


def ids(text: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', text)


def test_there_is_a_step_per_moment_and_all_is_shown_at_first(lossy: Rows) -> None:
    given = carried(page(lossy, include_plotlyjs=False))
    assert [step["label"] for step in given["steps"]] == [m.label for m in lossy.moments]
    assert given["steps"][6]["label"] == "request arrives"
    assert given["initial"] == 11


def test_every_step_is_where_move_cursor_puts_the_veil(lossy: Rows, saved: Rows) -> None:
    figure = twin(lossy, saved)
    steps = steps_of(figure, (lossy, saved))
    assert steps is not None
    for x, step in enumerate(steps.steps):
        move_cursor(figure, x)
        for key, value in step.veil.items():
            shape, name = re.fullmatch(r"shapes\[(\d+)\]\.(\w+)", key).groups()  # type: ignore[union-attr]
            assert figure.layout.shapes[int(shape)][name] == value
        assert all(figure.data[n].visible == step.verdict for n in steps.verdicts)
    assert [step.verdict for step in steps.steps] == [False] * 11 + [True]


def test_stepping_leaves_the_figure_as_it_was_and_begins_where_it_is(lossy: Rows) -> None:
    figure = timeline(lossy, until=4)
    before = figure.to_dict()
    steps = steps_of(figure, (lossy,))
    assert steps is not None
    assert steps.initial == 4
    assert figure.to_dict() == before


def test_a_twin_has_the_words_of_the_run_in_which_a_line_applies(lossy: Rows, saved: Rows) -> None:
    given = carried(page((saved, lossy), include_plotlyjs=False))
    assert not [s for s in given["steps"] if "not applicable" in s["label"]]


def test_a_run_of_no_steps_and_a_picture_without_a_veil_have_no_player(lossy: Rows) -> None:
    from plotly.graph_objects import Figure

    still = rows_of(run_play(parse("title still\nbroker 1\ntopic t replicas=1\n")))
    assert steps_of(timeline(still), (still,)) is None
    assert 'class="kiplab-player"' not in page(still, include_plotlyjs=False)
    assert steps_of(Figure(), (lossy,)) is None


def test_no_text_ends_the_script_or_comments_it_out() -> None:
    text = script_safe(["</script>", "<!--<script>"])
    assert "<" not in text
    assert json.loads(text) == ["</script>", "<!--<script>"]


def test_no_two_things_on_a_page_have_one_id(lossy: Rows) -> None:
    together = fragment(lossy) + fragment(lossy) + page(lossy, include_plotlyjs=False)
    assert len(ids(together)) == len(set(ids(together))) == 12


def test_a_fragment_is_no_page_and_brings_no_plotlyjs(lossy: Rows) -> None:
    text = run("kafka-14139", kafka="3.4").to_html(fragment=True, id="race")
    assert text.startswith('<figure class="kiplab-figure" id="race" ')
    assert text.endswith("</figure>")
    assert text == fragment(lossy, id="race")
    assert len(text.encode()) < 60_000


@pytest.mark.parametrize("id", ["", "6", "a b", "a.b", '"><script>', "ä"])
def test_an_id_that_html_or_the_address_would_not_take_is_refused(lossy: Rows, id: str) -> None:
    with pytest.raises(ValueError, match="cannot be an id: take a letter"):
        fragment(lossy, id=id)


@pytest.mark.parametrize("source", ["cdn", "https://example.org/plotly.js", None, 2])
def test_plotlyjs_from_the_network_is_refused(lossy: Rows, source: Any) -> None:
    with pytest.raises(ValueError, match="True, False or 'directory'"):
        page(lossy, include_plotlyjs=source)


def test_an_id_without_a_fragment_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="add fragment=True"):
        run("kafka-14139").to_html(id="race")
