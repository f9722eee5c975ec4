"""`kiplab lab`: JupyterLab on a writable copy of the labs.

Students work on copies, so that a wheel stays as it was installed and a checkout stays clean.
A copy that its student hasn't changed follows the shipped lab; a changed one is never touched.
"""

import hashlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Container
from pathlib import Path
from typing import Any

import msgspec

from ..machine.cache import PACKAGE
from .jupyter_settings import IDLE_MIN, PRIVATE, jupyter_arguments, jupyter_environment, write_json

FOLDER_VARIABLE, CLASS_VARIABLE = "KIPLAB_LABS", "KIPLAB_CLASS"
_MANIFEST = "manifest.json"


class LabsError(Exception):
    """The labs can't be opened on this machine; the message says why and how to mend it."""


class Copied(msgspec.Struct, frozen=True):
    """One copying, as sorted file names. `kept`: changed by the student, shipped newer."""

    new: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def open_labs(name: str | None, *, browser: bool, port: int | None) -> int:
    """Copy the labs into `labs_folder()` and run JupyterLab there until it is stopped.

    `name` is a lab by number, subject or file name; None opens the first. Returns the exit code:
    0 stopped by the user, 2 no such lab or a wrong class.toml, 3 this machine can't open the labs.
    """
    try:
        return _open(name, browser, port, labs_folder())
    except LabsError as problem:
        print(f"kiplab lab: {problem}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 0


def labs_folder() -> Path:
    """The student's folder: $KIPLAB_LABS, else ./kiplab-labs. Absolute."""
    return Path(os.environ.get(FOLDER_VARIABLE) or "kiplab-labs").expanduser().absolute()


def shipped_labs() -> Path:
    """The source of the labs: inside an installed wheel, or labs/ of a checkout.

    Raises LabsError when they are in neither.
    """
    places = (PACKAGE / "_labs", PACKAGE.parent / "labs")
    for folder in places:
        if any(folder.glob("*.ipynb")):
            return folder
    raise LabsError(f"no labs in {places[0]} nor in {places[1]}; install kiplab again")


def find_lab(name: str, labs: list[str]) -> str | None:
    """The lab that `name` means: "04", "4", "kafka-14139", "04-kafka-14139" or the file's name."""
    wanted = name.removesuffix(".ipynb")
    for lab in labs:
        stem = lab.removesuffix(".ipynb")
        number, _, subject = stem.partition("-")
        if wanted in (stem, subject, number) or wanted.zfill(len(number)) == number:
            return lab
    return None


def class_of(folder: Path) -> tuple[Any, str]:
    """The class whose file is here or in `folder`, for kernels too, and what is wrong with that."""
    file = Path(os.environ.get(CLASS_VARIABLE) or "class.toml")
    if file.suffix == ".toml" and file.is_file():
        os.environ[CLASS_VARIABLE] = str(file.absolute())
    # It reads all exercises: not for the commands that need none.
    from ..classroom import class_file

    return class_file.looked_up(folder)


def copy_labs(shipped: Path, folder: Path, leave_out: Container[str] = ()) -> Copied:
    """Bring `folder` up to date with `shipped` without losing anything a student wrote.

    A missing notebook or page is copied; so removing or renaming one is how to start it afresh. One
    that is as kiplab last wrote it is replaced when the shipped one differs. Any other is left as
    it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = _read_manifest(folder)
    new, updated, kept = list[str](), list[str](), list[str]()
    for source in sorted([*shipped.glob("*.ipynb"), *shipped.glob("*.md")]):
        name, target, digest = source.name, folder / source.name, _digest(source)
        if name in leave_out:
            continue
        theirs = _digest(target) if target.exists() else None
        if theirs not in (None, digest, written.get(name)):
            if digest != written.get(name):
                kept.append(name)
            continue
        if theirs != digest:
            (new if theirs is None else updated).append(name)
            shutil.copyfile(source, target)
        written[name] = digest
    write_json(folder / PRIVATE / _MANIFEST, written)
    return Copied(tuple(new), tuple(updated), tuple(kept))


def _open(name: str | None, browser: bool, port: int | None, folder: Path) -> int:
    shipped = shipped_labs()
    taken, wrong = class_of(folder)
    if wrong and taken is None and "://" not in os.environ.get(CLASS_VARIABLE, ""):
        print(f"kiplab lab: {wrong}", file=sys.stderr)
        return 2
    every = sorted(path.name for path in shipped.glob("*.ipynb"))
    labs = [lab for lab in every if taken is None or taken.has(lab.partition("-")[0])]
    lab = labs[0] if name is None else find_lab(name, labs)
    if lab is None:
        names = "\n".join(f"  {lab.removesuffix('.ipynb')}" for lab in labs)
        problem = f"there is no lab {name!r}; expected the number or name of one of\n{names}"
        print(f"kiplab lab: {problem}", file=sys.stderr)
        return 2
    if importlib.util.find_spec("jupyterlab") is None:
        raise LabsError(
            "JupyterLab is not installed for this Python; "
            f"to mend it: {sys.executable} -m pip install 'kiplab[lab]', or make setup"
        )
    try:
        copied = copy_labs(shipped, folder, {*every} - {*labs})
        environment = jupyter_environment(folder)
    except OSError as problem:
        raise LabsError(
            f"the labs can't be copied to {folder} ({problem.strerror}); "
            f"name a folder that can be written: export {FOLDER_VARIABLE}=~/kiplab-labs"
        ) from problem
    of_class = f"Class: {taken.words()}" if taken else ""
    print(*filter(None, [of_class, wrong, _report(copied, folder)]), sep="\n", file=sys.stderr)
    os.environ.update(environment)
    return _run_jupyter(jupyter_arguments(folder, lab, browser=browser, port=port))


def _run_jupyter(arguments: list[str]) -> int:
    # In this process rather than a child: stopping `kiplab lab` stops the server itself.
    from jupyterlab.labapp import LabApp

    try:
        LabApp.launch_instance(argv=arguments)
    except SystemExit as stop:
        if stop.code:
            raise LabsError("JupyterLab did not start; its own lines above say why") from stop
    return 0


def _report(copied: Copied, folder: Path) -> str:
    lines = [f"The labs are in {folder}"]
    if copied.new:
        lines.append(f"  new: {', '.join(copied.new)}")
    if copied.updated:
        lines.append(f"  brought up to date: {', '.join(copied.updated)}")
    for name in copied.kept:
        lines.append(f"  {name} has a newer version; yours is kept. Rename yours to get the newer.")
    lines.append(
        f"The kernel of a lab that you have closed ends after {IDLE_MIN} minutes; what you have"
        " locked in is kept. Run its cells from the top then."
    )
    return "\n".join(lines)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_manifest(folder: Path) -> dict[str, str]:
    path = folder / PRIVATE / _MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (FileNotFoundError, msgspec.DecodeError):
        # Without it every notebook that differs counts as the student's: nothing can be lost.
        return {}
