"""A table without pandas: what the labs ask of one has the same answer."""

import sys
from typing import Any

import pytest

import kiplab
from kiplab.extras import MissingExtraError

ASKED = (
    "spans",
    "spans.loc[spans['track'] == 'ISR', ['x0', 'x1', 'value']].head(1)",
    "spans.loc[(spans['lane'] == 'broker 1') & (spans['track'] == 'log'), ['x0', 'text']]",
    "spans[spans['track'].isin(['leader epoch', 'partition epoch'])]",
    "spans[spans['track'].isin(['ISR']) & (spans['x0'] <= 5) & (spans['x1'] > 5)]"
    ".set_index('track')[['value']]",
    "spans.query('lane == \"records\"')[['x0', 'x1', 'value']]",
    "ticks.loc[(ticks['offset'] >= 203) | (ticks['short'] != ''), ['offset', 'short']]",
    "messages[messages['x_sent'] < 3]",
)
"""Expressions over the tables of a run."""


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables of a run, with pandas and without."""
    run = kiplab.run("kafka-14139", kafka="3.4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        plain = dict[str, Any](run.frames())
    return dict(run.frames()), plain


@pytest.mark.parametrize("asked", ASKED)
def test_it_answers_as_pandas(both: tuple[dict[str, Any], dict[str, Any]], asked: str) -> None:
    one, other = (eval(asked, tables) for tables in both)
    assert len(other) == len(one) > 0
    assert [*other.columns] == [*one.columns]
    for name in one.columns:
        here, there = dict(one[name].astype(object).where(one[name].notna(), None)), other[name]
        assert dict(there) == here
        assert there.iloc[0] == next(iter(here.values()))


def test_it_shows_its_cells_escaped(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    events = both[1]["events"]
    shown = events[events["text"] == events["text"].iloc[0]].head(1)
    assert "<th" in shown._repr_html_()
    assert "->" not in events._repr_html_()
    assert repr(shown).splitlines()[0].split() == list(shown.columns)


def test_what_only_pandas_can_is_one_sentence(
    both: tuple[dict[str, Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingExtraError, match="'groupby' of a table needs pandas, which is not"):
        both[1]["spans"].groupby("lane")
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(MissingExtraError, match="needs pandas, which no web page has"):
        both[1]["spans"]["x0"].mean()
    with pytest.raises(KeyError, match="no such column; there are"):
        both[1]["spans"]["nothing"]
