"""Python for a page, in one folder: Pyodide's core, slim wheels, and the list that names them.

The list is of what lies in the folder and of nothing else, so no other file is ever asked for. What
runs when a first Lab opens is compiled beforehand, by the same Python; all else stays source, which
is half as large. Equal input gives equal bytes.
"""

import base64
import hashlib
import io
import json
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

from ..machine.cache import PACKAGE, package_files, zipped
from .registries import LOCK, MissingPieceError, ask, pinned_core, pinned_wheels, tool

# Read from the source: an import of the whole package goes upwards, and not everybody installs it.
_SOURCE = (PACKAGE / "__init__.py").read_text("utf-8")
(_VERSION,) = re.findall(r'^__version__ = "(.+)"', _SOURCE, re.MULTILINE)
FIRST_LAB = Path(__file__).with_name("first_lab.mjs")
"""A script for node: a play, a search and a Lab in such a folder."""
_SMALLEST = 9
"""How much is done to make an archive small."""

KERNEL = "jupyterlite-pyodide-kernel"
"""Its wheel carries those of a kernel, KERNEL_WHEELS."""
KERNEL_WHEELS = ("ipykernel", "piplite", "pyodide_kernel")
FOR_THE_PAGE = (KERNEL, "jupyterlab-widgets")
"""Wheels with parts of JupyterLab in them, and no Python that a kernel imports."""
_LISTED = tomllib.loads(Path(__file__).with_name("left_out.toml").read_text("utf-8"))
LEFT_OUT = {package: "|".join(paths) for package, paths in _LISTED.items()}
"""By package, what only a server, a test, a terminal or another library reads."""
_NEVER = re.compile(r".*(\.pyi|\.data/(?!data/etc/ipython/).*|/RECORD|/tests/.*|\.map)$")
WHEEL_NAME = f"kiplab-{_VERSION}-py3-none-any.whl"
_WHEEL = "Wheel-Version: 1.0\nGenerator: kiplab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_LABS = "kiplab/_labs/"
_NOTED = re.compile(r"kiplab-[^/]+[.]dist-info/(METADATA|entry_points[.]txt|licenses/.+)")
"""What a wheel brings along of all that pip keeps about it."""
Changed = Callable[[dict[str, bytes]], dict[str, bytes]]
"""What becomes of the files of a wheel, by their paths in it."""
_HOOKS = {"InteractiveShellApp": {"extensions": ["kiplab.classroom.jupyter_hooks"]}}


def lay_out(folder: Path, packages: Iterable[str], changed: Changed = dict) -> None:
    """Put Python, these packages of wheels.txt and kiplab there. Raises MissingPieceError."""
    for name, content in pinned_core().items():
        if name.endswith(".zip"):
            _write_slim(folder / name, Path(name).stem, content)
        else:
            (folder / name).write_bytes(content)
    pinned = pinned_wheels()
    for name in packages:
        for file, content in _parts(name, pinned[name]):
            _write_slim(folder / file, name, content)
    write_kiplab(folder, changed)
    write_lock(folder)


def _parts(name: str, wheel: Path) -> Iterator[tuple[str, bytes]]:
    """The wheel itself, or those that it carries for a kernel."""
    if name != KERNEL:
        yield wheel.name, wheel.read_bytes()
        return
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            file = entry.rpartition("/")[2]
            if "/static/pypi/" in entry and file.startswith(KERNEL_WHEELS):
                yield file, archive.read(entry)


def _write_slim(target: Path, name: str, content: bytes) -> None:
    archive = zipfile.ZipFile(io.BytesIO(content))
    names = (info.filename for info in archive.infolist() if not info.is_dir())
    files = {entry: archive.read(entry) for entry in names if _is_kept(entry, name)}
    target.write_bytes(zipped(files, _SMALLEST))


def _is_kept(entry: str, package: str) -> bool:
    left_out = LEFT_OUT.get(package)
    return not _NEVER.match(entry) and not (left_out and re.match(left_out, entry))


def write_kiplab(folder: Path, changed: Changed = dict) -> None:
    """kiplab's own wheel, of the package as it runs here. A kernel that has it loads its hooks."""
    info = f"kiplab-{_VERSION}.dist-info"
    files = {
        f"kiplab-{_VERSION}.data/data/etc/ipython/ipython_config.json": json.dumps(_HOOKS),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: kiplab\nVersion: {_VERSION}\n",
        f"{info}/WHEEL": _WHEEL,
        f"{info}/RECORD": "",
    }
    package = {entry: data for entry, data in package_files().items() if _is_kept(entry, "kiplab")}
    content = changed(package) | {name: text.encode() for name, text in files.items()}
    (folder / WHEEL_NAME).write_bytes(zipped(content, _SMALLEST))


def write_whole_kiplab(folder: Path, labs: Path, changed: Changed) -> Path:
    """kiplab's wheel as pip installs it: the package as it runs here, these labs, its own metadata.

    It is made from a checkout or from an installed kiplab, by what pip has noted about either.
    `changed` gets the files by their paths. Raises MissingPieceError where pip knows of none.
    """
    info = f"kiplab-{_VERSION}.dist-info/"
    noted = {
        known[1]: path.read_binary()
        for installed in metadata.distributions(name="kiplab")
        for path in installed.files or ()
        if (known := _NOTED.fullmatch(path.as_posix()))
    }
    if "METADATA" not in noted:
        raise MissingPieceError("pip has not installed this kiplab.", "make setup mends it.")
    # What an editable install has noted is of the day when it was installed.
    number = f"\nVersion: {_VERSION}\n".encode()
    noted |= {"METADATA": re.sub(rb"\nVersion: .*\n", number, noted["METADATA"], count=1)}
    files = changed(
        {entry: data for entry, data in package_files().items() if not entry.startswith(_LABS)}
        | {f"{_LABS}{path.name}": path.read_bytes() for path in labs.iterdir() if path.is_file()}
        | {f"{info}{name}": data for name, data in noted.items()}
        | {f"{info}WHEEL": _WHEEL.encode()}
    )
    lines = [f"{path},sha256={_base64(data)},{len(data)}\n" for path, data in files.items()]
    record = "".join([*lines, f"{info}RECORD,,\n"]).encode()
    (wheel := folder / WHEEL_NAME).write_bytes(zipped(files | {f"{info}RECORD": record}, _SMALLEST))
    return wheel


def _base64(data: bytes) -> str:
    """The hash of a file as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def write_lock(folder: Path) -> list[str]:
    """Pyodide's list of the wheels in the folder, and their packages' names in order."""
    packages = {}
    for wheel in sorted(folder.glob("*.whl")):
        name, number, *_ = wheel.name.split("-")
        name = re.sub(r"[-_.]+", "-", name).lower()
        packages[name] = {
            "name": name,
            "version": number,
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": [],
            "depends": [],
            "unvendored_tests": False,
        }
    lock = json.loads((folder / LOCK).read_bytes())
    text = json.dumps({"info": lock["info"], "packages": packages}, separators=(",", ":"))
    (folder / LOCK).write_text(text, encoding="utf-8")
    return list(packages)


def compile_first_lab(folder: Path) -> str:
    """Run a first Lab by the Python in the folder, and put bytecode in place of the source of what
    that imported. Returns what the run said. Raises MissingPieceError.
    """
    said = ask(tool("node"), str(FIRST_LAB), str(folder), "--compile")
    write_lock(folder)
    return said
