"""`kiplab lab`: JupyterLab on a writable copy of the labs.

Students work on copies, so that a wheel stays as it was installed and a checkout stays clean.
A copy that its student hasn't changed follows the shipped lab; a changed one is never touched.
"""

import hashlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import msgspec

FOLDER_VARIABLE = "KIPLAB_LABS"
_PACKAGE = Path(__file__).resolve().parents[1]

# What kiplab keeps in the student's folder: the manifest, and settings apart from Jupyter's own.
_PRIVATE = ".kiplab"
_MANIFEST = "manifest.json"

_LAB_SETTINGS = {
    # No news and no update banners: they would be the only thing to ask the network.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Other modes drop or jump over tall interactive figures that are scrolled out of view.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
}
# Notebooks are saved with still pictures in place of figures and of JupyterLab's PNGs of them.
_SERVER_SETTINGS = {"ServerApp": {"jpserver_extensions": {"kiplab.pages.saved_notebooks": True}}}


class LabsError(Exception):
    """The labs can't be opened on this machine; the message says why and how to mend it."""


class Copied(msgspec.Struct, frozen=True):
    """What one copying did, as sorted file names. `kept`: changed by the student, shipped newer."""

    new: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def open_labs(name: str | None, *, browser: bool, port: int | None, folder: Path | None) -> int:
    """Copy the labs into `folder` (see `labs_folder`) and run JupyterLab there until it is stopped.

    `name` is a lab by number, subject or file name; None opens the first. Returns the exit code:
    0 stopped by the user, 2 no such lab, 3 this machine can't open the labs.
    """
    try:
        return _open(name, browser, port, labs_folder(folder))
    except LabsError as problem:
        print(f"kiplab lab: {problem}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 0


def labs_folder(folder: Path | None) -> Path:
    """The student's folder: the given one, else $KIPLAB_LABS, else ./kiplab-labs. Absolute."""
    chosen = folder or Path(os.environ.get(FOLDER_VARIABLE) or "kiplab-labs")
    return chosen.expanduser().absolute()


def shipped_labs() -> Path:
    """Where the labs come from: inside an installed wheel, or labs/ of a checkout.

    Raises LabsError when they are in neither.
    """
    for place in (_PACKAGE / "_labs", _PACKAGE.parent / "labs"):
        if any(place.glob("*.ipynb")):
            return place
    raise LabsError(
        f"no labs in {_PACKAGE / '_labs'} nor in {_PACKAGE.parent / 'labs'}; install kiplab again"
    )


def find_lab(name: str, labs: list[str]) -> str | None:
    """The lab that `name` means: "04", "4", "kafka-14139", "04-kafka-14139" or the file's name."""
    wanted = name.removesuffix(".ipynb")
    for lab in labs:
        stem = lab.removesuffix(".ipynb")
        number, _, subject = stem.partition("-")
        if wanted in (stem, subject, number) or wanted.zfill(len(number)) == number:
            return lab
    return None


def copy_labs(shipped: Path, folder: Path) -> Copied:
    """Bring `folder` up to date with `shipped` without losing anything a student wrote.

    A missing notebook is copied; so removing or renaming one is how to start it afresh. One that is
    as kiplab last wrote it is replaced when the shipped one differs. Any other is left as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = _read_manifest(folder)
    new: list[str] = []
    updated: list[str] = []
    kept: list[str] = []
    for source in sorted(shipped.glob("*.ipynb")):
        name, target, digest = source.name, folder / source.name, _digest(source)
        theirs = _digest(target) if target.exists() else None
        if theirs not in (None, digest, written.get(name)):
            if digest != written.get(name):
                kept.append(name)
            continue
        if theirs != digest:
            (new if theirs is None else updated).append(name)
            shutil.copyfile(source, target)
        written[name] = digest
    _write(folder / _PRIVATE / _MANIFEST, written)
    return Copied(tuple(new), tuple(updated), tuple(kept))


def jupyter_arguments(folder: Path, lab: str, *, browser: bool, port: int | None) -> list[str]:
    """JupyterLab's arguments: this machine only, rooted in `folder`, with `lab` open."""
    arguments = [
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.open_browser={browser}",
        f"--LabApp.default_url=/lab/tree/{lab}",
        "--LabApp.extension_manager=readonly",
        # Its address and its troubles, without fifty lines of what it loaded.
        "--Application.log_level=WARN",
        # Ctrl-C means stop, and is not followed by a question.
        "--ServerApp.answer_yes=True",
    ]
    if port is not None:
        # Asked for by number, it is this port or none.
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container one usually is root
        arguments.append("--ServerApp.allow_root=True")
    return arguments


def jupyter_environment(folder: Path) -> dict[str, str]:
    """What to add to the environment. Writes kiplab's settings beside the labs, in front of the
    user's own, which stay as they are; the layout of open tabs is kept there too."""
    private = folder / _PRIVATE
    config = private / "jupyter"
    write_settings(config)
    paths = (str(config), os.environ.get("JUPYTER_CONFIG_PATH"))
    return {
        "JUPYTER_CONFIG_PATH": os.pathsep.join(path for path in paths if path),
        "JUPYTERLAB_WORKSPACES_DIR": str(private / "workspaces"),
    }


def write_settings(config: Path) -> None:
    """What JupyterLab and its server are to do differently, in one of their folders of settings."""
    _write(config / "labconfig" / "default_setting_overrides.json", _LAB_SETTINGS)
    _write(config / "jupyter_server_config.d" / "kiplab.json", _SERVER_SETTINGS)


def _open(name: str | None, browser: bool, port: int | None, folder: Path) -> int:
    shipped = shipped_labs()
    labs = sorted(path.name for path in shipped.glob("*.ipynb"))
    lab = labs[0] if name is None else find_lab(name, labs)
    if lab is None:
        print(_unknown(str(name), labs), file=sys.stderr)
        return 2
    if importlib.util.find_spec("jupyterlab") is None:
        raise LabsError(
            "JupyterLab is not installed for this Python; "
            f"to mend it: {sys.executable} -m pip install 'kiplab[lab]', or make setup"
        )
    try:
        copied = copy_labs(shipped, folder)
        environment = jupyter_environment(folder)
    except OSError as problem:
        raise LabsError(
            f"the labs can't be copied to {folder} ({problem.strerror}); "
            f"name a folder that can be written: export {FOLDER_VARIABLE}=~/kiplab-labs"
        ) from problem
    print(_report(copied, folder), file=sys.stderr)
    os.environ.update(environment)
    return _run_jupyter(jupyter_arguments(folder, lab, browser=browser, port=port))


def _run_jupyter(arguments: list[str]) -> int:
    # In this process rather than a child: whoever stops `kiplab lab` stops the server itself.
    from jupyterlab.labapp import LabApp

    try:
        LabApp.launch_instance(argv=arguments)
    except SystemExit as stop:
        if stop.code:
            raise LabsError("JupyterLab did not start; its own lines above say why") from stop
    return 0


def _unknown(name: str, labs: list[str]) -> str:
    names = "\n".join(f"  {lab.removesuffix('.ipynb')}" for lab in labs)
    return f"kiplab lab: there is no lab {name!r}; expected the number or name of one of\n{names}"


def _report(copied: Copied, folder: Path) -> str:
    lines = [f"The labs are in {folder}"]
    if copied.new:
        lines.append(f"  new: {', '.join(copied.new)}")
    if copied.updated:
        lines.append(f"  brought up to date: {', '.join(copied.updated)}")
    for name in copied.kept:
        lines.append(f"  {name} has a newer version; yours is kept. Rename yours to get the newer.")
    return "\n".join(lines)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_manifest(folder: Path) -> dict[str, str]:
    path = folder / _PRIVATE / _MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (FileNotFoundError, msgspec.DecodeError):
        # Without it every notebook that differs counts as the student's: nothing can be lost.
        return {}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value)) + b"\n")
