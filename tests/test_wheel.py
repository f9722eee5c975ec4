"""The wheel of everybody, and that of a class, in a fresh environment and another folder."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from urllib.request import urlopen

import pytest

from kiplab.cli.command import main
from tests.browser.server import ROOT, TOKEN, lab_server

pytestmark = pytest.mark.long(quick="tests/test_handout.py::test_its_record_is_of_what_is_in_it")
CLASS = ROOT / "tests" / "classroom" / "class.toml"
FIRST = "00-start.ipynb"


def ran(*command: object, folder: Path) -> str:
    """What a command says, which ends well; nothing of this checkout is on its path."""
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By whose it is."""
    place = tmp_path_factory.mktemp("wheels")
    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", place / "everybody")
    ran(*pip, ROOT, folder=place)
    assert main(["handout", str(CLASS), "-o", str(place / "class")]) == 0
    return {kind: next((place / kind).glob("*.whl")) for kind in ("everybody", "class")}


@pytest.fixture(scope="module")
def python(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with what `[lab]` brings."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=True)
    pip = (place / "bin" / "python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt")
    ran(*pip, f"{wheels['everybody']}[lab]", folder=place)
    return place / "bin" / "python"


@pytest.mark.parametrize("kind", ["everybody", "class"])
def test_the_labs_open_and_run(
    kind: str,
    wheels: dict[str, Path],
    python: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pip = (python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall")
    ran(*pip, wheels[kind], folder=tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if kind == "class":
        shutil.copyfile(CLASS, tmp_path / "class.toml")
    with lab_server(tmp_path, tmp_path, str(python)) as server:
        with urlopen(f"{server.base}/api/contents/{FIRST}?token={TOKEN}") as answer:
            cells = json.load(answer)["content"]["cells"]
        assert len(cells) > 10
        of_class = ("00", "04") if kind == "class" else ("",)
        assert {path.name for path in server.labs.glob("*.ipynb")} == {
            path.name for path in (ROOT / "labs").glob("*.ipynb") if path.name.startswith(of_class)
        }
        ran(python, "-m", "jupyter", "execute", "--inplace", FIRST, folder=server.labs)
        done = json.loads((server.labs / FIRST).read_text(encoding="utf-8"))
        assert "This opens when you lock in your prediction" in json.dumps(done)
    where = ran(python, "-c", "import kiplab; print(kiplab.__file__)", folder=tmp_path).strip()
    assert Path(where).is_relative_to(python.parents[1])
    assert Path(where).with_name("classroom").joinpath("sealed").is_file() == (kind == "class")
