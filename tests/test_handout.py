"""What a class gets: a wheel whose answers are sealed, its labs, and how students begin."""

import base64
import csv
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from kiplab.classroom import sealed_texts
from kiplab.classroom.exercise_table import EXERCISES
from kiplab.classroom.forms.held_back import EXPLANATIONS
from kiplab.cli.command import main
from kiplab.cli.handout_command import binder_link, handout
from kiplab.site import page_wheels
from tests.labs.running import LABS

CODE = "blue-heron"
CLASS_FILE = Path(__file__).parent / "classroom" / "class.toml"
CLASS = CLASS_FILE.read_text(encoding="utf-8")
ROOM = "kiplab/classroom/"
TEXTS = {
    path.relative_to(EXPLANATIONS.parent).as_posix(): path.read_text(encoding="utf-8")
    for path in (EXPLANATIONS.with_name("exercises.toml"), *EXPLANATIONS.rglob("*.md"))
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `kiplab handout` writes."""
    place = tmp_path_factory.mktemp("class")
    assert main(["handout", str(CLASS_FILE), "-o", str(place / "out")]) == 0
    return place / "out"


@pytest.fixture(scope="module")
def wheel(folder: Path) -> dict[str, bytes]:
    """The files of the wheel by their paths."""
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def installed(wheel: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel."""
    place = tmp_path_factory.mktemp("installed")
    for name, content in wheel.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


Asked = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def asked(installed: Path, tmp_path: Path) -> Asked:
    """Runs some Python with the sealed kiplab, in a folder with or without a class.toml."""

    def run(code: str, class_toml: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        here = tmp_path / "kiplab-labs"
        here.mkdir(exist_ok=True)
        if class_toml:
            (here / class_toml).write_text(CLASS, encoding="utf-8")
        environment = {"PYTHONPATH": str(installed), "PATH": "", **variables}
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


PLAYED = "import kiplab; print(kiplab.run('kafka-14139').verdict)"
COMMANDS = """
from kiplab.cli.command import main
print(main(["play", "kafka-14139"]), main(["timeline", "kafka-14139", "-o", "a.svg"]))
"""
CHECKED = 'import kiplab; kiplab.explain("start/slow-request"); print("open")'


def test_the_folder_has_all_that_a_class_needs_and_no_notes_for_instructors(folder: Path) -> None:
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == {
        "class.toml",
        "handout.md",
        "kiplab-1.0.0-py3-none-any.whl",
        "kiplab-labs/00-start.ipynb",
        "kiplab-labs/04-kafka-14139.ipynb",
        "postBuild",
        *(f"kiplab-labs/{page.name}" for page in LABS.glob("*.md")),
        "requirements.txt",
    }
    assert (folder / "class.toml").read_text(encoding="utf-8") == CLASS
    assert (folder / "requirements.txt").read_text() == "./kiplab-1.0.0-py3-none-any.whl[lab]\n"


def test_nothing_in_the_wheel_says_what_is_right_or_why(wheel: dict[str, bytes]) -> None:
    sentences = [idea.hint for e in EXERCISES for idea in e.ideas.values() if idea.hint]
    sentences += [line for text in TEXTS.values() for line in text.splitlines() if len(line) > 60]
    said = [s.encode() for s in sentences]
    everything = b"\n".join(
        content for name, content in wheel.items() if not name.startswith("kiplab/_labs/")
    )
    assert len(said) > 500
    shown = [s for s in said if s in everything]
    assert shown == []
    assert not [name for name in wheel if name.removeprefix(ROOM) in TEXTS]
    assert {n.removeprefix("kiplab/_labs/") for n in wheel if n.startswith("kiplab/_labs/")} == {
        path.name for path in LABS.iterdir() if path.is_file()
    }


def test_its_record_is_of_what_is_in_it(wheel: dict[str, bytes]) -> None:
    (name,) = (name for name in wheel if name.endswith("/RECORD"))
    rows = list(csv.reader(wheel[name].decode().splitlines()))
    assert {row[0] for row in rows} == wheel.keys()
    for path, digest, size in (row for row in rows if row[0] != name):
        found = base64.urlsafe_b64encode(hashlib.sha256(wheel[path]).digest()).decode()
        assert (digest, int(size)) == (f"sha256={found.rstrip('=')}", len(wheel[path]))


def test_equal_texts_and_an_equal_code_make_equal_bytes() -> None:
    files = {f"{ROOM}{name}": text.encode() for name, text in TEXTS.items()}
    once, again = (sealed_texts.sealed_for(CODE, files) for _ in range(2))
    assert once == again
    assert once != sealed_texts.sealed_for("another", files)


def test_the_code_gives_back_every_text(folder: Path, wheel: dict[str, bytes]) -> None:
    sealed = folder.parent / "sealed"
    sealed.write_bytes(wheel[f"{ROOM}sealed"])
    assert sealed_texts._opened(sealed, CODE) == TEXTS


def test_without_the_code_plays_run_and_the_classroom_says_how_to_give_it(asked: Asked) -> None:
    assert asked(PLAYED).stdout == "loss\n"
    assert asked(COMMANDS).stdout.endswith("0 0\n")
    said = asked(CHECKED).stderr.splitlines()[-1]
    assert said.endswith(
        "the exercises of this class open with its code, and none is given: put the class.toml"
        " that your instructor gave you beside the notebooks, or set KIPLAB_CLASS to the code of"
        " your class before JupyterLab starts."
    )


def test_a_command_that_needs_the_code_ends_like_one_that_lacks_something(asked: Asked) -> None:
    done = asked("import sys; from kiplab.cli.command import main; sys.exit(main(['class', '.']))")
    assert done.returncode == 3
    assert done.stderr.startswith("kiplab: the exercises of this class open with its code")


@pytest.mark.parametrize("class_toml", ["class.toml", "../class.toml", ""])
def test_the_code_stands_beside_the_notebooks_or_above_or_in_a_variable(
    asked: Asked, class_toml: str
) -> None:
    given = {} if class_toml else {"KIPLAB_CLASS": CODE}
    assert asked(CHECKED, class_toml, **given).stdout == "open\n"


def test_another_code_is_named(asked: Asked) -> None:
    said = asked(CHECKED, "class.toml", KIPLAB_CLASS="green-heron").stderr
    assert "do not open with the code 'green-heron': put the class.toml" in said


def test_a_sealed_kiplab_seals_nothing_again() -> None:
    with pytest.raises(ValueError, match="is sealed for a class itself"):
        sealed_texts.sealed_for(CODE, {f"{ROOM}sealed": b""})


def test_kiplab_in_a_page_is_sealed_as_well(tmp_path: Path) -> None:
    page_wheels.write_kiplab(tmp_path, lambda files: sealed_texts.sealed_for(CODE, files))
    (file,) = tmp_path.iterdir()
    names = zipfile.ZipFile(file).namelist()
    assert f"{ROOM}sealed" in names
    assert f"{ROOM}exercises.toml" not in names


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
    "## When": "**2026-12-18 18:00:00+00:00**",
}


def test_the_page_tells_every_way_to_begin_and_the_deadline(folder: Path) -> None:
    page = (folder / "handout.md").read_text(encoding="utf-8")
    assert page.startswith("# Distributed systems\n")
    places = [page.index(f"{heading}\n") for heading in SECTIONS]
    assert places == sorted(places)
    for heading, told in SECTIONS.items():
        assert told in page.partition(heading)[2].partition("\n## ")[0]


def test_the_page_leaves_out_what_a_class_has_not() -> None:
    page = handout(sealed_texts.ClassPage(code=CODE), "kiplab.whl", "00-start.ipynb")
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings == ["# kiplab", "## On your own computer", "## Your work"]
    assert "$" not in page


def test_what_is_left_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "class.toml"
    file.write_text('code = "a"\nhub = "https://hub.example.edu"\n')
    assert main(["handout", "--json", str(file), "-o", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["without"] == ["address", "site"]
    assert "has no address: handout.md leaves out Binder and JupyterHub" in said.err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('title = "no code"', 'has no code; write a line code = "..."'),
        ('code = "a"\nlabs = ["40"]', "names the lab '40'; there are 00-start.ipynb"),
        ("code =", "is no page of a class"),
        ("code = 4", "Expected `str`, got `int` - at `$.code`"),
    ],
)
def test_a_class_that_cannot_be_handed_out_is_told_why(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.toml").write_text(text)
    assert main(["handout", str(tmp_path / "class.toml"), "-o", str(tmp_path / "out")]) == 2
    assert problem in capsys.readouterr().err


def test_a_folder_of_something_else_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.toml").write_text('code = "a"\n')
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("three years")
    assert main(["handout", str(tmp_path / "class.toml"), "-o", str(tmp_path / "out")]) == 2
    assert "is not empty, and no class.toml is in it" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["thesis.txt"]
