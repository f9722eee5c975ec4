"""The kiplab package as one zip file, for executors that do not have it installed."""

import functools
import hashlib
import io
import zipfile
from pathlib import Path

from ..machine.cache import cache_folder, keep
from .unavailable import SparkUnavailable

PACKAGE = Path(__file__).parents[1]


@functools.cache
def package_zip() -> Path:
    """A zip of this very package, named by its content, in the user's cache folder.

    Raises SparkUnavailable if the folder cannot be written.
    """
    content = _zipped(PACKAGE)
    name = f"kiplab-{hashlib.sha256(content).hexdigest()[:12]}.zip"
    try:
        return keep(cache_folder() / name, content)
    except OSError as error:
        raise SparkUnavailable(
            f"The kiplab package could not be zipped for the executors in {cache_folder()}: "
            f"{error.strerror}.",
            "Set XDG_CACHE_HOME to a folder that can be written.",
        ) from None


def _zipped(package: Path) -> bytes:
    """Equal for equal files: sorted, and without the files' dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(package.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                entry = zipfile.ZipInfo(path.relative_to(package.parent).as_posix())
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()
