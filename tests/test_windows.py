"""The path of a learner, as far as a Linux can be Windows, in a Python of its own.

That Python, ``python -m tests.test_windows``, gives kiplab's modules a standard library without the
names that typeshed keeps from Windows. An open file is neither replaced nor removed, lines end in
CR LF, output is cp1252, and a text file of kiplab without an encoding is an error.
"""

import ast
import builtins
import io
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from errno import EACCES
from functools import cache, wraps
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import mypy
import pytest

STUBS = Path(str(mypy.__file__)).parent / "typeshed" / "stdlib"
PACKAGE = Path(__file__).parents[1] / "kiplab"
HOME = r"C:\Users\Nová žákyně"
"""The name of the folder, all of it."""
LOCKED: list[Any] = []
"""What msvcrt was asked for."""


def names(body: Sequence[ast.stmt], platform: str, imports: bool = True) -> Iterator[str]:
    """What a stub defines for a platform."""
    about = {"sys": SimpleNamespace(platform=platform, version_info=sys.version_info)}
    for node in body:
        match node:
            case ast.If():
                holds = eval(ast.unparse(node.test), {**about, "TYPE_CHECKING": False})
                yield from names(node.body if holds else node.orelse, platform, imports)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case ast.ImportFrom() if imports:
                yield from (alias.asname or alias.name for alias in node.names)


@cache
def lacks(module: str) -> frozenset[str] | None:
    """The names of a module that Windows has not; None where Windows has nothing of it."""
    for place in (STUBS / f"{module}.pyi", STUBS / module / "__init__.pyi"):
        if place.is_file():
            body = ast.parse(place.read_text(encoding="utf-8")).body
            here, there = (set(names(body, platform)) for platform in ("linux", "win32"))
            public = [n for n in names(body, "win32", imports=False) if not n.startswith("_")]
            nothing = here - there and not public
            return None if nothing else frozenset(here - there)
    return frozenset()


# --- the other Python -----------------------------------------------------------------------------


class Library(ModuleType):
    """A module of the library, without what Windows lacks."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self.__dict__["_module"] = module

    def __getattr__(self, name: str) -> Any:
        if name in (lacks(self.__name__) or ()):
            raise AttributeError(f"module {self.__name__!r} has no {name!r} on Windows")
        return getattr(self._module, name)


def closed_first(act: Callable[..., Any]) -> Callable[..., Any]:
    """Refuses what is done to files that this process has open."""

    def refuse(*paths: Any, **options: Any) -> Any:
        wanted = {os.path.realpath(path) for path in paths if isinstance(path, str | os.PathLike)}
        if wanted & {os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")}:
            raise PermissionError(EACCES, "The process cannot access the file", str(paths[0]))
        return act(*paths, **options)

    return refuse


def become_windows() -> None:
    """From now on, and for what kiplab imports from now on."""
    real_import, real_open = builtins.__import__, io.open
    msvcrt = SimpleNamespace(LK_LOCK=1, locking=lambda *lock: LOCKED.append(lock))

    @wraps(real_import)
    def imported(
        name: str, globals: Any = None, locals: Any = None, *more: Any, **keys: Any
    ) -> Any:
        ours = str((globals or {}).get("__name__")).startswith("kiplab")
        if ours and name == "msvcrt":
            return msvcrt
        whole = real_import(name, globals, locals, *more, **keys)
        if not ours or whole.__name__.startswith("kiplab"):
            return whole
        if lacks(name) is None:
            raise ModuleNotFoundError(f"no module {name!r} on Windows", name=name)
        return Library(whole) if lacks(whole.__name__) else whole

    @wraps(real_open)
    def opened(file: Any, mode: str = "r", *others: Any, **options: Any) -> Any:
        if "b" not in mode and not others:
            options["encoding"] = io.text_encoding(options.get("encoding"))
            if "r" not in mode:
                options["newline"] = options.get("newline") or "\r\n"
        return real_open(file, mode, *others, **options)

    builtins.__import__ = imported
    builtins.open = io.open = opened
    for name in ("replace", "rename", "remove", "unlink"):
        setattr(os, name, closed_first(getattr(os, name)))
    warnings.filterwarnings("error", category=EncodingWarning, module=r"kiplab(\.|$)")


COMMANDS = ("lab --no-browser", "lab 04", "doctor", "plays", "guards", "play kafka-14139 --every")
PICTURES = tuple(f"timeline kafka-14139 -o race.{kind}" for kind in ("svg", "html", "csv", "txt"))
READS_LATE = "2 {1} 3 FENCED_LEADER_EPOCH 12 202"
"""A wrong answer to start/reading."""


def walk(home: Path) -> dict[str, Any]:
    """All that a learner does, and how it went."""
    from IPython.core.interactiveshell import InteractiveShell

    import kiplab
    from kiplab.classroom import work_on_disk
    from kiplab.classroom.exercise_table import EXERCISES, WRITTEN
    from kiplab.classroom.forms.held_back import EXPLANATIONS
    from kiplab.cli import labs_launcher
    from kiplab.cli.command import main
    from tests.classroom.answers import ANSWERS

    labs_launcher.__dict__["_run_jupyter"] = lambda _: 0
    codes = {line: main(line.split()) for line in (*COMMANDS, *PICTURES)}
    os.chdir(labs_launcher.labs_folder())
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "kiplab.classroom.jupyter_hooks")
    cells = json.loads(Path("00-start.ipynb").read_text(encoding="utf-8"))["cells"]
    with redirect_stdout(io.StringIO()):
        ran = [shell.run_cell("".join(c["source"])) for c in cells if c["cell_type"] == "code"]
        for asked in EXERCISES:
            kiplab.predict(asked.id) if asked.choices else None
            work_on_disk.lock(asked.id, asked.comes_true) if asked.choices else None
        answers = {e.id: ANSWERS[e.id].right for e in EXERCISES if e.check}
        wrong = [id for id, right in answers.items() if not kiplab.check(id, right).right]
        for text in EXPLANATIONS.rglob("*.md"):
            name, _, part = text.stem.partition(".")
            repr(kiplab.explain(f"{text.parent.name}/{name}", part))
        for id in WRITTEN:
            work_on_disk.write(id, "two sentences")
        repr([kiplab.my_work(), *(kiplab.stations(lab) for lab in {e.lab for e in EXERCISES})])
    with work_on_disk.work_file().open("rb"):
        shut = kiplab.check("start/reading", READS_LATE).kept
    return {
        "codes": {**codes, "class": main(["class", str(home)])},
        "broken": [str(done.error_in_exec) for done in ran if not done.success],
        "wrong": wrong,
        "kept": [*work_on_disk.decoded().exercises] == [*answers],
        "while open": shut,
        "locks": len(LOCKED),
        "made": [path.name for path in home.rglob("*")],
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How the path of a learner went."""
    folder = tmp_path_factory.mktemp("windows")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-X", "warn_default_encoding", "-m", "tests.test_windows"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("cp1252")
    return dict(json.loads((folder / "found.json").read_bytes()))


is_long = pytest.mark.long(quick="::test_nothing_is_imported_or_asked_for_that_windows_has_not")


@is_long
def test_a_learner_gets_through_every_command_and_every_exercise(found: dict[str, Any]) -> None:
    assert {*found["codes"].values()} == {0}
    assert (found["broken"], found["wrong"], found["kept"]) == ([], [], True)


@is_long
def test_others_wait_while_somebody_writes(found: dict[str, Any]) -> None:
    assert found["locks"] > 50


@is_long
def test_a_work_file_that_somebody_reads_is_left_whole_and_that_is_said(
    found: dict[str, Any],
) -> None:
    assert "kiplab-work.json: The process cannot access the file" in found["while open"]
    assert not [name for name in found["made"] if name.startswith("kiplab-work.json.")]


def test_every_file_has_a_name_that_windows_allows() -> None:
    folders = (PACKAGE, PACKAGE.parent / "labs")
    names = [path.relative_to(PACKAGE.parent) for folder in folders for path in folder.rglob("*")]
    assert not [path for path in names if re.search(r'[<>:"|?*\\]|[. ]$', path.name)]
    assert not [path for path in names if re.fullmatch("(con|prn|aux|nul)([.].*)?", path.name)]


def unguarded(node: ast.AST, known: set[str]) -> Iterator[str]:
    """What a piece of code asks Windows for, and would not get."""
    match node:
        case ast.Try(handlers=handlers) if "ImportError" in "".join(map(ast.unparse, handlers)):
            return
        case ast.If(test=test) if "hasattr(os" in ast.unparse(test):
            return
        case ast.Import() | ast.ImportFrom(level=0):
            base = node.module if isinstance(node, ast.ImportFrom) else None
            modules = [base] if base else [alias.name for alias in node.names]
            yield from (name for name in modules if lacks(str(name)) is None)
            if base:
                yield from (a.name for a in node.names if a.name in (lacks(base) or ()))
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in known:
            if name in (lacks(module) or ()):
                yield f"{module}.{name}"
    for child in ast.iter_child_nodes(node):
        yield from unguarded(child, known)


def test_nothing_is_imported_or_asked_for_that_windows_has_not() -> None:
    known = {"os", "signal", "socket", "subprocess", "sys", "time"}
    asked = {
        path.relative_to(PACKAGE).as_posix(): [*unguarded(ast.parse(path.read_bytes()), known)]
        for path in PACKAGE.rglob("*.py")
    }
    # What these do, only Linux is asked for: `can_be_held` says so.
    linux = {"classroom/grading/limited_process.py": ["resource", "os.O_PATH"]}
    assert {path: names for path, names in asked.items() if names} == linux


def test_the_list_of_what_windows_lacks_is_the_known_one() -> None:
    assert {"fork", "geteuid", "killpg", "uname", "sched_getaffinity"} <= (lacks("os") or set())
    assert {"SIGKILL", "SIGALRM"} <= (lacks("signal") or set())
    assert all(lacks(name) is None for name in ("fcntl", "resource", "pwd", "termios", "syslog"))
    assert lacks("json") == frozenset()


if __name__ == "__main__":
    there = Path.cwd() / HOME
    there.mkdir()
    os.chdir(there)
    become_windows()
    there.with_name("found.json").write_text(json.dumps(walk(there)), encoding="ascii")
