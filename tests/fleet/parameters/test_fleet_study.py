"""Studies as files: presets, sweeps, grids, and what is said of a file that is wrong."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.fleet.parameters import FleetStudy, ParameterError, presets, read_study
from kiplab.fleet.parameters.fleet_study import study_from, study_of, written
from kiplab.fleet.parameters.parameter_table import PARAMETERS, Parameter


def grid(**parameters: Any) -> FleetStudy:
    return study_of({"parameters": parameters})


def test_five_studies_come_with_kiplab() -> None:
    names = ("crash-loop", "elr", "linkedin", "rolling-upgrade", "slow-controller", "small")
    assert presets() == names


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_read_and_reads_back_from_what_is_written(name: str) -> None:
    study = read_study(name)
    assert study.about
    assert study.scenarios
    assert study_from(written(study)) == study


def test_an_empty_file_is_the_defaults() -> None:
    (scenario,) = study_from("").scenarios
    assert scenario.parameters.crashes_per_year == 1
    assert "841+903" in scenario.feature_sets


def test_a_list_is_a_sweep_and_several_sweeps_are_a_grid() -> None:
    study = grid(crashes_per_year=[1, 2], bounces_per_year=[4, 12, 52])
    found = [
        (s.parameters.crashes_per_year, s.parameters.bounces_per_year) for s in study.scenarios
    ]
    assert study.swept == ("crashes_per_year", "bounces_per_year")
    assert found == [(1, 4), (1, 12), (1, 52), (2, 4), (2, 12), (2, 52)]
    assert len({s.scenario_id for s in study.scenarios}) == 6


def test_a_sweep_goes_from_one_value_to_another_by_equal_steps_or_equal_factors() -> None:
    linear = {"from": 0, "to": 4, "steps": 5}
    log = {"from": 0.01, "to": 100, "steps": 5, "scale": "log"}
    study = grid(bounces_per_year=log, network_cuts_per_year=linear)
    assert dict(study.values)["bounces_per_year"] == (0.01, 0.1, 1, 10, 100)
    assert dict(study.values)["network_cuts_per_year"] == (0, 1, 2, 3, 4)


def test_a_sweep_of_whole_numbers_has_each_of_them_once() -> None:
    study = grid(replication_factor={"from": 1, "to": 4, "steps": 7})
    assert dict(study.values)["replication_factor"] == (1, 2, 3, 4)


@pytest.mark.parametrize("row", [pytest.param(r, id=n) for n, r in PARAMETERS.items()])
def test_every_parameter_can_be_swept(row: Parameter) -> None:
    ends = sorted({row.kind(row.usual[0]), row.kind(row.usual[1])})
    text = ", ".join(str(end).lower() for end in ends)
    more = "min_insync_replicas = 1\n" if row.name == "replication_factor" else ""
    if row.name == "min_insync_replicas":
        more = "replication_factor = 3\n"
    study = study_from(f"[parameters]\n{row.name} = [{text}]\n{more}")
    assert dict(study.values)[row.name] == tuple(ends)


WRONG = {
    "[parameters]\ncrashes_per_yaer = 2": "f.toml:2: crashes_per_yaer: there is no such parameter;"
    " did you mean crashes_per_year?",
    "\n[parameters]\n\nracks = 2.5": "f.toml:4: racks: 2.5 is not a whole number; it is a whole"
    " number from 1 to 5 (racks), by default 3",
    "[parameters]\nracks = 9": "f.toml:2: racks: 9 is out of range; it is a whole number from 1 to",
    "[parameters]\nracks = true": "f.toml:2: racks: True is not a whole number",
    "[parameters]\nbounces_wait = 1": "f.toml:2: bounces_wait: 1 is not true or false",
    '[parameters]\nlag_s = "30"': "f.toml:2: lag_s: '30' is not a number",
    "[parameters]\nlag_s = nan": "f.toml:2: lag_s: nan is out of range",
    "[parameters]\nlag_s = [10, -1]": "f.toml:2: lag_s: -1 is out of range",
    "[parameters]\nlag_s = []": "f.toml:2: lag_s: the list is empty; a sweep is a list, or {from",
    "[parameters]\nlag_s = {from = 1, to = 2}": "f.toml:2: lag_s: the sweep lacks steps",
    "[parameters]\nlag_s = {from = 1, to = 2, step = 3}": "lag_s: step is no part of a sweep",
    "[parameters]\nlag_s = {from = 1, to = 2, steps = 1}": "f.toml:2: lag_s: 1 steps; steps is",
    "[parameters]\nlag_s = {from = 1, to = 1, steps = 2}": "lag_s: from and to are both 1",
    "[parameters.lag_s]\nfrom = 1\nto = 2\nsteps = 2\nscale = 'cubic'": "f.toml:1: lag_s: there is"
    " no scale 'cubic'; a scale is linear or log",
    "[parameters]\nrack_shocks_per_year = {from = 0, to = 1, steps = 3, scale = 'log'}":
    "rack_shocks_per_year: a log scale cannot reach 0; begin above 0, or take the linear scale",
    "lag_s = 30": "f.toml:1: lag_s: it stands at the top; put it below [parameters]",
    "abut = 'us'": "f.toml:1: abut: there is no such key; did you mean about?",
    "mode = 'kraft'": "f.toml:1: mode: a study has none any more, it is KRaft's; leave it out, and",
    "about = 3": "f.toml:1: about: 3 is no text; put it in quotes",
    "feature_sets = '841'": "f.toml:1: feature_sets: '841' is no list of names; as in",
    "feature_sets = ['380']": "there is no feature set '380': KIP-380 and KIP-343 are of ZooKeeper",
    "feature_sets = ['841+purge_on_register']": "no Kafka purges the ISR on registration",
    "feature_sets = ['842']": "f.toml:1: feature_sets: there is no feature set '842'; none, or",
    "parameters = 3": "f.toml:1: parameters: 3 is no table",
    "[parameters]\nreplication_factor = 3\nbrokers = 2": "f.toml:2: replication_factor: 3 is more"
    " than brokers, which is 2; each replica has a broker of its own; lower it, or raise brokers",
    "[parameters]\nlag_s = ": "f.toml:2: Invalid value; a study is a TOML file",
}  # fmt: skip


@pytest.mark.parametrize(("source", "said"), WRONG.items(), ids=[*WRONG])
def test_what_is_wrong_is_said_with_its_place_and_what_is_allowed(source: str, said: str) -> None:
    with pytest.raises(ParameterError) as problem:
        study_from(source, "f.toml")
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no-such\.toml: no such file or directory; name a"):
        read_study(tmp_path / "no-such.toml")
    with pytest.raises(ParameterError, match=r"is a directory; name a TOML file, or one of crash"):
        read_study(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ParameterError, match=r"binary: it is no text; a study is a TOML file"):
        read_study(tmp_path / "binary")


def test_a_grid_without_end_is_refused_by_the_parameter_that_made_it_so() -> None:
    wide = {"from": 1, "to": 2, "steps": 200}
    with pytest.raises(ParameterError, match="more than 10,000 points") as problem:
        grid(crashes_per_year=wide, bounces_per_year=wide)
    assert problem.value.key == "bounces_per_year"


@given(name=st.sampled_from(sorted(PARAMETERS)), value=st.one_of(st.floats(), st.integers()))
def test_a_number_is_taken_as_it_is_or_refused_by_its_key(name: str, value: float) -> None:
    study = refused = None
    try:
        study = grid(**{name: value})
    except ParameterError as problem:
        refused = problem
    if study is not None:
        assert dict(study.values)[name] == (value,)
        assert study_from(written(study)) == study
    else:
        assert name in str(refused)
