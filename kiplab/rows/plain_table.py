"""A table where there is no pandas, as in a web page: what the labs ask of one, by its names."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..extras import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN = 60
Compare = Callable[["PlainColumn", Any], "PlainColumn"]


def table_of(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """A pandas DataFrame; a PlainTable where there is no pandas."""
    names, lines = list(columns), list(rows)
    made: Any
    try:
        import pandas as pd
    except ImportError:
        made = PlainTable(names, lines, range(len(lines)))
    else:
        made = pd.DataFrame(lines, columns=names)
    return made  # type: ignore[no-any-return]


class _Plain:
    def __getattr__(self, name: str) -> Any:
        # Python and IPython ask for many such names, to see what there is.
        if name.startswith("_"):
            raise AttributeError(name)
        raise MissingExtraError(f"{name!r} of a table", "pandas", "lab")


def _by_value(compared: Callable[[Any, Any], Any]) -> Compare:
    def column(self: PlainColumn, other: Any) -> PlainColumn:
        others = other.iloc if isinstance(other, PlainColumn) else [other] * len(self.iloc)
        return PlainColumn(map(compared, self.iloc, others), self.index)

    return column


class PlainColumn(_Plain):
    """The values of a column, and how each row is called; a comparison makes one of truths."""

    def __init__(self, values: Iterable[Any], index: Sequence[Any]) -> None:
        self.iloc, self.index = list(values), list(index)

    __eq__ = _by_value(operator.eq)  # type: ignore[assignment]
    __ne__ = _by_value(operator.ne)  # type: ignore[assignment]
    __lt__ = _by_value(operator.lt)
    __le__ = _by_value(operator.le)
    __gt__ = _by_value(operator.gt)
    __ge__ = _by_value(operator.ge)
    __and__ = _by_value(operator.and_)
    __or__ = _by_value(operator.or_)
    __hash__ = None  # type: ignore[assignment]

    def isin(self, values: Iterable[Any]) -> PlainColumn:
        """Which of them are among `values`."""
        known = list(values)
        return PlainColumn([value in known for value in self.iloc], self.index)

    def keys(self) -> list[Any]:
        """How the rows are called: `dict` of a column has its values under these."""
        return self.index

    def __getitem__(self, name: Any) -> Any:
        return self.iloc[self.index.index(name)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iloc)

    def __len__(self) -> int:
        return len(self.iloc)

    def __repr__(self) -> str:
        return "\n".join(map("{}    {}".format, self.index, self.iloc))


class PlainTable(_Plain):
    """Rows of values under `columns`. Any other name of pandas raises MissingExtraError."""

    def __init__(
        self, columns: list[str], rows: Sequence[Sequence[Any]], index: Sequence[Any]
    ) -> None:
        self.columns, self.index = columns, index
        self._rows = rows

    @property
    def loc(self) -> PlainTable:
        """For ``table.loc[truths, columns]``."""
        return self

    def __getitem__(self, asked: Any) -> Any:
        """A column by its name, a table of several, the rows that are true of a column of truths,
        or both. Raises KeyError for a column that there is none of.
        """
        if isinstance(asked, tuple):
            rows, columns = asked
            return self[rows][columns]
        if isinstance(asked, PlainColumn):
            kept = [n for n, true in enumerate(asked) if true]
            index = [self.index[n] for n in kept]
            return PlainTable(self.columns, [self._rows[n] for n in kept], index)
        if isinstance(asked, str):
            place = self._place(asked)
            return PlainColumn([row[place] for row in self._rows], self.index)
        places = [self._place(name) for name in asked]
        return PlainTable(list(asked), [[row[n] for n in places] for row in self._rows], self.index)

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise KeyError(f"{name!r}: no such column; there are {', '.join(self.columns)}")
        return self.columns.index(name)

    def query(self, words: str) -> Any:
        """The rows of which a comparison is true: ``lane == 'records'``."""
        names = {name: self[name] for name in self.columns}
        return self[eval(words, {"__builtins__": {}}, names)]

    def head(self, n: int = 5) -> PlainTable:
        """The first rows."""
        return PlainTable(self.columns, self._rows[:n], self.index[:n])

    def set_index(self, column: str) -> PlainTable:
        """The same rows, called by that column."""
        return PlainTable(self.columns, self._rows, list(self[column]))

    def __len__(self) -> int:
        return len(self._rows)

    def _lines(self) -> list[list[str]]:
        rows = zip(self.index, self._rows, strict=True)
        return [["", *self.columns], *([str(cell) for cell in (name, *row)] for name, row in rows)]

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)

    def _repr_html_(self) -> str:
        head, *lines = ([escape(cell) for cell in line] for line in self._lines()[: ROWS_SHOWN + 1])
        heads = "".join(f'<th scope="col">{name}</th>' for name in head)
        body = "".join(
            f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
            for name, *cells in lines
        )
        return f'<table class="dataframe"><tr>{heads}</tr>{body}</table>'
