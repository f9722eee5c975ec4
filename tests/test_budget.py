"""The house does not grow past its budget."""

import pytest

from tests.budget import LIMITS, measured, table

SIZE = measured()


@pytest.mark.parametrize("name", SIZE._fields)
def test_it_is_within_its_budget(name: str) -> None:
    assert getattr(SIZE, name) <= getattr(LIMITS, name), table()
