"""kiplab from its wheel with msgspec alone: what needs more says so, in one sentence.

Every command, every public name and every method of what they return is gone through in such an
environment. A command or a name that is new has to be added to COMMANDS or NAMES.
"""

import argparse
import json
import os
import shutil
import subprocess
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

import kiplab
from kiplab import classroom, fleet
from kiplab.classroom.exercise_table import EXERCISES
from kiplab.classroom.together.class_work import ClassWork
from kiplab.cli import command, common_options
from kiplab.extras import EXTRAS
from kiplab.matrices import GuardMatrix
from kiplab.runs import Run
from kiplab.site.page_wheels import write_whole_kiplab

pytestmark = pytest.mark.long(
    quick="tests/test_architecture.py::test_importing_loads_nothing_heavy"
)

ROOT = Path(__file__).resolve().parent.parent
NEEDED_BY_ENDING = {".html": "lab", ".png": "export"}
TIMELINE = ["timeline", "kafka-14139", "-o"]
CLASS = ROOT / "tests" / "classroom" / "handed_in"
"""A folder with the work of one student."""
INCIDENT = str(ROOT / "tests" / "incident" / "recordings" / "other-life-3.5.2" / "dump.txt.gz")
ENDINGS = {name: its.get("endings", ()) for name, its in common_options.COMMANDS.items()}
MATRIX = ["matrix", "kafka-14139", "--guards", "903"]
COMMANDS: dict[str, list[tuple[list[str], str]]] = {
    "lab": [(["lab", "--no-browser"], "lab")],
    "plays": [(["plays"], ""), (["plays", "--json"], "")],
    "play": [(["play", "kafka-14139"], ""), (["play", "kafka-14139", "--json"], "")],
    "guards": [(["guards"], "")],
    "timeline": [
        *(([*TIMELINE, f"a{s}"], NEEDED_BY_ENDING.get(s, "")) for s in ENDINGS["timeline"]),
        ([*TIMELINE, "twin.svg", "--compare", "3.5"], ""),
        ([*TIMELINE, "ladder.svg", "--compare", "3.5", "--compare", "3.9"], ""),
    ],
    "explore": [(["explore", "kafka-14139", "--kafka", "3.5"], "")],
    "matrix": [
        (MATRIX, ""),
        ([*MATRIX, "--spark"], "fleet"),
        *(([*MATRIX, "-o", f"m{s}"], NEEDED_BY_ENDING.get(s, "")) for s in ENDINGS["matrix"]),
    ],
    "minimise": [(["minimise", "kafka-14139", "--kafka", "3.4"], "")],
    "class": [
        (["class", str(CLASS)], ""),
        *((["class", str(CLASS), "-o", f"c{s}"], "") for s in ENDINGS["class"]),
    ],
    "grade": [
        (["grade", str(CLASS)], ""),
        *((["grade", str(CLASS), "-o", f"g{s}"], "") for s in ENDINGS["grade"]),
    ],
    "solutions": [(["solutions", "code", "Ada", "04"], "")],
    "figures": [(["figures", "-o", "show", "04"], "lab")],
    "gallery": [(["gallery", "-o", "gallery"], "lab")],
    "handout": [(["handout", str(CLASS.with_name("class.toml")), "-o", "handed-out"], "")],
    "assignment": [
        (["assignment", grader, str(ROOT / "labs" / "04-kafka-14139.ipynb"), "-o", "course"], "")
        for grader in ("otter", "nbgrader")
    ],
    "fleet": [
        (["fleet", "run", "small", "-o", "kept"], "fleet"),
        (["fleet", "report", "kept"], "fleet"),
        (["fleet", "story", "small", "-o", "story.play"], "fleet"),
    ],
    "import": [
        (["import", INCIDENT], ""),
        *(
            (["import", INCIDENT, "-o", f"i{s}"], NEEDED_BY_ENDING.get(s, ""))
            for s in ENDINGS["import"]
        ),
    ],
    "real": [(["real", "kafka-14139", "--recorded"], "")],
    "site": [(["site", "-o", "site"], "site")],
}
"""Of every command, what is tried, and the extra that it needs. The doctor has a test below."""
JUDGED = [exercise.id for exercise in EXERCISES if exercise.check]
LOOKED_AT = """
kiplab.LackingError kiplab.MissingExtraError kiplab.PlayError kiplab.RealRun kiplab.Run
kiplab.fleet
kiplab.classroom.ALL_WHAT_IFS kiplab.classroom.Checked kiplab.classroom.EVENTS
kiplab.classroom.INCIDENT_DUMP kiplab.classroom.MESSAGES kiplab.classroom.VANISHING_RUN
kiplab.classroom.Ordering
kiplab.classroom.Prediction kiplab.classroom.acknowledged
kiplab.classroom.committed kiplab.classroom.epochs_moved kiplab.classroom.mystery
kiplab.classroom.predict kiplab.classroom.rulings_of
kiplab.fleet.FleetAnswer kiplab.fleet.FleetRow kiplab.fleet.FleetStudy kiplab.fleet.PARAMETERS
kiplab.fleet.ParameterError kiplab.fleet.Schedules kiplab.fleet.story
"""
"""Public names that need only be there."""
CALLED = """
kiplab.AnswerSheet kiplab.FleetLab kiplab.Ordering kiplab.all_plays kiplab.alternatives
kiplab.bounces kiplab.guards kiplab.heartbeat_fates kiplab.my_work kiplab.real_checkpoint
kiplab.request_sizes kiplab.two_incarnations
kiplab.classroom.answers_in_words kiplab.classroom.bills kiplab.classroom.loss_of
kiplab.classroom.one_check_off
kiplab.fleet.Parameters kiplab.fleet.Window kiplab.fleet.estimate kiplab.fleet.presets
"""
"""Public names that are called without a word."""
NAMES = {
    **dict.fromkeys(LOOKED_AT.split(), "{}"),
    **dict.fromkeys(CALLED.split(), "{}()"),
    "kiplab.Lab": "{}('kafka-14139')",
    "kiplab.check": f"[{{}}(id, None) for id in {JUDGED}]",
    "kiplab.class_work": f"{{}}({str(CLASS)!r})",
    "kiplab.differences": "{}(one, other)",
    "kiplab.explain": "{}('start/slow-request')",
    "kiplab.explore": "{}('kafka-14139', kafka='3.5')",
    "kiplab.grade": f"{{}}({str(CLASS)!r})",
    "kiplab.ladder": "{}(one, other)",
    "kiplab.matrix": "{}('kafka-14139', guards=('903',))",
    "kiplab.minimise": "{}(one)",
    "kiplab.predict": "{}('start/slow-request')",
    "kiplab.second_proposal": "{}('3.5', live=False)",
    "kiplab.real": "{}('kafka-14139', live=False)",
    "kiplab.real_control_requests": "{}('bounce')",
    "kiplab.read_metadata_log": f"{{}}({INCIDENT!r})",
    "kiplab.run": "{}('kafka-14139')",
    "kiplab.stations": "{}('00')",
    "kiplab.twin": "{}(one, other)",
    "kiplab.variant": "{}('start/reading')",
    "kiplab.write": "{}('start/two-rules')",
    "kiplab.classroom.after": "{}('start/reading', 'a text')",
    "kiplab.classroom.explain": "{}('start/slow-request')",
    "kiplab.classroom.points": "{}('epochs/fences', 'BLPL')",
    "kiplab.classroom.say": "{}('a text')",
    "kiplab.classroom.what_if": "{}('A')",
    "kiplab.fleet.answer_in": "{}('kept')",
    "kiplab.fleet.read_study": "{}('small')",
    "kiplab.fleet.run": "{}('small')",
    "kiplab.fleet.schedules": "{}(2, spark=False)",
    "kiplab.fleet.zookeeper_rates": "{}(kiplab.fleet.Parameters())",
}
"""Of every public name, what is done with it."""
OF_LAB = """
kiplab.FleetLab kiplab.Lab kiplab.AnswerSheet kiplab.Ordering kiplab.alternatives().table
kiplab.classroom.Ordering kiplab.classroom.Prediction kiplab.classroom.predict
kiplab.classroom.what_if kiplab.bounces kiplab.fleet.schedules().figure kiplab.ladder
kiplab.matrix().figure kiplab.matrix().to_html kiplab.matrix().view kiplab.my_work kiplab.predict
kiplab.real().timeline kiplab.request_sizes().figure kiplab.stations kiplab.run().logs
kiplab.run().timeline kiplab.run().to_html kiplab.twin kiplab.write
"""
OF_FLEET = """
kiplab.explore(engine='compiled') kiplab.fleet.answer_in kiplab.fleet.estimate().frame
kiplab.fleet.estimate().report kiplab.fleet.run
"""
NEEDS = dict.fromkeys(OF_LAB.split(), "lab") | dict.fromkeys(OF_FLEET.split(), "fleet")
"""What needs more than msgspec, and the extra that brings it; everything else works without."""
PROBE = """
import contextlib, importlib, inspect, io, json, sys
import kiplab, kiplab.classroom, kiplab.fleet
from kiplab.explore.levels.level_table import ExploreError

def parts(value):
    '''What a public object of kiplab has to offer without further words.'''
    if isinstance(value, type) or not type(value).__module__.startswith("kiplab"):
        return
    for name in (name for name in dir(value) if not name.startswith("_")):
        if isinstance(getattr(type(value), name, None), property):
            yield name, lambda name=name: getattr(value, name)
            continue
        part = getattr(value, name)
        if inspect.ismethod(part) and not any(
            p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in inspect.signature(part).parameters.values()
        ):
            yield name, part

found = {}

def tried(what, deed):
    try:
        value = deed()
    except kiplab.MissingExtraError as missing:
        found[what] = ["needs", missing.extra, str(missing)]
    except ExploreError as answer:  # as of a matrix without a counterexample there
        found[what] = ["answers", "", str(answer)]
    except Exception as problem:
        found[what] = ["breaks", "", f"{type(problem).__name__}: {problem}"]
    else:
        found[what] = ["works", "", ""]
        return value

one, other = (kiplab.run("kafka-14139", kafka=kafka) for kafka in ("3.4", "3.5"))
with contextlib.redirect_stdout(io.StringIO()):
    for name, example in json.load(sys.stdin).items():
        value = tried(name, lambda: eval(example.format(name), globals()))
        for part, deed in parts(value):
            tried(f"{name}().{part}", deed)
    compiled = lambda: kiplab.explore("kafka-14139", engine="compiled")
    tried("kiplab.explore(engine='compiled')", compiled)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python in an environment of its own: the unpacked wheel, msgspec, and nothing else."""
    place = tmp_path_factory.mktemp("light")
    packages = place / "packages"
    with zipfile.ZipFile(write_whole_kiplab(place, ROOT / "labs", dict)) as wheel:
        wheel.extractall(packages)
    installed = Path(msgspec.__file__).parent
    for package in (installed, *installed.parent.glob("msgspec-*.dist-info")):
        shutil.copytree(package, packages / package.name)
    venv.create(place / "venv", symlinks=True)
    (site,) = (place / "venv").rglob("site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    return place / "venv" / "bin" / "python"


def run_light(
    python: Path, folder: Path, arguments: Sequence[str], given: str = ""
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SPARK_REMOTE")}
    environment["KIPLAB_LABS"] = str(folder / "labs")
    return subprocess.run(
        [str(python), *arguments],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_is_nothing_else_in_that_environment(python: Path, tmp_path: Path) -> None:
    packages = sorted({package for packages in EXTRAS.values() for package in packages})
    code = f"from importlib.util import find_spec; print([p for p in {packages} if find_spec(p)])"
    assert run_light(python, tmp_path, ["-c", code]).stdout == "[]\n"


def test_every_command_is_tried() -> None:
    (commands,) = (
        action.choices
        for action in command._parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    missing = {*commands} - {*COMMANDS, "doctor"}
    assert not missing, f"add {sorted(missing)} to COMMANDS: what to try, and the extra it needs"


def test_every_public_name_is_tried() -> None:
    packages = (kiplab, classroom, fleet)
    names = {f"{package.__name__}.{name}" for package in packages for name in package.__all__}
    assert not names - {*NAMES}, f"add {sorted(names - {*NAMES})} to NAMES: what to do with them"
    assert not {*NAMES} - names, f"there is no {sorted({*NAMES} - names)} any more"


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [pytest.param(*case, id=" ".join(case[0])) for cases in COMMANDS.values() for case in cases],
)
def test_a_command_works_or_says_what_it_needs(
    python: Path, tmp_path: Path, arguments: list[str], extra: str
) -> None:
    done = run_light(python, tmp_path, ["-m", "kiplab.cli.command", *arguments])
    said = [line for line in done.stderr.splitlines() if not line.endswith(" cells")]
    if not extra:
        assert done.returncode in (0, 1), done.stderr  # 1: a search that refuted
        assert "Traceback" not in done.stderr
        return
    assert done.returncode == 3, done.stderr
    # Of many pictures, what each lacks is said once, and the rest is written.
    assert len(said) == 1 or "left out: " in said[0]
    assert all(line.startswith("kiplab") for line in said)
    assert f"pip install 'kiplab[{extra}]'" in done.stderr


def test_the_doctor_names_the_extras(python: Path, tmp_path: Path) -> None:
    done = run_light(python, tmp_path, ["-m", "kiplab.cli.command", "doctor"])
    assert (done.returncode, done.stderr) == (3, "")
    assert {extra for extra in EXTRAS if f"'kiplab[{extra}]'" in done.stdout} >= {"lab", "fleet"}


@pytest.fixture(scope="module")
def found(python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """By name, and by name and what its value offers: how it went, the extra, what was said."""
    folder = tmp_path_factory.mktemp("names")
    done = run_light(python, folder, ["-c", PROBE], json.dumps(NAMES))
    assert done.returncode == 0, done.stderr
    answers: dict[str, list[str]] = json.loads(done.stdout)
    return answers


def test_every_public_name_works_or_says_what_it_needs(found: dict[str, list[str]]) -> None:
    broken = {what: said for what, (how, _, said) in found.items() if how == "breaks"}
    assert not broken, "import what it needs in `with extras.needed_by(...)`"
    needs = {what: extra for what, (how, extra, _) in found.items() if how == "needs"}
    assert needs == NEEDS, "NEEDS says which public names need more than msgspec"


def test_what_it_needs_is_one_sentence_with_the_command(found: dict[str, list[str]]) -> None:
    for what, extra in NEEDS.items():
        said = found[what][2]
        assert said.endswith(f"which is not installed; pip install 'kiplab[{extra}]' mends it")
        assert "\n" not in said


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Run, "kiplab.run"), (GuardMatrix, "kiplab.matrix"), (ClassWork, "kiplab.class_work")],
)
def test_methods_and_properties_are_gone_through(
    found: dict[str, list[str]], kind: type, name: str
) -> None:
    wanted = {f"{name}().{part}" for part in vars(kind) if not part.startswith("_")}
    # Needs to be told where; the command does that, for every ending.
    assert wanted - {*found} <= {f"{name}().write"}
