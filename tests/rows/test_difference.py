"""Where two runs part, and how their states differ: in rows, sentences and tables."""

import html

import pandas as pd
import pytest
from IPython.core.formatters import HTMLFormatter

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.rows import difference, run_titles
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from tests.html_outline import Outline

EVIL = "<script>alert(1)</script>"


def at(found: tuple[difference.Difference, ...], x: int, node: str) -> dict[str, tuple[str, str]]:
    return {d.field: (d.one, d.other) for d in found if (d.x, d.node) == (x, node)}


def test_runs_part_where_the_request_is_accepted_or_refused(lossy: Rows, saved: Rows) -> None:
    assert difference.first_difference(lossy, saved) == 6
    found = difference.differences(lossy, saved)
    assert at(found, 6, "orders-0") == {
        "partition epoch": ("11", "10"),
        "ISR": ("{1, 2}", "{1}"),
        "committed records": ("at risk", "safe"),
    }
    (answer,) = at(found, 6, "controller").items()
    assert answer == (
        "answer to AlterPartition of broker 1",
        (
            "accepted: ISR {1, 2}, partition epoch 11",
            "refused: INELIGIBLE_REPLICA (broker 2: request 41, registered 57)",
        ),
    )


def test_the_end_tells_leader_epochs_logs_and_the_verdict(lossy: Rows, saved: Rows) -> None:
    found = difference.differences(lossy, saved)
    end = at(found, 11, "orders-0")
    assert end["leader"] == ("broker 2", "broker 1")
    assert end["leader epoch"] == ("6", "7")
    first = at(found, 11, "broker 1")
    assert first["log end offset"] == ("0", "100")
    assert first["high watermark"] == ("0", "100")
    assert first["broker epoch"] == ("62", "61")
    (verdict,) = at(found, 11, "the run").values()
    assert verdict[0].startswith("loss: 100 committed records lost")
    assert {d.x for d in found} == {6, 11}


def test_any_moment_can_be_asked_for(lossy: Rows, saved: Rows) -> None:
    assert difference.differences(lossy, saved, at=5) == ()
    waiting = at(difference.differences(lossy, saved, at=8), 8, "orders-0")
    assert waiting["leader"] == ("broker 2", "none")
    with pytest.raises(ValueError, match="they go from 0 to 11"):
        difference.differences(lossy, saved, at=12)


def test_a_run_does_not_differ_from_itself(lossy: Rows) -> None:
    assert difference.differences(lossy, lossy) == ()
    (only,) = difference.differences_text(lossy, lossy)
    assert only.endswith("do not differ at any moment.")
    assert difference.differences_html(lossy, lossy) == f"<p>{only}</p>"


def test_a_shorter_run_stays_as_it_ended() -> None:
    lines = ["broker 1", "topic t replicas=1 leader=1", "produce t-0 count=5"]
    short = rows_of(run_play(parse("\n".join(lines) + "\n")))
    longer = rows_of(run_play(parse("\n".join([*lines, "produce t-0 count=5"]) + "\n")))
    assert difference.first_difference(short, longer) == 2
    assert at(difference.differences(short, longer), 2, "broker 1")["log end offset"] == ("5", "10")


def test_fencing_and_registration_differ_by_node() -> None:
    start = "broker 1\nbroker 2\ntopic t replicas=1,2 leader=1\n"
    fenced = rows_of(run_play(parse(start + "crash 2\nexpire 2\n")))
    alive = rows_of(run_play(parse(start + "crash 2\nstart 2\n")))
    assert at(difference.differences(fenced, alive, at=2), 2, "broker 2")["fenced"] == ("yes", "no")


def test_the_sentences_name_the_rules_once_and_the_first_run_first(
    lossy: Rows, saved: Rows
) -> None:
    told = difference.differences_text(lossy, saved)
    assert told[0] == (
        "KIP-903 off · Kafka 3.4 and KIP-903 on · Kafka 3.5 first differ at 6 (request arrives)."
    )
    assert told[1].startswith("At 6, orders-0: partition epoch 11 against 10; ISR {1, 2} against")
    assert told[-1].startswith("At 11, the run: verdict loss: 100 committed records lost against")


def test_the_table_has_a_caption_and_scoped_headers(lossy: Rows, saved: Rows) -> None:
    outline = Outline(difference.differences_html(lossy, saved))
    assert len(outline.named("caption")) == 1
    scopes = [head["scope"] for head in outline.named("th")]
    assert scopes.count("col") == 5
    assert scopes.count("row") == len(difference.differences(lossy, saved))


def test_words_of_a_play_are_escaped() -> None:
    play = f"title {EVIL}\nbroker 1\ntopic t replicas=1\n"
    one = rows_of(run_play(parse(play + "produce t-0\n")))
    other = rows_of(run_play(parse(play + "crash 1\n")))
    assert not Outline(difference.differences_html(one, other)).named("script")


def test_the_frame_has_the_rules_as_columns(lossy: Rows, saved: Rows) -> None:
    frame = difference.differences_frame(lossy, saved)
    assert list(frame.columns) == ["moment", "where", "what", *run_titles.titles((lossy, saved))]
    assert len(frame) == len(difference.differences(lossy, saved))
    twice = difference.differences_frame(lossy, lossy)
    assert len(set(twice.columns)) == 5


def html_of(frame: pd.DataFrame) -> str:
    """What a notebook shows of it."""
    return str(HTMLFormatter()(frame))


def test_the_frame_shows_its_cells_whole(lossy: Rows, saved: Rows) -> None:
    frame = difference.differences_frame(lossy, saved)
    longest = max((str(cell) for cell in frame.to_numpy().ravel()), key=len)
    assert len(longest) > 50
    shown = html_of(frame)
    assert html.escape(longest, quote=False) in shown
    assert "text-align: left" in shown
    assert longest in repr(frame)
    assert html.escape(longest, quote=False) in html_of(frame[frame["moment"] > 0])


def test_every_run_is_compared_with_the_first(two_by_two: tuple[Rows, ...]) -> None:
    found = difference.comparisons(two_by_two)
    assert [(c.run, c.first_difference) for c in found] == [(1, None), (2, 6), (3, 6)]


def test_titles_name_every_kip_in_which_the_runs_differ(two_by_two: tuple[Rows, ...]) -> None:
    assert run_titles.titles(two_by_two) == (
        "KIP-841 off · KIP-903 off · Kafka 3.5",
        "KIP-841 on · KIP-903 off · Kafka 3.5",
        "KIP-841 off · KIP-903 on · Kafka 3.5",
        "KIP-841 on · KIP-903 on · Kafka 3.5",
    )
