"""The house does not grow past its budget."""

import pytest

from tests.budget import LIMITS, Size, measured, table


@pytest.mark.parametrize("name", Size._fields)
def test_it_is_within_its_budget(name: str) -> None:
    assert getattr(measured(), name) <= getattr(LIMITS, name), table()
