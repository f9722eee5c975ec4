"""The ledger's rows: every clause of a KIP, what Kafka does of it, and what shows it in kiplab.

One file for each KIP, `kip-903.toml`: its sections in the KIP's order, under each its clauses. A
clause says what the KIP says (`says`, in our words), what became of it in Kafka (`kafka`, `since`
and a `note`), and either what shows it here (`shown`) or why it is not simulated
(`not_simulated`). An entry of `shown` begins with what it names:

    { guard = "903.controller-epoch", play = "kafka-14139", at = "@3.5" }
    { guard = "841.leader-skips-fenced", row = "L8" }
    { play = "kafka-14139", expect = "@3.5 lost nothing" }
    { property = "electable-holds-committed", play = "kafka-14139", breaks = "@3.4" }
    { test = "tests/engine/test_clock.py::test_time_never_goes_back_and_never_stands_still" }
    { vector = "A15a" }
    { field = "FetchRequest.replica_epoch" }
    { wire = "NewIsrWithEpochs", of = "AlterPartition" }
    { lab = "04-kafka-14139", heading = "The situation", words = "Then the request arrives." }

`at`, `breaks` and `holds` are feature sets as plays write them; "" is the play's own. What each
entry has to be is checked in `in_plays.py` and `in_files.py`.
"""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

HERE = Path(__file__).parent


class Becomes(StrEnum):
    """What became of a clause in Kafka."""

    SPECIFIED = "as specified"
    OTHERWISE = "otherwise"
    NEVER = "never built"
    REASON = "a reason"
    """It says why, or how things are: there is nothing to build."""


ALWAYS = "before 3.2"
"""Older than the releases that kiplab knows."""


class RuleAtWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guard, and a play that goes otherwise when it is switched off."""

    guard: str
    play: str
    at: str = ""


class RuleInTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guard, and a row of tests/protocol that fails when it is switched off: the id of one of
    Kafka's own test cases, the first word of the row's name, or its test.
    """

    guard: str
    row: str


class Played(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A play, and a line of it that begins with `expect`, which holds."""

    play: str
    expect: str


class PropertyInPlay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A property, and a play in which it breaks, or holds, or each under other features."""

    property: str
    play: str
    breaks: str | None = None
    holds: str | None = None


class OwnTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A test of ours, as ``file::name``."""

    test: str


class KafkasTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of Kafka's own test cases, by the id that the fidelity page knows it by."""

    vector: str


class FieldHere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of a message, a record or a state of the engine, as ``Struct.field``."""

    field: str


class FieldOnWire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field that the judge writes or reads by Kafka's own schema, and of which message."""

    wire: str
    of: str


class ToldInLab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words of a lab, under a heading of it; also those that open with an answer there."""

    lab: str
    heading: str
    words: str


Shown = (
    RuleAtWork
    | RuleInTest
    | Played
    | PropertyInPlay
    | OwnTest
    | KafkasTest
    | FieldHere
    | FieldOnWire
    | ToldInLab
)
ENTRIES: dict[tuple[str, str], type[Shown]] = {
    ("guard", "play"): RuleAtWork,
    ("guard", "row"): RuleInTest,
    ("play", "expect"): Played,
    ("property", "play"): PropertyInPlay,
    ("test", ""): OwnTest,
    ("vector", ""): KafkasTest,
    ("field", ""): FieldHere,
    ("wire", "of"): FieldOnWire,
    ("lab", "heading"): ToldInLab,
}
"""The kinds of entries, by the first two of their keys."""


class Clause(NamedTuple):
    """One sentence of a KIP, what Kafka made of it, and where kiplab has it."""

    id: str
    section: str
    says: str
    kafka: Becomes
    since: str
    note: str
    shown: tuple[Shown, ...]
    not_simulated: str


class Seed(NamedTuple):
    """A KIP and its clauses, in its order."""

    kip: int
    title: str
    about: str
    clause_count: int
    clauses: tuple[Clause, ...]
    file: str


class UnreadableRowError(ValueError):
    """A row that is not written as rows are; the message names the file and the clause."""


def seeds() -> tuple[Seed, ...]:
    """Every KIP that there is a file of, in the order of their numbers."""
    return tuple(seed_of(file) for file in sorted(HERE.glob("kip-*.toml")))


def seed_of(file: Path) -> Seed:
    """The rows of one file. Raises UnreadableRowError, and ValueError for what is no TOML."""
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    clauses = [
        _clause(file.name, section["name"], row)
        for section in read["section"]
        for row in section["clause"]
    ]
    return Seed(read["kip"], read["title"], read["about"], read["count"], tuple(clauses), file.name)


def _clause(file: str, section: str, row: dict[str, Any]) -> Clause:
    given = dict(row)
    try:
        clause = Clause(
            id=given.pop("id"),
            section=section,
            says=given.pop("says"),
            kafka=Becomes(given.pop("kafka")),
            since=given.pop("since", ""),
            note=given.pop("note", ""),
            shown=tuple(_shown(entry) for entry in given.pop("shown", ())),
            not_simulated=given.pop("not_simulated", ""),
        )
    except (KeyError, ValueError) as problem:
        what = f"lacks {problem}" if isinstance(problem, KeyError) else str(problem)
        raise UnreadableRowError(f"{file}, clause {row.get('id')}: {what}") from None
    if given:
        raise UnreadableRowError(f"{file}, clause {clause.id}: there is no {', '.join(given)}")
    return clause


def _shown(entry: dict[str, Any]) -> Shown:
    first, second, *_ = (*entry, "", "")
    if (first, second) not in ENTRIES:
        known = ", ".join(" and ".join(filter(None, keys)) for keys in ENTRIES)
        raise ValueError(
            f"no entry begins with {first} and {second or 'nothing'}, but with {known}"
        )
    return msgspec.convert(entry, ENTRIES[first, second])
