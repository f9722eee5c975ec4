"""A pandas table whose cells are sentences: shown whole, from the left, also in a notebook."""

from __future__ import annotations

import pandas as pd

_LOOK = (
    "<style>.kiplab-sentences.kiplab-sentences :is(td, th) { text-align: left;"
    " vertical-align: top; max-width: 34em; white-space: normal; }</style>"
)


class Sentences(pd.DataFrame):
    """A DataFrame but for its display: pandas cuts texts of more than 50 characters."""

    @property
    def _constructor(self) -> type[Sentences]:
        return Sentences

    def _repr_html_(self) -> str:
        rows = pd.get_option("display.max_rows")
        with pd.option_context("display.max_colwidth", None):
            table = self.to_html(classes="kiplab-sentences", justify="left", max_rows=rows)
        return f"{_LOOK}{table}"

    def __repr__(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            return super().__repr__()
