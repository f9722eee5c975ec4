"""What an entry of the ledger has to be: everything it names is there and shows what it says.

A rule is seen at work: the play that the entry names goes otherwise without it, and a refusal is
among the refused. A line of a play stands in it and holds. A property breaks or holds where the
entry says so. Tests are found by reading their files, words of labs under their headings, fields on
the structs of the engine or among the names that the judge writes and reads by Kafka's schemas.
Each check yields sentences; no sentence means that the entry holds.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

import kiplab.protocol
from kiplab.classroom.forms.held_back import EXPLANATIONS
from kiplab.engine.events import Event, PropertyBroken
from kiplab.engine.properties import PROPERTIES
from kiplab.judge.conversation import kafka_terms
from kiplab.plays.library import load, names
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.values import feature_set
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import Features, switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import CONTROLLER
from kiplab.protocol.releases import RELEASES
from tests.fidelity.held_vectors import listed
from tests.fidelity.rule_rows import ids_of
from tests.ledger.clauses import (
    ALWAYS,
    Becomes,
    Clause,
    FieldHere,
    FieldOnWire,
    KafkasTest,
    OwnTest,
    Played,
    PropertyInPlay,
    RuleAtWork,
    RuleInTest,
    Shown,
    ToldInLab,
)
from tests.made_pages import LABS, ROOT
from tests.protocol.looked_at import Vector, all_vectors

Wrong = Iterator[str]
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def wrong_with(clause: Clause) -> Wrong:
    """What to mend in a row, each as a sentence that begins with its id."""
    for said in _of_row(clause):
        yield f"{clause.id}: {said}"
    for shown in clause.shown:
        for said in _of_entry(shown):
            yield f"{clause.id}: {said}"


def _of_entry(shown: Shown) -> Wrong:
    try:
        yield from HOLDS[type(shown)](shown)
    except PlayError as problem:
        yield str(problem)


def _of_row(clause: Clause) -> Wrong:
    if bool(clause.shown) == bool(clause.not_simulated):
        yield "say what shows it, or why it is not simulated: one of the two"
    built = clause.kafka in (Becomes.SPECIFIED, Becomes.OTHERWISE)
    if built and clause.since not in (*RELEASES, ALWAYS):
        yield f"say since which release, or {ALWAYS!r}: {clause.since!r} is none"
    if not built and clause.since:
        yield f"{clause.kafka.value} has no release"
    if clause.kafka is Becomes.OTHERWISE and not clause.note:
        yield "say in its note what Kafka does otherwise"
    for text in (clause.says, clause.note, clause.not_simulated):
        if "|" in text or "\n" in text:
            yield "a row is one line of a table: no line break and no bar in it"


@cache
def staged(play: str, at: str) -> Stage:
    """The play under a feature set, ``""`` for its own. Raises PlayError if there is none."""
    return run_play(load(play), feature_set(at) if at else None)


def _rule_at_work(entry: RuleAtWork) -> Wrong:
    guard, where = GUARDS.get(entry.guard), f"{entry.play} {entry.at}".strip()
    if guard is None:
        yield f"there is no guard {entry.guard}"
        return
    if not _is_play(entry.play):
        yield f"there is no play {entry.play}"
        return
    stage = staged(entry.play, entry.at)
    if not any(entry.guard in stage.features.active(node) for node in _nodes(stage.features)):
        yield f"{entry.guard} is not on in {where}"
        return
    without = run_play(stage.play, switched(stage.features, entry.guard, False))
    if _happened(without) == _happened(stage):
        yield f"{where} goes the same way without {entry.guard}: name a play that needs it"
    elif guard.error is not None and entry.guard not in _refused(stage):
        yield f"{entry.guard} refuses nothing in {where}"


def _refused(stage: Stage) -> set[str | None]:
    return {event.guard for event in stage.events if isinstance(event, Refused)}


def _nodes(features: Features) -> tuple[Any, ...]:
    return (CONTROLLER, *(node for node, _ in features.nodes))


def _happened(stage: Stage) -> list[Event]:
    """The events, whatever is promised of them: that hangs on the guards themselves."""
    return [
        replace(event, promised=False) if isinstance(event, PropertyBroken) else event
        for event in stage.events
    ]


def _rule_in_test(entry: RuleInTest) -> Wrong:
    if entry.guard not in GUARDS:
        yield f"there is no guard {entry.guard}"
        return
    rows = [vector for vector in _vectors() if entry.row in names_of(vector)]
    if not rows:
        yield f"there is no row {entry.row} in tests/protocol/test_vectors_*.py"
    elif all(row.passes(lambda features: switched(features, entry.guard, False)) for row in rows):
        yield f"{entry.row} passes without {entry.guard}: name a row that needs it"


_vectors = cache(all_vectors)


def names_of(vector: Vector) -> set[str]:
    """What a row of tests/protocol is called: by its test, by its name, by Kafka's tests' ids."""
    return {vector.test.__name__, vector.row.partition(" ")[0], *ids_of(vector)}


def _is_play(name: str) -> bool:
    return name in names()


def _played(entry: Played) -> Wrong:
    if not _is_play(entry.play):
        yield f"there is no play {entry.play}"
        return
    first = entry.expect.split()[0]
    stage = staged(entry.play, first if first.startswith("@") else "")
    line = " ".join(f"expect {entry.expect}".split())
    found = [e.status for e in stage.expectations if e.text == line]
    if not found:
        yield f"{entry.play} has no line `{line}`"
    elif "held" not in found:
        yield f"`{line}` of {entry.play} {found[0]}"


def _property(entry: PropertyInPlay) -> Wrong:
    if entry.property not in PROPERTIES:
        yield f"there is no property {entry.property}; they are {', '.join(PROPERTIES)}"
        return
    if not _is_play(entry.play):
        yield f"there is no play {entry.play}"
        return
    if entry.breaks is None and entry.holds is None:
        yield f"say where {entry.property} `breaks`, or `holds`, in {entry.play}"
    for at, breaks in ((entry.breaks, True), (entry.holds, False)):
        if at is None:
            continue
        broken = {id for id, _ in staged(entry.play, at).cluster.broken}
        if (entry.property in broken) is not breaks:
            does = "holds" if breaks else "breaks"
            yield f"{entry.property} {does} in {entry.play} {at}".rstrip()


def _tested(entry: OwnTest) -> Wrong:
    file, _, name = entry.test.partition("::")
    if not (ROOT / file).is_file():
        yield f"there is no file {file}"
    elif name not in _functions(file) or not name.startswith("test_"):
        yield f"there is no test {name} in {file}"


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@cache
def kafkas_tests() -> dict[str, str]:
    """The vectors that are held, each with Kafka's own test."""
    return {vector.id: vector.kafka_test for vector in listed() if not vector.left_out}


def _kafkas_test(entry: KafkasTest) -> Wrong:
    if entry.vector not in kafkas_tests():
        yield f"there is no vector {entry.vector} that is held: see tests/fidelity/vectors.tsv"


def _field_here(entry: FieldHere) -> Wrong:
    struct, _, field = entry.field.partition(".")
    if field not in _structs().get(struct, ()):
        yield f"there is no field {entry.field} on a struct of kiplab/protocol"


@cache
def _structs() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for module in pkgutil.walk_packages(kiplab.protocol.__path__, "kiplab.protocol."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, type) and issubclass(value, msgspec.Struct):
                found[name] = value.__struct_fields__
    return found


def _field_on_wire(entry: FieldOnWire) -> Wrong:
    for name in (entry.wire, entry.of):
        if name not in _spoken():
            yield f"the judge neither writes nor reads {name}: kiplab/judge/conversation has it not"


@cache
def _spoken() -> frozenset[str]:
    """Every text of the file in which the engine's terms and Kafka's stand side by side."""
    assert kafka_terms.__file__ is not None
    tree = ast.parse(Path(kafka_terms.__file__).read_text(encoding="utf-8"))
    return frozenset(str(n.value) for n in ast.walk(tree) if isinstance(n, ast.Constant))


def _told(entry: ToldInLab) -> Wrong:
    if not (LABS / f"{entry.lab}.ipynb").is_file():
        yield f"there is no lab {entry.lab}"
        return
    text = _sections(entry.lab).get(entry.heading)
    if text is None:
        yield f"lab {entry.lab} has no heading {entry.heading!r}"
    elif entry.words not in text:
        yield f"lab {entry.lab} does not say {entry.words!r} under {entry.heading!r}"


@cache
def _sections(lab: str) -> dict[str, str]:
    """What a lab says under each of its headings, on one line, without links and emphasis."""
    notebook = json.loads((LABS / f"{lab}.ipynb").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    heading = ""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.setdefault(heading, []).extend(_opened(source))
            continue
        for line in source.splitlines():
            heading = line.lstrip("# ") if re.match(r"#+ ", line) else heading
            found.setdefault(heading, []).append(line)
    return {name: _plain(" ".join(lines)) for name, lines in found.items()}


def _opened(source: str) -> Iterator[str]:
    """The explanations that a cell shows once its question is answered."""
    for id, part in re.findall(r'explain\("([^"]+)"(?:, "([^"]+)")?\)', source):
        file = EXPLANATIONS / f"{id}{'.' * bool(part)}{part}.md"
        yield file.read_text(encoding="utf-8")


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("*", "").split())


HOLDS: dict[type[Shown], Callable[[Any], Wrong]] = {
    RuleAtWork: _rule_at_work,
    RuleInTest: _rule_in_test,
    Played: _played,
    PropertyInPlay: _property,
    OwnTest: _tested,
    KafkasTest: _kafkas_test,
    FieldHere: _field_here,
    FieldOnWire: _field_on_wire,
    ToldInLab: _told,
}
"""How each kind of entry is held."""
