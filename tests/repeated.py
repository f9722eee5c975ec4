"""Values of a parametrised test that `make test-long` tries, beside those of `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest


def in_long(values: Iterable[Any], quick: str = "::", *, rows: bool = False) -> list[Any]:
    """These values, marked; `quick` names the test that tries the others, if it is another one.
    With `rows`, each has a value for every argument."""
    mark = pytest.mark.long(quick=quick)
    return [pytest.param(*(value if rows else (value,)), marks=mark) for value in values]
