"""A scenario is named by what it says, in whatever process."""

import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.fleet.parameters import PARAMETERS, ParameterError, Parameters, Scenario
from kiplab.fleet.parameters.meaningful_sets import KipStanding, kip_set, kip_sets, meaningful
from kiplab.protocol.releases import Mode

BASE = Scenario(mode=Mode.KRAFT, feature_sets=("none", "841+903"))


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
        "from kiplab.fleet.parameters import Scenario; from kiplab.protocol.releases import Mode;"
        "print(Scenario(mode=Mode.KRAFT, feature_sets=('841+903', 'none')).scenario_id)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == BASE.scenario_id


def test_a_whole_number_is_the_same_value_as_its_float() -> None:
    whole = replace(BASE, parameters=Parameters(crashes_per_year=1))
    assert whole.scenario_id == BASE.scenario_id


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_counts(name: str) -> None:
    assert other(name).scenario_id != BASE.scenario_id


def test_mode_and_feature_sets_count() -> None:
    assert replace(BASE, mode=Mode.ZOOKEEPER).scenario_id != BASE.scenario_id
    assert replace(BASE, feature_sets=("none",)).scenario_id != BASE.scenario_id


def test_what_no_fleet_can_be_is_no_scenario() -> None:
    with pytest.raises(ParameterError, match="racks: 9 is out of range"):
        Scenario(mode=Mode.KRAFT, feature_sets=("none",), parameters=Parameters(racks=9))
    with pytest.raises(ParameterError, match=r"'903\+841' is not in order; 841\+903"):
        Scenario(mode=Mode.KRAFT, feature_sets=("903+841",))
    with pytest.raises(ParameterError, match="feature_sets: the list is wrong; name at least one"):
        Scenario(mode=Mode.KRAFT, feature_sets=("none", "none"))


def test_in_each_mode_three_kips_have_a_role_and_every_set_is_labelled() -> None:
    assert {*meaningful(Mode.KRAFT)} == {
        "none", "841", "903", "704", "841+903", "841+704", "903+704", "841+903+704",
    }  # fmt: skip
    assert {*meaningful(Mode.ZOOKEEPER)} == {
        "none", "380", "343", "704", "380+343", "380+704", "343+704", "380+343+704",
    }  # fmt: skip
    for mode in Mode:
        sets = kip_sets(mode)
        assert len({one.name for one in sets}) == 32
        assert [one.meaningful for one in sets] == [True] * 8 + [False] * 24


def test_a_purge_on_registration_is_counterfactual_in_kraft_and_refused_with_zookeeper() -> None:
    name = "841+903+purge_on_register"
    assert kip_set(name, Mode.KRAFT).standing is KipStanding.COUNTERFACTUAL
    assert kip_set("841+903", Mode.KRAFT).standing is KipStanding.RELEASED
    assert Scenario(mode=Mode.KRAFT, feature_sets=(name,)).feature_sets == (name,)
    with pytest.raises(ParameterError, match=r"is for KRaft: .* or say mode = '?"):
        Scenario(mode=Mode.ZOOKEEPER, feature_sets=("none", "purge_on_register"))


def test_what_a_release_has_is_told_from_what_only_a_switch_makes() -> None:
    found = {one.name: one for one in kip_sets(Mode.KRAFT)}
    assert found["841"].releases == ("3.3", "3.4")
    assert "3.5" in found["841+903"].releases
    assert found["903"].standing is KipStanding.SWITCHED
    assert found["841+704"].standing is KipStanding.SPECIFIED
    assert found["380"].standing is KipStanding.COUNTERFACTUAL
    assert {one.name for one in kip_sets(Mode.ZOOKEEPER) if one.releases} == {"none", "380"}
