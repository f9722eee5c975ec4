"""The table says of every parameter what it is, and its defaults are within its own ranges."""

import msgspec
import pytest

from kiplab.fleet.parameters.parameter_checks import check_together, checked
from kiplab.fleet.parameters.parameter_table import PARAMETERS, Parameter, Parameters

ROWS = [pytest.param(row, id=name) for name, row in PARAMETERS.items()]


def test_every_field_is_a_row() -> None:
    assert [*PARAMETERS] == [*Parameters.__struct_fields__]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_complete_and_its_numbers_are_in_order(row: Parameter) -> None:
    assert row.low <= row.usual[0] <= row.usual[1] <= row.high
    assert row.low <= row.default <= row.high
    assert row.unit
    assert row.source.endswith(".")
    assert row.does.endswith(".")


@pytest.mark.parametrize("row", ROWS)
def test_a_default_is_a_value_of_its_own_kind(row: Parameter) -> None:
    assert type(row.default) is row.kind
    assert checked(row.name, row.default) == row.default


def test_the_defaults_do_not_contradict_each_other() -> None:
    check_together(msgspec.structs.asdict(Parameters()))


def test_a_unit_stands_in_the_name_where_it_is_a_time() -> None:
    endings = {"seconds": "_s", "milliseconds": "_ms", "years": "_years"}
    for row in PARAMETERS.values():
        ending = endings.get(row.unit.split()[0])
        assert ending is None or row.name.endswith(ending)
