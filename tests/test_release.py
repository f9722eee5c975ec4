"""`make release`: the same commit gives the same bytes, and their sums; what is there stays."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import kiplab
from tests.made_pages import ROOT


def release(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "assets" / "release.py"), str(folder)]
    return subprocess.run(command, text=True, capture_output=True)


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = release(tmp_path)
    assert refused.returncode == 2
    expected = "is not empty; name a new folder, as in RELEASE=../release"
    assert refused.stderr == f"kiplab: {tmp_path} {expected}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.long(quick="::test_a_folder_with_something_in_it_is_refused")
def test_two_releases_are_the_same_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    said = [release(folder) for folder in (one, other)]
    assert [each.returncode for each in said] == [0, 0], said
    assert "git tag v1.0.0" in said[0].stdout
    sums = (one / "SHA256SUMS").read_text("utf-8")
    assert sums == (other / "SHA256SUMS").read_text("utf-8")
    version = kiplab.__version__
    names = [f"kiplab-{version}-py3-none-any.whl", f"kiplab-{version}.tar.gz"]
    site = f"kiplab-site-{version}"
    assert [line.split("  ")[1] for line in sums.splitlines()] == [*names, f"{site}.zip"]
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], check=True, cwd=one)
    with zipfile.ZipFile(one / f"{site}.zip") as archive:
        zipped = {name: archive.read(name) for name in archive.namelist()}
    there = [path for path in (one / site).rglob("*") if path.is_file()]
    assert zipped == {path.relative_to(one).as_posix(): path.read_bytes() for path in there}
