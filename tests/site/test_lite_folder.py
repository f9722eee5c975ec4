"""The folder of the labs: whole, the same whenever it is made, and never in the place of others."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kiplab.cli.command import main
from kiplab.cli.jupyter_settings import LAB_SETTINGS
from kiplab.site.lite_folder import build_site

ROOT = Path(__file__).resolve().parents[2]
LABS = ROOT / "labs"
is_long = pytest.mark.long(quick="tests/site/test_page_wheels.py")


def test_a_folder_of_something_else_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    assert main(["site", "-o", str(tmp_path)]) == 2
    assert "it is not empty, and is no folder that this command made" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_another_version_of_jupyterlite_is_told_with_its_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kiplab.site.lite_folder._APP_SHA256", "of another version")
    assert main(["site", "-o", str(tmp_path / "site")]) == 3
    assert "or another version than the pinned 0.8.6. pip install" in capsys.readouterr().err


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, bytes]]:
    """Builds a folder of that name, once, and gives its files by their place in it."""
    home, known = tmp_path_factory.mktemp("sites"), dict[str, dict[str, bytes]]()

    def files(name: str) -> dict[str, bytes]:
        if name not in known:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(home)
                found = build_site(Path("any", name), LABS, LAB_SETTINGS, lambda _: None)
            there = home / "any" / name
            known[name] = {f.relative_to(there).as_posix(): f.read_bytes() for f in found}
        return known[name]

    return files


@is_long
def test_two_builds_are_equal_to_the_byte(built: Callable[[str], dict[str, bytes]]) -> None:
    first, second = built("one"), built("two")
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


@is_long
def test_it_has_every_lab_and_nothing_for_instructors(
    built: Callable[[str], dict[str, bytes]],
) -> None:
    site = built("one")
    labs = {path.name for path in LABS.iterdir() if path.is_file()}
    assert {name.removeprefix("files/") for name in site if name.startswith("files/")} == labs
    note = (LABS / "instructor" / "04-kafka-14139.md").read_bytes().splitlines()[2]
    assert [name for name, data in site.items() if note in data] == []
    for lab in labs:
        if lab.endswith(".ipynb"):
            assert f'"lab/index.html?path={lab}"'.encode() in site["index.html"]


@is_long
def test_what_a_first_lab_imports_is_compiled_there(
    built: Callable[[str], dict[str, bytes]], tmp_path: Path
) -> None:
    site = built("one")
    lock = json.loads(site["python/pyodide-lock.json"])["packages"]["kiplab"]
    (tmp_path / "kiplab.whl").write_bytes(site[f"python/{lock['file_name']}"])
    names = zipfile.ZipFile(tmp_path / "kiplab.whl").namelist()
    assert "kiplab/widgets/lab.pyc" in names
    # Read as text by kiplab itself.
    assert "kiplab/__init__.py" in names
