"""`kiplab doctor`: the state of this machine; each thing missing has the command that adds it."""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import msgspec

from ..extras import EXTRAS
from ..judge.kafka_jars import jar_cache
from ..pages.browser_picture import find_chromium
from . import common_options, labs_launcher

MINIMUM_PYTHON = (3, 11)

# The labs that need no Java cannot start without these. All else is for some labs, or for tests.
NEEDED = frozenset({"Python", "msgspec", "lab packages", "lab folder"})


class Check(msgspec.Struct, frozen=True):
    """One requirement: what was found, and if that isn't enough the command that mends it."""

    name: str
    ok: bool
    found: str
    mend: str = ""


def checks() -> list[Check]:
    """Look at this machine. Takes about a second and needs no network."""
    return [
        _python(),
        _packages("msgspec", ("msgspec",), "", "the engine"),
        _packages("lab packages", EXTRAS["lab"], "lab", "the labs"),
        _packages("Spark packages", EXTRAS["fleet"], "fleet", "the Spark labs"),
        _java(),
        _chromium(),
        _packages("kaleido", EXTRAS["export"], "export", "pictures as .png"),
        _packages("site packages", EXTRAS["site"], "site", "labs in a folder"),
        _real_kafka(),
        _lab_folder(),
    ]


def run_doctor(options: argparse.Namespace) -> int:
    """Print the checks. Returns 0, or 3 when something is missing that every lab needs."""
    results = checks()
    if options.json:
        common_options.print_json({"checks": results})
    else:
        print(_table(results))
    return 0 if all(check.ok for check in results if check.name in NEEDED) else 3


def _python() -> Check:
    minimum = ".".join(map(str, MINIMUM_PYTHON))
    found = f"{platform.python_version()} at {sys.executable}"
    mend = f"install Python {minimum} or later, then start again with it"
    ok = sys.version_info >= MINIMUM_PYTHON
    return Check("Python", ok, found, "" if ok else mend)


def _packages(name: str, packages: Iterable[str], extra: str, purpose: str) -> Check:
    versions = {package: _version(package) for package in packages}
    missing = [package for package, version in versions.items() if version is None]
    if missing:
        found = f"no {', '.join(missing)} ({purpose} need it)"
        return Check(name, False, found, _install_command(extra))
    return Check(name, True, ", ".join(f"{key} {value}" for key, value in versions.items()))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _install_command(extra: str) -> str:
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "Makefile").is_file() and (checkout / "pyproject.toml").is_file():
        return f"make -C {checkout} setup"
    return f"{sys.executable} -m pip install 'kiplab{f'[{extra}]' if extra else ''}'"


def _java() -> Check:
    from ..machine.java import JavaNotFound, find_java

    try:
        java = find_java()
    except JavaNotFound as missing:
        return Check("Java", False, missing.sentence, missing.mend)
    return Check("Java", True, f"{java.version} at {java.home} (from {java.source})")


def _chromium() -> Check:
    path = find_chromium()
    if path is not None:
        return Check("Chromium", True, path)
    mend = f"{sys.executable} -m playwright install chromium"
    if shutil.which("apt-get"):
        mend = f"sudo apt-get install chromium, or {mend}"
    return Check("Chromium", False, "none (browser tests and pictures as .png need it)", mend)


def _real_kafka() -> Check:
    """Which releases can be run beside the engine, and what another one takes."""
    patches = map(jar_cache.patch_release, jar_cache.LAST_PATCH)
    there = [patch for patch in patches if jar_cache.have_jars(patch)]
    kept = f"{', '.join(there)} in {jar_cache.kafka_folder()}" if there else "no release yet"
    fetcher = jar_cache.can_fetch()
    if fetcher is None:
        sentence = f"{kept}; nothing to fetch one with (plays beside a real Kafka need it)"
        return Check("real Kafka", bool(there), sentence, jar_cache.GET_A_FETCHER)
    costs = f"about {jar_cache.MEGABYTES} MB and {jar_cache.SECONDS} s for another, by {fetcher}"
    return Check("real Kafka", True, f"{kept}; {costs}")


def _lab_folder() -> Check:
    folder = labs_launcher.labs_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Check("lab folder", True, str(folder))
    mend = f"choose another folder: export {labs_launcher.FOLDER_VARIABLE}=~/kiplab-labs"
    return Check("lab folder", False, f"{folder} cannot be written", mend)


def _table(checks: list[Check]) -> str:
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{'ok' if check.ok else 'lacks':5}  {check.name:{width}}  {check.found}")
        if check.mend:
            lines.append(f"{'':5}  {'':{width}}  to mend it: {check.mend}")
    return "\n".join(lines)
