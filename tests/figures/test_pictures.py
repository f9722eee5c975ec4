"""Figures, tested on their data: what must be there, and that every word can be read."""

from typing import Any

import numpy as np
import pytest

from kiplab.figures.drawing.theme import DARK, LIGHT, Theme
from kiplab.figures.timeline.icons import SHIELD_ROOM
from kiplab.figures.timeline.whole_runs import timeline, twin
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import Rows
from kiplab.rows.difference import first_difference
from kiplab.rows.rows_of_stage import rows_of
from kiplab.rows.run_titles import titles
from tests.figures.boxes import move_cursor, texts, words
from tests.figures.small_plays import play
from tests.kafka_14139 import rows_on

WIDTHS = [600, 840, 1200]


def shape(figure: Any, name: str) -> Any:
    (found,) = [s for s in figure.layout.shapes if s.name == name]
    return found


def test_a_timeline_says_title_verdict_lanes_and_labels(lossy: Rows) -> None:
    said = texts(timeline(lossy))
    assert "<b>Kafka 3.4</b>" in said
    assert "<b>▼ 100 committed records lost</b>" in said
    for lane in ("leader epoch", "ISR", "<b>controller</b>", "<b>broker 2</b>"):
        assert lane in said
    for word in (
        "★ leads without offsets 0–99",
        "in ISR, log empty",
        "▲ at risk",
        "request<br>arrives",
    ):
        assert word in said


def test_a_refusal_has_a_box_with_error_comparison_and_rule(saved: Rows) -> None:
    figure = timeline(saved, width=1200)
    assert (
        f"<b>{SHIELD_ROOM} INELIGIBLE_REPLICA</b><br>broker 2: request 41, registered 57<br>"
        "<i>KIP-903 · controller epoch</i>"
    ) in texts(figure)
    assert shape(figure, "callout from 6").x0 > 6


def test_what_was_asked_stands_beside_the_arrow(lossy: Rows, saved: Rows) -> None:
    assert "AlterPartition v2 · add 2, <b>no epoch sent</b>" in texts(timeline(lossy))
    assert "AlterPartition v3 · add 2 <b>as epoch 41</b>" in texts(timeline(saved))
    (arrow,) = [s for s in timeline(saved).layout.shapes if (s.x0, s.x1) == (1, 6)]
    assert (arrow.type, arrow.line.color) == ("line", LIGHT.refused)


def test_a_hover_card_tells_a_message_to_the_last_field(saved: Rows) -> None:
    (cards,) = [t for t in timeline(saved).data if t.name == "cards"]
    (card,) = {text for text in cards.text if "INELIGIBLE_REPLICA" in text and "→" in text[:40]}
    for part in ("broker 1 (epoch 40)", "2@41", "partition epoch 10", "KIP-903: The broker epochs"):
        assert part in card.replace("<br>", " ")


def test_twins_share_an_axis_and_mark_the_first_difference(lossy: Rows, saved: Rows) -> None:
    figure = twin(lossy, saved)
    assert first_difference(lossy, saved) == 6
    assert "◆ first difference" in texts(figure)
    (line,) = [s for s in figure.layout.shapes if s.line.dash == "dot" and s.x0 == s.x1 == 6]
    titles_at = [w.box.y0 for w in words(figure) if "· Kafka" in w.text]
    assert line.y1 - line.y0 > titles_at[1] - titles_at[0]
    assert texts(figure).count("<b>6</b>") == 1


def test_a_run_does_not_differ_from_itself(lossy: Rows) -> None:
    assert first_difference(lossy, lossy) is None
    assert "◆ first difference" not in texts(twin(lossy, lossy))


def test_titles_name_the_one_kip_that_makes_the_difference(lossy: Rows, saved: Rows) -> None:
    assert titles((lossy, saved)) == ("KIP-903 off · Kafka 3.4", "KIP-903 on · Kafka 3.5")
    switched = rows_on("kafka-14139", "3.5", "903")
    assert titles((switched, saved)) == ("KIP-903 off · Kafka 3.5", "KIP-903 on · Kafka 3.5")
    assert titles((rows_on("kafka-14139", "3.2"), saved)) == ("Kafka 3.2", "Kafka 3.5")


def test_one_clause_of_what_a_kip_wants_goes_by_its_own_words_and_all_of_them_by_its_name() -> None:
    (one,) = titles((rows_on("343-swapped-isr-changes", "kip-343", "343.partition-epoch"),))
    assert one == "partition epoch off · Kafka kip-343"
    (every,) = titles((rows_on("343-swapped-isr-changes", "kip-343", "343.specified"),))
    assert every == "KIP-343 as specified off · Kafka kip-343"


def test_a_title_with_zookeeper_says_what_a_kip_wants_there_and_an_old_rule_in_its_own_words() -> (
    None
):
    features = parse_features(
        "zk-3.4", off=("zookeeper.leader-skips-absent",), on=("704.specified",)
    )
    (title,) = titles((rows_of(run_play(load("380-zombie"), features)),))
    assert title == "KIP-704 as specified · leader skips absent off · Kafka zk-3.4"


def test_the_mask_hides_the_future_and_the_verdict(lossy: Rows) -> None:
    figure = timeline(lossy, until=4)
    (verdict,) = [t for t in figure.data if t.name == "verdict"]
    assert 4.5 <= shape(figure, "mask").x0 < 5
    assert 12 < shape(figure, "mask").x1 < 12.1
    assert (shape(figure, "cursor").x0, verdict.visible) == (4, False)
    move_cursor(figure, None)
    assert (shape(figure, "mask").visible, verdict.visible) == (False, True)


def test_moving_the_cursor_changes_nothing_else(lossy: Rows) -> None:
    moved = timeline(lossy)
    move_cursor(moved, 7)
    assert moved == timeline(lossy, until=7)


def test_at_the_last_moment_nothing_is_masked(lossy: Rows) -> None:
    assert shape(timeline(lossy, until=11), "mask").visible is False


def test_markup_in_a_title_stays_text() -> None:
    title = "title <b>bold</b> & <script>alert(1)</script>"
    said = texts(timeline(play(f"{title}\nbroker 1\ntopic t replicas=1\n")))
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;script&gt;alert(1)&lt;/script&gt;" in said


def test_an_unknown_partition_or_theme_is_refused_by_name(lossy: Rows) -> None:
    with pytest.raises(ValueError, match="there is orders-0"):
        timeline(lossy, partition="orders-7")
    with pytest.raises(ValueError, match="the themes are light, dark"):
        timeline(lossy, theme="pink")


WORDS_ON_FILLS = (
    *("text/paper", "text/epoch_fill", "text/isr_fill", "text/offline", "text/box"),
    *("muted/paper", "muted/tile", "leader_text/leader", "member_text/member"),
    *("safe_text/safe", "risk_text/risk", "lost_text/lost", "message/paper"),
    *("refused/box", "refused/paper", "refused/tile", "gone/paper", "gone/tile"),
)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda t: t.name)
def test_words_have_the_contrast_that_wcag_asks_for(theme: Theme) -> None:
    colors = {word: [getattr(theme, name) for name in word.split("/")] for word in WORDS_ON_FILLS}
    assert [word for word, pair in colors.items() if contrast(*pair) < 4.5] == []


def contrast(one: str, other: str) -> float:
    """WCAG 2's ratio of relative luminances."""
    dark, light = sorted((0.2126, 0.7152, 0.0722) @ linear_of(color) for color in (one, other))
    return float((light + 0.05) / (dark + 0.05))


def linear_of(color: str) -> Any:
    """sRGB's red, green and blue without its gamma."""
    c = np.array([*bytes.fromhex(color[1:])]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


SEEN_BY = {
    "everybody": "1 0 0; 0 1 0; 0 0 1",
    "protanopes": "0.152286 1.052583 -0.204868; 0.114503 0.786281 0.099216;"
    "-0.003882 -0.048116 1.051998",
    "deuteranopes": "0.367322 0.860646 -0.227968; 0.280085 0.672501 0.047413;"
    "-0.011820 0.042940 0.968881",
    "tritanopes": "1.255528 -0.076749 -0.178779; -0.078411 0.930809 0.147602;"
    "0.004733 0.691367 0.303900",
}
"""What linear red, green and blue become: Machado, Oliveira and Fernandes (2009), severity 1."""
FAR, APART = 25, 14
"""CIE 1976 distances: of colours that say opposite things, and of others with signs of their own.
A difference of 2.3 is just noticed.
"""


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda t: t.name)
@pytest.mark.parametrize("eyes", SEEN_BY)
def test_nobody_takes_a_refusal_for_a_loss(eyes: str, theme: Theme) -> None:
    harm = [theme.gone, theme.lost_text, theme.risk_text]
    assert [c for c in harm if difference(theme.refused, c, eyes) < FAR] == []
    others = [theme.message, theme.muted, theme.text, theme.safe_text]
    assert [c for c in others if difference(theme.refused, c, eyes) < APART] == []


def difference(one: str, other: str, eyes: str) -> float:
    """How far apart two colours are, in CIE L*a*b*."""
    return float(np.linalg.norm(lab(one, eyes) - lab(other, eyes)))


XYZ = (0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)
DAYLIGHT = 0.95047, 1.0, 1.08883
"""What linear red, green and blue come to, and a white of daylight (D65)."""


def lab(color: str, eyes: str) -> Any:
    """Lightness, red against green, yellow against blue."""
    matrix = np.array([row.split() for row in SEEN_BY[eyes].split(";")], float)
    observed = np.clip(matrix @ linear_of(color), 0, 1)
    t = np.array(XYZ) @ observed / DAYLIGHT
    a, b, c = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * b - 16, 500 * (a - b), 200 * (b - c)])
