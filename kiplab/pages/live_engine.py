"""The engine beside a page that can be changed: Python for a browser, msgspec, and kiplab's model.

Every file is packed with gzip, so that it weighs the same whether or not a server packs; the page
unpacks them. Equal input makes equal bytes.
"""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ..site.registries import LOCK, pinned_core, pinned_wheels
from .page_files import page_file

_PACKAGE = Path(__file__).parents[1]
_ROOMS = ("machine", "protocol", "engine", "plays", "rows", "figures", "pages")
"""What `live` needs of kiplab, beside the modules that are in no room."""
_UNUSED = re.compile(
    r"(multiprocessing|xml|xmlrpc|_pyrepl|unittest|http|email|ctypes|wsgiref|urllib|sysconfig)/"
    r"|(pdb|doctest|tarfile|pydoc|_pyio|pickletools|imaplib|mailbox|smtplib|optparse)\.py$"
    r"|encodings/(?!__init__|aliases|ascii|cp437|latin_1|utf_8)"
)
"""What neither kiplab nor Pyodide imports of Python's library."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write_engine(folder: Path) -> int:
    """Write the engine to `folder`, and return its size in bytes.

    Raises MissingPieceError for a piece that the registries do not give, OSError where nothing can
    be written.
    """
    folder.mkdir(exist_ok=True)
    files = {f"{name}.packed": gzip.compress(data, mtime=0) for name, data in _pieces().items()}
    files["engine.js"] = page_file("live_worker.js").encode()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return sum(map(len, files.values()))


def _pieces() -> dict[str, bytes]:
    core = pinned_core()
    library = {
        name: data
        for name, data in _unzipped(core["python_stdlib.zip"]).items()
        if not _UNUSED.match(name)
    }
    lock = {"info": json.loads(core[LOCK])["info"], "packages": {}}
    return {
        **core,
        "python_stdlib.zip": _zipped(library),
        LOCK: json.dumps(lock).encode(),
        "kiplab.zip": _zipped(_unzipped(pinned_wheels()["msgspec"].read_bytes()) | _model()),
    }


def _model() -> dict[str, bytes]:
    rooms = (file for room in _ROOMS for file in (_PACKAGE / room).rglob("*.py"))
    files = [*_PACKAGE.glob("*.py"), *rooms]
    return {file.relative_to(_PACKAGE.parent).as_posix(): file.read_bytes() for file in files}


def _unzipped(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {i.filename: opened.read(i) for i in opened.infolist() if not i.is_dir()}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """Not packed: the file that it becomes is."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name, data in sorted(files.items()):
            opened.writestr(zipfile.ZipInfo(name, _LONG_AGO), data)
    return archive.getvalue()
