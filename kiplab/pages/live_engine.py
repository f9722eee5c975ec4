"""The engine beside a page that can be changed: Python for a browser, msgspec, and kiplab's model.

Every file is packed with gzip, so that it weighs the same whether or not a server packs; the page
unpacks them. Equal input makes equal bytes.
"""

import gzip
import io
import json
import re
import zipfile
from pathlib import Path

from ..site.registries import LOCK, pinned_core, pinned_wheels
from .page_files import page_file

_PACKAGE = Path(__file__).parents[1]
_NEEDED = re.compile(
    r"((machine|protocol|engine|plays|rows|figures|pages)/.*|\w+)\.(py|txt|toml|html)$"
)
"""What `live` needs of kiplab: modules, and the tables that they read."""
_UNUSED = re.compile(
    r"(multiprocessing|xml|xmlrpc|_pyrepl|unittest|http|email|ctypes|urllib)/"
    r"|(pdb|doctest|tarfile|pydoc|_pyio)\.py|encodings/(?!__init__|aliases|cp437|latin_1|utf_8)"
)
"""What neither kiplab nor Pyodide imports of Python's library."""


def write_engine(folder: Path) -> int:
    """Write the engine to `folder`, and return its size in bytes.

    Raises MissingPieceError for a piece that the registries do not give, OSError where nothing can
    be written.
    """
    files = {f"{name}.packed": gzip.compress(data, mtime=0) for name, data in _pieces().items()}
    files["engine.js"] = page_file("live_worker.js").encode()
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return sum(map(len, files.values()))


def _pieces() -> dict[str, bytes]:
    core, msgspec = pinned_core(), pinned_wheels()["msgspec"].read_bytes()
    lock = {"info": json.loads(core[LOCK])["info"], "packages": {}}
    library = _unzipped(core["python_stdlib.zip"])
    files = ((file.relative_to(_PACKAGE).as_posix(), file) for file in _PACKAGE.rglob("*.*"))
    model = {f"kiplab/{name}": file.read_bytes() for name, file in files if _NEEDED.match(name)}
    return {
        **core,
        LOCK: json.dumps(lock).encode(),
        "python_stdlib.zip": _zipped({n: d for n, d in library.items() if not _UNUSED.match(n)}),
        "kiplab.zip": _zipped(_unzipped(msgspec) | model),
    }


def _unzipped(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist() if not name.endswith("/")}


def _zipped(files: dict[str, bytes]) -> bytes:
    """Not compressed: the file that it becomes is."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name in sorted(files):
            opened.writestr(zipfile.ZipInfo(name), files[name])
    return archive.getvalue()
