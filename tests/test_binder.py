"""The Binder image is what the tests test: its files agree with pyproject.toml."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_its_python_is_one_that_the_project_supports() -> None:
    found = re.fullmatch(r"python-(\d+\.\d+)\n", (BINDER / "runtime.txt").read_text())
    assert found is not None
    assert SpecifierSet(PROJECT["requires-python"]).contains(found[1])
    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["classifiers"]


def test_it_installs_the_project_itself_with_the_tested_pins() -> None:
    lines = (BINDER / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    assert wanted == ["-c ../constraints.txt", "-e .[lab,fleet]"]
    assert {"lab", "fleet"} <= set(PROJECT["optional-dependencies"])


def test_its_java_is_new_enough_for_spark() -> None:
    found = re.search(r"openjdk-(\d+)-jre-headless", (BINDER / "apt.txt").read_text())
    assert found is not None
    assert int(found[1]) >= 17


def test_its_scripts_stop_at_the_first_error() -> None:
    for name in ("postBuild", "start"):
        script = BINDER / name
        assert os.access(script, os.X_OK)
        assert "set -euo pipefail" in script.read_text()
    assert (BINDER / "start").read_text().rstrip().endswith('exec "$@"')


@pytest.fixture(scope="module")
def recipe() -> str:
    """The Dockerfile that Binder would build from this checkout; nothing is built here."""
    program = "import sys; from repo2docker.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-build", "--debug", str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_repo2docker_reads_every_file_of_it(recipe: str) -> None:
    wanted = (
        "environment-2epy-2d3-2e12",
        "openjdk-17-jre-headless",
        'pip install --no-cache-dir -r "binder/requirements.txt"',
        "RUN ./binder/postBuild",
        'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"',
    )
    assert [line for line in wanted if line not in recipe] == []


def test_the_project_is_there_before_it_is_installed(recipe: str) -> None:
    assert recipe.index("COPY --chown=0:0 src/ ") < recipe.index('-r "binder/requirements.txt"')


@pytest.mark.long(quick="tests/test_binder.py::test_its_scripts_stop_at_the_first_error")
def test_its_last_step_works_here_too(tmp_path: Path) -> None:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    settings = {"PATH": path, "NB_PYTHON_PREFIX": str(tmp_path)}
    done = subprocess.run(
        [BINDER / "postBuild"], env={**os.environ, **settings}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    written = {f.name for f in (tmp_path / "etc" / "jupyter").rglob("*.json")}
    assert written == {"default_setting_overrides.json", "kiplab.json"}
