"""JupyterLite around that Python: one folder that any web server serves, in any place.

JupyterLite's own command unpacks its application and lists the labs. The parts of JupyterLab that
kernels and widgets bring are taken from pinned wheels, whatever is installed here.
"""

import base64
import hashlib
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from ..extras import install
from .page_wheels import FOR_THE_PAGE, KERNEL, Changed, compile_first_lab, lay_out, write_lock
from .registries import MissingPieceError, ask, pinned_wheels

_HERE = Path(__file__).parent
_APP_SHA256 = "5562fc46f13702df7dec1b784114598d234fc0805e83b405d30b3cec30a7d5ad"
"""Of the archive with JupyterLite's application, which its package of version 0.8.6 carries."""
_DATE = "1767225600"
"""Seconds: the date that every lab shows, so that equal labs make equal folders."""
_EXTENSION = re.compile(r".*\.data/data/share/jupyter/labextensions/(.*(?<!\.map))$")
_EXTENSIONS_IN = "--FederatedExtensionAddon.extra_labextensions_path"
_WITH_EXTENSIONS = (KERNEL, "jupyterlab-widgets", "anywidget", "plotly")
_PYTHON = "python"
"""The folder of what the kernel loads."""
_CONTENTS = ("*.ipynb", "*.md", "class.toml")
_OWN_FILES = {"loading.js": "", "start.mjs": _PYTHON}
_ICON = base64.b64decode("R0lGODlhAQABAIABAABajP///ywAAAAAAQABAAACAkQBADs=")
"""One blue pixel: JupyterLite's own weighs 300 kB, and is loaded twice."""


def build_site(
    out: Path,
    labs: Path,
    settings: Mapping[str, Any],
    say: Callable[[str], None],
    changed: Changed = dict,
) -> list[Path]:
    """Make `out` such a folder of the notebooks and pages in `labs`, and return its files.

    `settings` are JupyterLab's, by plugin; `say` is told each step. kiplab's own files in it are
    what `changed` makes of them. A folder that was one is replaced. Raises MissingPieceError,
    FileExistsError for a folder of something else, OSError.
    """
    if out.exists() and not (out / "jupyter-lite.json").is_file() and any(out.iterdir()):
        raise FileExistsError(0, "it is not empty, and is no folder that this command made")
    archive, out = _application(), out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        lite, site = Path(scratch, "lite"), Path(scratch, "site")
        say("Fetching what is not in the cache yet")
        _write_extensions(lite / "labextensions")
        contents = _copy_labs(labs, lite / "labs")
        python = Path(scratch, _PYTHON)
        python.mkdir()
        packages = [name for name in pinned_wheels() if name not in FOR_THE_PAGE[1:]]
        lay_out(python, packages, changed)
        say("Opening a first lab, to compile what it imports")
        compile_first_lab(python)
        say("Writing JupyterLite")
        _write_settings(lite, settings, write_lock(python))
        _run_jupyterlite(archive, lite, contents, site)
        shutil.move(python, site / _PYTHON)
        _finish(site, sorted(contents.glob("*.ipynb")))
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(site, out)
    return sorted(path for path in out.rglob("*") if path.is_file())


def _application() -> Path:
    """JupyterLite's archive, as it was published."""
    spec = importlib.util.find_spec("jupyterlite_core")
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent
    for archive in folder.glob("jupyterlite-app-*.tgz") if folder else ():
        if hashlib.sha256(archive.read_bytes()).hexdigest() == _APP_SHA256:
            return archive
    raise MissingPieceError(
        "JupyterLite is not installed here, or another version than the pinned 0.8.6.",
        f"{install('site')} and the versions of constraints.txt mend it.",
    )


def _write_extensions(folder: Path) -> None:
    """What pinned wheels bring for JupyterLab's page."""
    for wheel in map(pinned_wheels().__getitem__, _WITH_EXTENSIONS):
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                if (found := _EXTENSION.match(entry)) and not entry.endswith("/"):
                    target = folder / found[1]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(entry))


def _copy_labs(labs: Path, target: Path) -> Path:
    """Notebooks, the pages that they link to, a class; instructors have a folder of their own."""
    target.mkdir(parents=True)
    for path in (path for kind in _CONTENTS for path in labs.glob(kind)):
        shutil.copyfile(path, target / path.name)
    return target


def _write_settings(lite: Path, settings: Mapping[str, Any], packages: list[str]) -> None:
    kernel = {
        "pyodideUrl": f"./{_PYTHON}/start.mjs",
        # What is not in the folder is not there: nothing outside is asked.
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": packages},
    }
    page = {
        "appName": "kiplab",
        "exposeAppInBrowser": True,
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel},
    }
    lite_json = {"jupyter-lite-schema-version": 0, "jupyter-config-data": page}
    (lite / "jupyter-lite.json").write_text(json.dumps(lite_json), encoding="utf-8")
    (lite / "overrides.json").write_text(json.dumps(settings), encoding="utf-8")


def _run_jupyterlite(archive: Path, lite: Path, labs: Path, site: Path) -> None:
    options = {"lite-dir": lite, "contents": labs, "output-dir": site, "app-archive": archive}
    ask(
        *(sys.executable, "-m", "jupyterlite_core", "build", "--apps", "lab"),
        *("--source-date-epoch", _DATE, "--no-sourcemaps", "--no-unused-shared-packages"),
        # Where that kernel is installed as well, it would write what its wheel has already.
        *("--disable-addons", f"{KERNEL}-piplite"),
        *("--ignore-sys-prefix", f"{_EXTENSIONS_IN}={lite / 'labextensions'}"),
        *(word for name, path in options.items() for word in (f"--{name}", str(path))),
        cwd=lite,
    )


def _finish(site: Path, labs: list[Path]) -> None:
    """Our own files, a small icon, the line of progress in JupyterLab's page, the first page."""
    for name, folder in _OWN_FILES.items():
        shutil.copyfile(_HERE / name, site / folder / name)
    for icon in (site / "favicon.ico", site / "lab/favicon.ico"):
        icon.write_bytes(_ICON)
    for page in (site / "lab").rglob("index.html"):
        root = os.path.relpath(site, page.parent)
        head = f'<head><script src="{root}/loading.js"></script>'
        head += f'<link rel="icon" href="{root}/favicon.ico">'
        text = page.read_text("utf-8")
        text = text.replace("<title>JupyterLite</title>", "<title>kiplab</title>")
        page.write_text(text.replace("<head>", head, 1), encoding="utf-8")
    first = Template((_HERE / "index.html").read_text(encoding="utf-8"))
    text = first.substitute(labs="\n".join(map(_link, labs)))
    (site / "index.html").write_text(text, encoding="utf-8")


def _link(lab: Path) -> str:
    first = json.loads(lab.read_text(encoding="utf-8"))["cells"][0]["source"]
    title = "".join(first).splitlines()[0].lstrip("# ")
    return f'      <li><a href="lab/index.html?path={lab.name}">{escape(title)}</a></li>'
