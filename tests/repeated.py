"""Values of a parametrised test that `make test-long` tries, beside those of `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest


def in_long(values: Iterable[Any], quick: str) -> list[Any]:
    """These values, marked; `quick` names the test that tries the others."""
    return [pytest.param(value, marks=pytest.mark.long(quick=quick)) for value in values]
