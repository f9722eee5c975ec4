"""What a study is worked out by: all code that a block runs through counts, wherever that is."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.fleet.fleet_answers import work_block as work_file
from kiplab.fleet.fleet_answers.work_block import WrongPlaceError, checked_block, work_block
from kiplab.fleet.parameters import Parameters, Scenario
from kiplab.fleet.pipeline.study_plan import METHODS, FleetOrder, code_version
from kiplab.spark.session import package_zip

SETS = ("none", "841")
ORDER = FleetOrder(
    scenario=Scenario(feature_sets=SETS, parameters=Parameters(horizon_years=0.1)),
    study_seed=3,
    block=0,
    first=0,
    last=2,
    feature_sets=SETS,
)
CODE = code_version()


@pytest.mark.parametrize("method", METHODS)
def test_whatever_a_block_runs_through_is_in_its_version(method: str) -> None:
    # The compiler runs through much, and no line of it is watched quickly.
    work_block(replace(ORDER, method=method))
    ran: set[str] = set()

    def note(frame: FrameType, _event: str, _argument: Any) -> None:
        ran.add(frame.f_globals.get("__name__", ""))

    sys.setprofile(note)
    try:
        work_block(replace(ORDER, method=method))
    finally:
        sys.setprofile(None)
    ours = {name for name in ran if name.startswith("kiplab.")}
    assert len(ours) > 3
    others = {name for name in ours if name.split(".")[1] not in ("fleet", "protocol")}
    assert others <= {"kiplab.extras", "kiplab.machine.cache"}


def test_a_version_is_of_the_sources_and_a_zip_of_them_has_the_same(
    tmp_path: Path,
) -> None:
    versions = []
    with zipfile.ZipFile(package_zip()) as archive:
        archive.extractall(tmp_path / "same")
        archive.extractall(tmp_path / "changed")
    with open(tmp_path / "changed/kiplab/fleet/kernel/quantile_tables.py", "a") as file:
        file.write("# another one")
    for place in (package_zip(), tmp_path / "same", tmp_path / "changed"):
        asked = "from kiplab.fleet.pipeline.study_plan import code_version; print(code_version())"
        environment = {**os.environ, "PYTHONPATH": str(place)}
        ran = subprocess.run(
            [sys.executable, "-c", asked],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        versions.append(ran.stdout.strip())
    assert versions[:2] == [CODE, CODE]
    assert versions[2] != CODE


def test_where_the_code_is_the_same_a_block_is_what_it_is() -> None:
    assert checked_block(CODE, ORDER) == work_block(ORDER)


def test_an_executor_with_other_code_is_refused() -> None:
    with pytest.raises(WrongPlaceError, match=rf"another version of kiplab \({CODE}\) than .*0000"):
        checked_block("000000000000", ORDER)


def test_an_executor_without_a_compiler_is_refused_unless_somebody_wants_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(work_file, "has_compiler", lambda: False)
    with pytest.raises(WrongPlaceError, match=r"has no numba, .* install it there, or set NUMBA"):
        checked_block(CODE, ORDER)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert checked_block(CODE, ORDER) == work_block(ORDER)
