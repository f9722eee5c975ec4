"""What a study is worked out by: all code that a block runs through counts, wherever that is."""

import importlib
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
from kiplab.fleet.pipeline import FleetOrder, code_version
from kiplab.fleet.pipeline.code_version import sources_of
from kiplab.fleet.pipeline.work_orders import METHODS

SETS = ("none", "841")
ORDER = FleetOrder(
    scenario=Scenario(feature_sets=SETS, parameters=Parameters(horizon_years=0.1)),
    study_seed=3,
    block=0,
    first=0,
    last=2,
    feature_sets=SETS,
)
CODE = code_version(work_block.__module__)


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
    assert ours <= sources_of(work_block.__module__).keys()


def written(folder: Path, name: str, **changed: str) -> None:
    """A package whose `block` needs `deeper/sums`, and nothing of `other`."""
    sources = {
        "__init__": "",
        "block": "def work():\n    from .deeper import sums\n    return sums",
        "other": "",
        "deeper/__init__": "",
        "deeper/sums": "from ..unit import YEAR",
        "unit": "YEAR = 1",
        **{path.replace("__", "/"): text for path, text in changed.items()},
    }
    for path, text in sources.items():
        file = folder / name / f"{path}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def version(place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Found below `place`, a folder or a zip, as if it had never been imported."""
    for known in [*sys.modules]:
        if known.partition(".")[0] == name:
            monkeypatch.delitem(sys.modules, known)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(place))
        importlib.invalidate_caches()
        return code_version.__wrapped__(f"{name}.block")


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"block": "from .deeper import sums"}, False),
        ({"deeper__sums": "from ..unit import YEAR as year"}, False),
        ({"unit": "YEAR = 2"}, False),
        ({"other": "YEAR = 2"}, True),
    ],
)
def test_a_version_is_of_all_that_is_imported_and_of_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], same: bool
) -> None:
    written(tmp_path / "old", "kiplab_old")
    before = version(tmp_path / "old", "kiplab_old", monkeypatch)
    written(tmp_path / "new", "kiplab_old", **changed)
    assert (version(tmp_path / "new", "kiplab_old", monkeypatch) == before) is same


def test_a_zip_of_the_code_is_the_same_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "kiplab_zipped")
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as archive:
        for file in (tmp_path / "kiplab_zipped").rglob("*.py"):
            archive.write(file, file.relative_to(tmp_path).as_posix())
    of_folder = version(tmp_path, "kiplab_zipped", monkeypatch)
    assert version(tmp_path / "sent.zip", "kiplab_zipped", monkeypatch) == of_folder


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
