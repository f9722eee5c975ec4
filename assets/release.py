"""`make release RELEASE=FOLDER`: wheel, source, the site as a folder and as a zip, and checksums.

The same commit gives the same bytes: every time in a file is that of the commit.
"""

import os
import subprocess
import sys
import time
import zipfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kiplab import __version__  # noqa: E402

BAD_INPUT = 2
SITE, SUMS = f"kiplab-site-{__version__}", "SHA256SUMS"
NEXT = """Next, for kiplab {version}:
  1. Try the wheel in a fresh environment: pip install '{wheel}[lab]' && kiplab --version
  2. Look at the site: {python} -m http.server -b 127.0.0.1 -d {site}
  3. Tag the commit: git tag v{version} && git push --tags
  4. Give a course the wheel or the zip with SHA256SUMS: sha256sum -c SHA256SUMS
"""


def release(folder: Path) -> str:
    """Writes everything into `folder`, and returns what to do next. Raises SystemExit."""
    if folder.exists() and any(folder.iterdir()):
        sys.exit(_complain(f"{folder} is not empty; name a new folder, as in RELEASE=../release"))
    if _git("status", "--porcelain"):
        _complain("there are changes that are not committed: this release is of no commit")
    moment = int(os.environ.setdefault("SOURCE_DATE_EPOCH", _git("log", "-1", "--format=%ct")))
    folder.mkdir(parents=True, exist_ok=True)
    _run("-m", "hatchling", "build", "-d", str(folder.resolve()))
    _run("-m", "kiplab.cli.command", "site", "-o", str(folder.resolve() / SITE))
    _zip(folder / SITE, time.gmtime(moment)[:6])
    files = sorted(path for path in folder.iterdir() if path.is_file())
    sums = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(sums), "utf-8")
    (wheel,) = folder.glob("*.whl")
    return NEXT.format(version=__version__, wheel=wheel, site=folder / SITE, python=sys.executable)


def _zip(site: Path, moment: tuple[int, ...]) -> None:
    with zipfile.ZipFile(site.with_name(f"{site.name}.zip"), "w") as archive:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(f"{SITE}/{path.relative_to(site).as_posix()}", moment)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, compresslevel=9)


def _run(*arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=sys.stderr
    )
    if ended.returncode:
        sys.exit(ended.returncode)  # the command has said why


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        sys.exit(_complain("a release is of a commit; run this in a clone, with git on PATH"))


def _complain(sentence: str) -> int:
    print(f"kiplab: {sentence}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    print(release(Path(sys.argv[1])), end="")
