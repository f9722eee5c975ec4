"""The ledger's rows: every clause of a KIP, what Kafka does of it, and what shows it in kiplab.

One file for each KIP, `kip-903.toml`: its sections in the KIP's order, under each its clauses. A
clause says what the KIP says (`says`, in our words), what became of it in Kafka (`kafka`, `since`
and a `note`), and either what shows it here (`shown`) or why it is not simulated
(`not_simulated`). Why no lab teaches it (`untaught`, see `in_labs.py`) stands there too, or once
for several plays and rules at the top of the file. An entry of `shown` begins with what it names:

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

from kiplab.plays.play_errors import PlayError
from kiplab.protocol.releases import RELEASES
from tests.ledger import in_files, in_plays

HERE = Path(__file__).parent


class Becomes(StrEnum):
    """What became of a clause in Kafka."""

    SPECIFIED = "as specified"
    OTHERWISE = "differently"
    NEVER = "never built"
    REASON = "a reason"
    """It says why, or how things are: there is nothing to build."""


ALWAYS = "before 3.2"
"""Older than the first release of KRaft that kiplab knows."""


ENTRIES: dict[tuple[str, ...], type[in_plays.Shown]] = {
    (*kind.__struct_fields__, "")[:2]: kind
    for kind in (
        in_plays.RuleAtWork,
        in_plays.RuleInTest,
        in_plays.Played,
        in_plays.PropertyInPlay,
        in_files.OwnTest,
        in_files.KafkasTest,
        in_files.FieldHere,
        in_files.FieldOnWire,
        in_files.ToldInLab,
    )
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
    shown: tuple[in_plays.Shown, ...]
    not_simulated: str
    untaught: str = ""

    def named(self, kind: str) -> set[str]:
        """What its entries name: the plays of `play`, the rules of `guard`."""
        return {getattr(entry, kind, "") for entry in self.shown} - {""}

    def wrong(self) -> in_plays.Wrong:
        """What to mend in the row, each as a sentence that begins with its id: everything that it
        names is there and shows what it says.
        """
        try:
            yield from (f"{self.id}: {problem}" for problem in self._wrong_by_itself())
            for shown in self.shown:
                yield from (f"{self.id}: {problem}" for problem in shown.wrong())
        except PlayError as problem:
            yield f"{self.id}: {problem}"

    def _wrong_by_itself(self) -> in_plays.Wrong:
        if bool(self.shown) == bool(self.not_simulated):
            yield "say what shows it, or why it is not simulated: one of the two"
        built = self.kafka in (Becomes.SPECIFIED, Becomes.OTHERWISE)
        if built and self.since not in (*RELEASES, ALWAYS):
            yield f"say since which release, or {ALWAYS!r}: {self.since!r} is none"
        if not built and self.since:
            yield f"{self.kafka.value} has no release"
        if self.kafka is Becomes.OTHERWISE and not self.note:
            yield "say in its note what Kafka does differently"
        for text in (self.says, self.note, self.not_simulated, self.untaught):
            if "|" in text or "\n" in text:
                yield "a row is one line of a table: no line break and no bar in it"


class Seed(NamedTuple):
    """A KIP and its clauses, in its order."""

    kip: int
    title: str
    about: str
    clause_count: int
    clauses: tuple[Clause, ...]
    file: str
    untaught: dict[str, list[str]]


class UnreadableRowError(ValueError):
    """A row that is not written as rows are; the message names the file and the clause."""


def seeds() -> tuple[Seed, ...]:
    """Every KIP that there is a file of, in the order of their numbers."""
    return tuple(seed_of(file) for file in sorted(HERE.glob("kip-*.toml")))


def seed_of(file: Path) -> Seed:
    """The rows of one file. Raises UnreadableRowError, and ValueError for what is no TOML."""
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    untaught = read.get("untaught", {})
    clauses = tuple(
        _clause(file.name, section["name"], row, untaught)
        for section in read["section"]
        for row in section["clause"]
    )
    head = (read["kip"], read["title"], read["about"], read["count"])
    return Seed(*head, clauses, file.name, untaught)


def _clause(file: str, section: str, row: dict[str, Any], untaught: dict[str, list[str]]) -> Clause:
    left = dict(row)
    try:
        clause = Clause(
            id=left.pop("id"),
            section=section,
            says=left.pop("says"),
            kafka=Becomes(left.pop("kafka")),
            since=left.pop("since", ""),
            note=left.pop("note", ""),
            shown=tuple(_shown(entry) for entry in left.pop("shown", ())),
            not_simulated=left.pop("not_simulated", ""),
            untaught=left.pop("untaught", ""),
        )
    except (KeyError, ValueError) as problem:
        what = f"lacks {problem}" if isinstance(problem, KeyError) else str(problem)
        raise UnreadableRowError(f"{file}, clause {row.get('id')}: {what}") from None
    if left:
        raise UnreadableRowError(f"{file}, clause {clause.id}: there is no {', '.join(left)}")
    named = clause.named("play") | clause.named("guard")
    default = (reason for reason, of in untaught.items() if named & set(of))
    return clause._replace(untaught=clause.untaught or next(default, ""))


def _shown(entry: dict[str, Any]) -> in_plays.Shown:
    first, second, *_ = (*entry, "", "")
    if (first, second) not in ENTRIES:
        known = ", ".join(" and ".join(filter(None, keys)) for keys in ENTRIES)
        raise ValueError(
            f"no entry begins with {first} and {second or 'nothing'}, but with {known}"
        )
    return msgspec.convert(entry, ENTRIES[first, second])
