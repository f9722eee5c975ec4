"""What a class gets: a wheel whose answers are sealed, its labs, and how students begin."""

import base64
import csv
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from kiplab.classroom import sealed_texts
from kiplab.classroom.exercise_table import EXERCISES
from kiplab.classroom.forms.held_back import EXPLANATIONS
from kiplab.cli.command import main
from kiplab.cli.handout_command import binder_link
from kiplab.site import page_wheels
from tests.labs.running import LABS

CODE, FILE = "blue-heron", Path(__file__).parent / "classroom" / "class.toml"
"""The code, and the page of a class. It has a field that is for others."""
ROOM = "kiplab/classroom/"
TEXTS = {
    path.relative_to(EXPLANATIONS.parent).as_posix(): path.read_text(encoding="utf-8")
    for path in (EXPLANATIONS.with_name("exercises.toml"), *EXPLANATIONS.rglob("*.md"))
}
LAB_FILES = {path.name for path in LABS.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `kiplab handout` writes."""
    out = tmp_path_factory.mktemp("class") / "out"
    assert main(["handout", str(FILE), "-o", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def wheel(folder: Path) -> dict[str, bytes]:
    """The files of the wheel by their paths; they lie beside the folder as well."""
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder.parent / "installed")
        return {name: archive.read(name) for name in archive.namelist()}


def ran(folder: Path, code: str, here: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Some Python with the sealed kiplab, in the folder `here`."""
    here.mkdir(exist_ok=True)
    environment = {"PYTHONPATH": str(folder.parent / "installed"), **variables}
    command = [sys.executable, "-c", f"import kiplab, sys\n{code}"]
    return subprocess.run(
        command, cwd=here, env=environment, capture_output=True, text=True, check=False
    )


PLAYS = """
from kiplab.cli.command import main
print(main(["play", "kafka-14139"]), main(["timeline", "kafka-14139", "-o", "a.svg"]))
sys.exit(main(["class", "."]))
"""
EXPLAINS = 'kiplab.explain("start/slow-request"); print("open")'
GIVE_IT = (
    "put the class.toml that your instructor gave you beside the notebooks, or set KIPLAB_CLASS to"
    " the code of your class before JupyterLab starts."
)


def test_the_folder_has_all_that_a_class_needs_and_no_notes_for_instructors(folder: Path) -> None:
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == {
        *("class.toml", "handout.md", "kiplab-1.0.0-py3-none-any.whl", "postBuild"),
        *("kiplab-labs/00-start.ipynb", "kiplab-labs/04-kafka-14139.ipynb", "requirements.txt"),
        "runtime.txt",
        *(f"kiplab-labs/{name}" for name in LAB_FILES if name.endswith(".md")),
    }
    assert (folder / "class.toml").read_bytes() == FILE.read_bytes()
    pages = "".join(page.read_text("utf-8") for page in (folder / "kiplab-labs").iterdir())
    linked = {*re.findall(r"\]\((\d\d-[\w-]+\.ipynb)", pages)}
    assert linked == {"00-start.ipynb", "04-kafka-14139.ipynb"}
    assert (folder / "requirements.txt").read_text() == "./kiplab-1.0.0-py3-none-any.whl[lab]\n"


def test_nothing_in_the_wheel_says_what_is_right_or_why(wheel: dict[str, bytes]) -> None:
    sentences = [idea.hint for e in EXERCISES for idea in e.ideas.values() if idea.hint]
    sentences += [line for text in TEXTS.values() for line in text.splitlines() if len(line) > 60]
    read = (".py", ".md", ".toml", ".js", ".html", ".txt", "METADATA")
    files = [data for name, data in wheel.items() if name.endswith(read) and "/_labs/" not in name]
    plain = b"\n".join(files).decode()
    assert len(sentences) > 500
    assert [sentence for sentence in sentences if sentence in plain] == []
    assert {name.rpartition("/")[2] for name in wheel if "/_labs/" in name} == LAB_FILES


def test_its_record_is_of_what_is_in_it(wheel: dict[str, bytes]) -> None:
    (name,) = (name for name in wheel if name.endswith("/RECORD"))
    rows = list(csv.reader(wheel[name].decode().splitlines()))
    assert {row[0] for row in rows} == wheel.keys()
    for path, digest, size in (row for row in rows if row[0] != name):
        found = base64.urlsafe_b64encode(hashlib.sha256(wheel[path]).digest()).decode()
        assert (digest, int(size)) == (f"sha256={found.rstrip('=')}", len(wheel[path]))


def test_the_code_and_no_other_gives_back_every_text(tmp_path: Path) -> None:
    files = {f"{ROOM}{name}": text.encode() for name, text in TEXTS.items()}
    sealed, again = (sealed_texts.sealed_for(CODE, files) for _ in range(2))
    assert sealed == again != sealed_texts.sealed_for("another", files)
    (tmp_path / "sealed").write_bytes(sealed[f"{ROOM}sealed"])
    assert sealed_texts._opened(tmp_path / "sealed", CODE) == TEXTS
    with pytest.raises(ValueError, match="is sealed for a class itself"):
        sealed_texts.sealed_for(CODE, sealed)


@pytest.mark.usefixtures("wheel")
def test_without_the_code_plays_run_and_the_classroom_says_how_to_give_it(
    folder: Path, tmp_path: Path
) -> None:
    done = ran(folder, PLAYS, tmp_path)
    assert done.stdout.endswith("0 0\n")
    said = f"the exercises of this class open with its code, and none is given: {GIVE_IT}\n"
    assert (done.returncode, done.stderr) == (3, f"kiplab: {said}")
    assert ran(folder, EXPLAINS, tmp_path).stderr.endswith(said)
    other = ran(folder, EXPLAINS, tmp_path, KIPLAB_CLASS="green").stderr
    assert other.endswith(f"do not open with the code 'green': {GIVE_IT}\n")


@pytest.mark.usefixtures("wheel")
def test_the_code_is_in_a_variable_or_beside_the_notebooks_or_above(
    folder: Path, tmp_path: Path
) -> None:
    here = tmp_path / "kiplab-labs"
    for given in (CODE, str(FILE)):
        assert ran(folder, EXPLAINS, here, KIPLAB_CLASS=given).stdout == "open\n"
    for place in (here, tmp_path):
        (place / "class.toml").write_bytes(FILE.read_bytes())
        assert ran(folder, EXPLAINS, here).stdout == "open\n"
        (place / "class.toml").unlink()


def test_kiplab_in_a_page_is_sealed_as_well(tmp_path: Path) -> None:
    page_wheels.write_kiplab(tmp_path, lambda files: sealed_texts.sealed_for(CODE, files))
    (file,) = tmp_path.iterdir()
    names = zipfile.ZipFile(file).namelist()
    assert (f"{ROOM}sealed" in names, f"{ROOM}exercises.toml" in names) == (True, False)


def test_the_address_of_the_repository_stands_in_one_place_of_the_readme() -> None:
    text = (LABS.parent / "README.md").read_text(encoding="utf-8")
    (link,) = re.findall(r"^\[binder\]: (.*)$", text, re.MULTILINE)
    address = unquote(re.split("/v2/git/|/HEAD", link)[1])
    assert link == binder_link(address, "00-start.ipynb", "labs")
    name = address.removeprefix("https://github.com/")
    assert (text.count(quote(name, safe="")), text.count(name)) == (1, 0)


SECTIONS = {
    "## On the JupyterHub": "https://hub.example.edu/hub/user-redirect/git-pull?repo=https%3A//git."
    "example.edu/ds/kafka.git&urlpath=lab/tree/kafka/kiplab-labs/00-start.ipynb",
    "## In Binder": "https://mybinder.org/v2/git/https%3A%2F%2Fgit.example.edu%2Fds%2Fkafka.git/"
    "HEAD?urlpath=lab/tree/kiplab-labs/00-start.ipynb",
    "## In a browser, without an install": "https://www.example.edu/kafka/",
    "## On your own computer": r'kiplab-venv\Scripts\pip install ".\kiplab-1.0.0-py3-none-any',
    "## Your work": "kiplab-work.zip",
    "## When": "**2026-12-18 18:00+00:00**",
}


def test_the_page_tells_every_way_to_begin_and_the_deadline(folder: Path) -> None:
    first, *parts = (folder / "handout.md").read_text(encoding="utf-8").split("\n## ")
    assert first.startswith("# Distributed systems\n")
    assert [f"## {part.splitlines()[0]}" for part in parts] == [*SECTIONS]
    told = zip(SECTIONS.values(), parts, strict=True)
    assert [text for text, part in told if text not in part] == []


def test_the_page_leaves_out_what_a_class_has_not_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.toml").write_text('code = "a"\nhub = "https://hub.example.edu"\n')
    assert main(["handout", "--json", str(tmp_path / "class.toml"), "-o", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["without"] == ["address", "site"]
    assert "has no address: handout.md leaves out Binder and JupyterHub" in said.err
    page = (tmp_path / "handout.md").read_text(encoding="utf-8")
    assert re.findall("^#+ .*", page, re.MULTILINE) == [
        *("# kiplab", "## On your own computer", "## Your work"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('code = "a"\nlabs = ["40"]', "class.toml, line 2: labs: expected numbers of labs"),
        ('code = "a"', "is not empty, and no class.toml is in it"),
    ],
)
def test_what_cannot_be_handed_out_is_told_why(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.toml").write_text(text)
    (tmp_path / "out").mkdir()
    if "not empty" in problem:
        (tmp_path / "out" / "thesis.txt").write_text("three years")
    assert main(["handout", str(tmp_path / "class.toml"), "-o", str(tmp_path / "out")]) == 2
    assert problem in capsys.readouterr().err
