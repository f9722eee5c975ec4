"""A scenario is named by what it says, in whatever process."""

import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.fleet.kernel.mirrored_guards import EVERY_SET
from kiplab.fleet.parameters import PARAMETERS, ParameterError, Parameters, Scenario
from kiplab.fleet.parameters.scenario import KipStanding, standing_of

BASE = Scenario(feature_sets=("none", "841+903"))


def other(name: str) -> Scenario:
    """The base with one value moved."""
    row = PARAMETERS[name]
    value = not row.default if row.kind is bool else row.kind(row.default + 1)
    if name == "min_insync_replicas":
        return replace(BASE, parameters=Parameters(min_insync_replicas=2))
    if value > row.high:
        value = row.low
    values: dict[str, Any] = {name: value}
    if name == "disk_failures_per_year":
        values["crashes_per_year"] = 3.0
    return replace(BASE, parameters=Parameters(**values))


def test_equal_scenarios_have_one_id_in_every_process() -> None:
    program = (
        "from kiplab.fleet.parameters import Scenario;"
        "print(Scenario(feature_sets=('841+903', 'none')).scenario_id)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == BASE.scenario_id


def test_a_whole_number_is_the_same_value_as_its_float() -> None:
    whole = replace(BASE, parameters=Parameters(crashes_per_year=1))
    assert whole.scenario_id == BASE.scenario_id


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_counts(name: str) -> None:
    assert other(name).scenario_id != BASE.scenario_id


def test_feature_sets_count() -> None:
    assert replace(BASE, feature_sets=("none",)).scenario_id != BASE.scenario_id


def test_what_no_fleet_can_be_is_no_scenario() -> None:
    with pytest.raises(ParameterError, match="racks: 9 is out of range"):
        Scenario(feature_sets=("none",), parameters=Parameters(racks=9))
    with pytest.raises(ParameterError, match=r"'903\+841' is not in order; 841\+903"):
        Scenario(feature_sets=("903+841",))
    with pytest.raises(ParameterError, match="feature_sets: the list is wrong; name at least one"):
        Scenario(feature_sets=("none", "none"))


def test_what_a_release_has_is_told_from_what_only_a_switch_makes() -> None:
    released = {name for name in EVERY_SET if standing_of(name) is KipStanding.RELEASED}
    assert released == {"none", "841", "841+903", "no-elr", "elr"}
    assert standing_of("903") is KipStanding.SWITCHED
    assert standing_of("841+704") is KipStanding.SPECIFIED
