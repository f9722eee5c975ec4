"""What users could do before the house became smaller: the recording, and how it is made.

`python tests/contract/recorded.py OUT` in a checkout records that checkout. The recording in this
folder is of commit 28837d0. Each entry has a key, such as ``play kafka-14139``, and a value: plain
JSON, or the digest of a long text.
"""

import contextlib
import hashlib
import inspect
import io
import json
import lzma
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

RECORDING = Path(__file__).parent / "recorded.json.xz"
UNFINISHED = 4
SMALL = ("--bound", "writes=0", "--bound", "crashes=1")
"""Bounds of a search that ends soon."""
MATRICES = ("kafka-14139", "timeline-first", "704-consumers", "consumer-nearby")
"""Plays whose matrix is small within these bounds."""
CLASS = Path(__file__).resolve().parents[1] / "classroom" / "handed_in"
Entries = dict[str, Any]


def digest(text: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def command(*arguments: str) -> dict[str, Any]:
    """The exit code of a command, and its JSON without what depends on the machine."""
    from kiplab.cli.command import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([*arguments, "--json"])
    report = json.loads(out.getvalue()) if out.getvalue() else None
    return {"code": code, "json": _without_seconds(report)}


def _without_seconds(report: Any) -> Any:
    if isinstance(report, dict):
        return {k: _without_seconds(v) for k, v in report.items() if k != "seconds"}
    return list(map(_without_seconds, report)) if isinstance(report, list) else report


# --- lists and names ----------------------------------------------------------------------------


def lists() -> Entries:
    """The commands without a play, except those that read the machine."""
    return {
        "plays": command("plays"),
        "guards": command("guards"),
    }


def signatures() -> Entries:
    """Each public name: the parameters of a function, the public members of a class."""
    import kiplab

    entries: Entries = {}
    for package in ("kiplab", "kiplab.fleet", "kiplab.classroom"):
        module = import_module(package)
        for name in sorted(module.__all__):
            entries[f"signature {package}.{name}"] = _shape(getattr(module, name))
    assert kiplab.__version__
    return entries


def _shape(value: Any) -> Any:
    if inspect.isclass(value):
        members = sorted(name for name in vars(value) if not name.startswith("_"))
        shapes = {name: _member(vars(value)[name]) for name in members}
        return {"class": _parameters(value), "members": shapes}
    return _parameters(value) if callable(value) else type(value).__name__


def _member(value: Any) -> Any:
    if isinstance(value, staticmethod | classmethod):
        return _parameters(value.__func__)
    return _parameters(value) if inspect.isfunction(value) else "value"


def _parameters(function: Callable[..., Any]) -> str:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "no signature"
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


# --- plays --------------------------------------------------------------------------------------


def played(name: str) -> Entries:
    """The run of a play as JSON."""
    return {f"play {name}": command("play", name)}


def drawn(name: str) -> Entries:
    """Digests of what `kiplab timeline` writes for a play."""
    entries: Entries = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("json", "csv", "txt", "svg"):
            out = Path(folder) / f"out.{ending}"
            code = command("timeline", name, "-o", str(out))["code"]
            entries[f"timeline {ending} {name}"] = [code, digest(out.read_text("utf-8"))]
    return entries


def searched(name: str) -> Entries:
    """The search around a play within small bounds if it finishes, and its shortest form."""
    search = command("explore", name, *SMALL, "--seconds", "20")
    shortest = {f"minimise {name}": command("minimise", name)}
    return shortest if search["code"] == UNFINISHED else {f"explore {name}": search, **shortest}


def matrices() -> Entries:
    """Every subset of the guards around a few plays."""
    return {f"matrix {name}": command("matrix", name, *SMALL) for name in MATRICES}


def class_report() -> Entries:
    """The work of a class."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "class.html"
        return {"class": command("class", str(CLASS), "-o", str(page))}


def fleet_report() -> Entries:
    """A study of a fleet that ran without Spark."""
    from kiplab import fleet

    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        fleet.run("small", study, years=100, spark=False)
        return {"fleet report": command("fleet", "report", str(study))}


def judged(name: str) -> Entries:
    """What is shown of a real Kafka in a play, where it is recorded."""
    from kiplab.protocol.releases import RELEASES

    return {
        f"real {name} {release}": command("real", name, "--recorded", "--kafka", release)
        for release in RELEASES
    }


def offered(name: str, steps: Iterable[int] | None = None) -> Entries:
    """What a Lab offers at each step of a play: every control with its label, state and options."""
    from kiplab import Lab

    lab = Lab(name)
    entries: Entries = {}
    for step in range(lab.playback.last + 1) if steps is None else steps:
        lab.seek(step)
        entries[f"lab {name} {step}"] = [
            control for part in lab._root.everything() if (control := _control(part.described()))
        ]
    return entries


def _control(part: dict[str, Any]) -> list[Any] | None:
    if "disabled" not in part:
        return None
    return [part["kind"], part["description"], part["disabled"], part.get("options")]


# --- the recording ------------------------------------------------------------------------------


def everything() -> Entries:
    """All entries of this checkout; takes some minutes."""
    from kiplab.plays.library import names

    entries = {**lists(), **signatures(), **matrices(), **class_report(), **fleet_report()}
    for name in names():
        print(name, file=sys.stderr)
        for part in (played, drawn, searched, judged, offered):
            entries |= part(name)
    return entries


def read() -> Entries:
    """The recording in this folder."""
    entries: Entries = json.loads(lzma.decompress(RECORDING.read_bytes()))
    return entries


if __name__ == "__main__":
    content = json.dumps(everything(), sort_keys=True, separators=(",", ":")).encode()
    Path(sys.argv[1]).write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
