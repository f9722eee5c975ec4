"""The player's steps, as the page carries them, and the pages and fragments they are in."""

import json
import re
from copy import deepcopy
from typing import Any

import pytest

from kiplab import run
from kiplab.figures.drawing.theme import DARK, LIGHT
from kiplab.figures.timeline.whole_runs import timeline_drawing, twin
from kiplab.pages.page import fragment, page
from kiplab.pages.page_files import page_file
from kiplab.pages.player import carried, script_safe
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from tests.figures.boxes import move_cursor


def in_page(text: str) -> Any:
    """What the page's script is given."""
    (found,) = re.findall(r'<script type="application/json" id="[^"]+">(.*?)</script>', text)
    return json.loads(found)


def ids(text: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', text)


def test_there_is_a_step_per_moment_and_all_is_shown_at_first(lossy: Rows) -> None:
    given = in_page(page(lossy, include_plotlyjs=False))
    assert given["labels"] == [m.label for m in lossy.moments]
    assert given["labels"][6] == "request arrives"
    assert given["initial"] == 11


def test_every_step_is_where_move_cursor_puts_the_mask(lossy: Rows, saved: Rows) -> None:
    figure = twin(lossy, saved)
    (picture,) = carried([figure.to_plotly_json()], (lossy, saved)).pictures
    for x, step in enumerate(picture.steps):
        move_cursor(figure, x)
        for key, value in step.mask.items():
            addressed = re.fullmatch(r"shapes\[(\d+)\]\.(\w+)", key)
            assert addressed is not None
            shape, name = addressed.groups()
            assert figure.layout.shapes[int(shape)][name] == pytest.approx(value, abs=1e-4)
        assert all(figure.data[n].visible == step.verdict for n in picture.verdicts)
    assert [step.verdict for step in picture.steps] == [False] * 11 + [True]


def test_stepping_leaves_the_figure_as_it_was_and_begins_where_it_is(lossy: Rows) -> None:
    drawing = timeline_drawing(lossy, until=4)
    before = deepcopy(drawing)
    assert carried([drawing], (lossy,)).initial == 4
    assert drawing == before


def test_a_twin_has_the_words_of_the_run_in_which_a_line_applies(lossy: Rows, saved: Rows) -> None:
    given = in_page(page((saved, lossy), include_plotlyjs=False))
    assert not [label for label in given["labels"] if "not applicable" in label]


def test_a_run_of_no_steps_and_a_picture_without_a_mask_have_no_player(lossy: Rows) -> None:
    from plotly.graph_objects import Figure

    still = rows_of(run_play(parse("title still\nbroker 1\ntopic t replicas=1\n")))
    assert carried([timeline_drawing(still)], (still,)).labels == ()
    assert 'class="kiplab-player"' not in page(still, include_plotlyjs=False)
    assert carried([Figure().to_plotly_json()], (lossy,)).labels == ()


def test_no_text_ends_the_script_or_comments_it_out() -> None:
    text = script_safe(["</script>", "<!--<script>"])
    assert "<" not in text
    assert json.loads(text) == ["</script>", "<!--<script>"]


def test_no_two_things_on_a_page_have_one_id(lossy: Rows) -> None:
    together = fragment(lossy) + fragment(lossy) + page(lossy, include_plotlyjs=False)
    assert len(ids(together)) == len(set(ids(together))) == 12


def test_a_fragment_is_no_page_and_brings_no_plotlyjs(lossy: Rows) -> None:
    text = run("kafka-14139", kafka="3.4").to_html(fragment=True, id="race")
    assert text.startswith('<figure class="kiplab-figure" id="race">')
    assert text.endswith("</figure>")
    assert text == fragment(lossy, id="race")
    assert len(text.encode()) < 110_000


REFUSED = {
    "id": "cannot be an id: take a letter",
    "include_plotlyjs": "True, False or 'directory'",
    "theme": "the themes are light, dark, auto",
}
"""What is said of a value that a page cannot take."""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("id", id) for id in ("", "6", "a b", "a.b", '"><script>', "ä")),
        # plotly.js from the network, too.
        *(("include_plotlyjs", source) for source in ("cdn", "https://example.org/p.js", None, 2)),
        ("theme", "sepia"),
    ],
)
def test_what_a_page_cannot_take_is_refused(lossy: Rows, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=REFUSED[name]):
        fragment(lossy, **{name: value})


def test_an_id_without_a_fragment_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="add fragment=True"):
        run("kafka-14139").to_html(id="race")


def test_a_page_carries_a_narrow_picture_too_and_steps_it_alike(lossy: Rows) -> None:
    wide, narrow = in_page(page(lossy, include_plotlyjs=False))["pictures"]
    assert (wide["width"], narrow["width"]) == (980, 600)
    assert wide["drawing"] is None
    assert narrow["drawing"]["layout"]["width"] == 600
    assert len(wide["steps"]) == len(narrow["steps"]) == 12


def test_a_width_that_was_asked_for_is_the_only_one(lossy: Rows) -> None:
    assert [p["width"] for p in in_page(page(lossy, width=840))["pictures"]] == [840]


def test_a_page_follows_its_reader_a_fragment_is_light_and_both_can_be_told(lossy: Rows) -> None:
    asked = "@media (prefers-color-scheme: dark)"
    auto, part = page(lossy, include_plotlyjs=False), fragment(lossy)
    assert (asked in auto, in_page(auto)["dark"]["#ffffff"]) == (True, DARK.paper)
    assert (asked in part, in_page(part)["dark"]) == (False, None)
    for theme in (LIGHT, DARK):
        told = page(lossy, include_plotlyjs=False, theme=theme.name)
        assert asked not in told
        assert f"--kiplab-paper: {theme.paper};" in told


def test_the_player_stands_above_the_picture_and_so_covers_no_lower_run(
    lossy: Rows, saved: Rows
) -> None:
    text = page((lossy, saved), include_plotlyjs=False)
    player, picture = text.index('<div class="kiplab-player"'), text.index('class="kiplab-scroll"')
    script = text.index('<script type="application/json"')
    assert player < picture < script, "the script finds the picture that it moves"
    (rule,) = re.findall(r"\.kiplab-player \{([^}]*)\}", page_file("player.css"))[:1]
    assert "position: sticky; top: 0" in rule
    assert "bottom" not in rule
