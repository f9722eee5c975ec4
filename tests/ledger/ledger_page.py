"""The page `labs/ledger.md`: every clause of the KIPs, what Kafka does of it, what shows it here.

It is made of the rows beside this file; `pytest --rewrite tests/ledger` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote

from kiplab.plays.values import feature_set
from kiplab.protocol.releases import RELEASES
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
    Seed,
    Shown,
    ToldInLab,
)
from tests.ledger.holding import kafkas_tests
from tests.made_pages import LABS, table

PAGE = LABS / "ledger.md"
_NUMBERS = re.compile(r"^(?:(?:and_)?\d{3}_\d+_)+|^[a-z]\d+[a-z]?_")
_VECTORS = "fidelity.md#kafkas-own-tests-by-id"

INTRODUCTION = """\
# Clause by clause

Does kiplab really do what the KIPs say? Here is every sentence of theirs that says something, told
in our own words; what Kafka made of it; and what shows it in kiplab, or why nothing does.

Nothing here has to be believed. A **rule** named below is at work in the play beside it: without
the rule the play goes another way. A line after `expect` stands in the play and holds, a
**property** breaks or holds where it says so, and tests, fields and words of labs are where the
table says they are. The test suite tries all of it, and fails when a clause has no row. Run a play
yourself: `kiplab play NAME` tells it, and `kiplab timeline NAME -o run.html` draws it.

How true the rules themselves are to Kafka, by its own tests and by real controllers:
[How true is this to Kafka?](fidelity.md)
"""

_BECOMES = {
    Becomes.SPECIFIED: "Kafka does it as specified",
    Becomes.OTHERWISE: "Kafka does it otherwise",
    Becomes.NEVER: "never built",
    Becomes.REASON: "reasons, and how things are",
}
KINDS: dict[str, tuple[type[Shown], ...]] = {
    "a rule at work": (RuleAtWork, RuleInTest),
    "a play": (Played,),
    "a property": (PropertyInPlay,),
    "a test": (OwnTest, KafkasTest),
    "a field": (FieldHere, FieldOnWire),
    "a lab": (ToldInLab,),
}
"""What shows a clause, by the words of the table of counts."""


def page(seeds: Sequence[Seed]) -> str:
    """The whole page, as Markdown."""
    return "\n".join((INTRODUCTION, _counts(seeds), *(_seed(seed) for seed in seeds)))


# --- in numbers ---------------------------------------------------------------------------------


def _counts(seeds: Sequence[Seed]) -> str:
    head = ("", *(f"[KIP-{seed.kip}](#kip-{seed.kip})" for seed in seeds))
    rows = [("clauses", *(f"**{len(seed.clauses)}**" for seed in seeds))]
    for becomes, words in _BECOMES.items():
        rows.append((words, *(_count(seed, _became(becomes)) for seed in seeds)))
    for words, kinds in KINDS.items():
        rows.append((f"shown by {words}", *(_count(seed, _shown_by(kinds)) for seed in seeds)))
    rows.append(("not simulated", *(_count(seed, _is_left_out) for seed in seeds)))
    words = "Most clauses are shown by several things, so these do not add up.\n"
    return f"## In numbers\n\n{table(head, rows)}\n{words}"


def _count(seed: Seed, counts: Callable[[Clause], bool]) -> str:
    return str(sum(counts(clause) for clause in seed.clauses))


def _became(becomes: Becomes) -> Callable[[Clause], bool]:
    return lambda clause: clause.kafka is becomes


def _shown_by(kinds: tuple[type[Shown], ...]) -> Callable[[Clause], bool]:
    return lambda clause: any(isinstance(shown, kinds) for shown in clause.shown)


def _is_left_out(clause: Clause) -> bool:
    return bool(clause.not_simulated)


# --- one KIP ------------------------------------------------------------------------------------


def _seed(seed: Seed) -> str:
    parts = [f"## KIP-{seed.kip}\n\n**{seed.title}.** {seed.about}\n"]
    for section, clauses in groupby(seed.clauses, key=lambda clause: clause.section):
        rows = [_row(clause) for clause in clauses]
        parts.append(f"### {section}\n\n{table(('', 'the KIP', 'Kafka', 'shown by'), rows)}")
    return "\n".join((*parts, _left_out(seed)))


def _left_out(seed: Seed) -> str:
    reasons: dict[str, list[str]] = {}
    for clause in seed.clauses:
        if clause.not_simulated:
            reasons.setdefault(clause.not_simulated, []).append(clause.id)
    if not reasons:
        return ""
    rows = ((reason, ", ".join(ids)) for reason, ids in reasons.items())
    return f"### Not simulated of KIP-{seed.kip}\n\n{table(('because', 'clauses'), rows)}"


def _row(clause: Clause) -> tuple[str, ...]:
    return (clause.id, clause.says, in_kafka(clause), shown_by(clause))


def in_kafka(clause: Clause) -> str:
    """``"**As specified**, 3.5 and later. A note."``; nothing for a reason without a note."""
    if clause.kafka is Becomes.REASON:
        return clause.note
    since = {"": "", ALWAYS: ", in every release"}.get(clause.since, f", {clause.since} and later")
    latest = list(RELEASES)[-1]
    since = f", {latest}" if clause.since == latest else since
    return f"**{clause.kafka.value.capitalize()}**{since}. {clause.note}".strip()


def shown_by(clause: Clause) -> str:
    """What shows it, one below the other, or why nothing does."""
    if clause.not_simulated:
        return f"*Not simulated:* {clause.not_simulated}."
    return "<br>".join(WORDS[type(shown)](shown) for shown in clause.shown)


# --- what shows it ------------------------------------------------------------------------------


def command(play: str, at: str) -> str:
    """What runs the play so: ``"kiplab play last-replica --kafka 3.9"``."""
    words = ["kiplab", "play", play]
    if at:
        release, *switches = feature_set(at).label().split()
        words += ["--kafka", release]
        for switch in switches:
            words += [{"-": "--off", "+": "--on"}[switch[0]], switch[1:]]
    return " ".join(words)


def _rule_at_work(entry: RuleAtWork) -> str:
    return f"rule `{entry.guard}` in `{command(entry.play, entry.at)}`"


def _rule_in_test(entry: RuleInTest) -> str:
    if entry.row in kafkas_tests():
        where = f"in {_kafkas_test(KafkasTest(entry.row))}"
    elif entry.row.startswith("test_"):
        where = f"in a test: {_sentence(entry.row)}"
    else:
        where = f"in row `{entry.row}` of tests/protocol"
    return f"rule `{entry.guard}` {where}"


def _played(entry: Played) -> str:
    at, _, line = entry.expect.partition(" ") if entry.expect.startswith("@") else ("", "", "")
    return f"`{command(entry.play, at)}` expects `{line or entry.expect}`"


def _property(entry: PropertyInPlay) -> str:
    ends = [("breaks", entry.breaks), ("holds", entry.holds)]
    said = [f"{does} in `{command(entry.play, at)}`" for does, at in ends if at is not None]
    return f"property `{entry.property}` {' and '.join(said)}"


def _tested(entry: OwnTest) -> str:
    file, _, name = entry.test.partition("::")
    return f"test: {_sentence(name)} (`{file}`)"


def _sentence(test: str) -> str:
    """The name of a test in words, without the clauses or vectors that it begins with."""
    return _NUMBERS.sub("", test.removeprefix("test_")).replace("_", " ")


def _kafkas_test(entry: KafkasTest) -> str:
    return f"Kafka's test [{entry.vector}]({_VECTORS}), {kafkas_tests()[entry.vector]}"


def _field_here(entry: FieldHere) -> str:
    return f"field `{entry.field}`"


def _field_on_wire(entry: FieldOnWire) -> str:
    return f"`{entry.wire}` of {entry.of}, as the judge reads and writes it"


def _told(entry: ToldInLab) -> str:
    heading = quote(entry.heading.replace(" ", "-"), safe="-:,")
    number = entry.lab.partition("-")[0]
    return f"[lab {number}, {entry.heading}]({entry.lab}.ipynb#{heading})"


WORDS: dict[type[Shown], Callable[[Any], str]] = {
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
"""How each kind of entry is told."""


def commands(seeds: Iterable[Seed]) -> set[str]:
    """Every command that the page names."""
    made: set[str] = set()
    for shown in (shown for seed in seeds for clause in seed.clauses for shown in clause.shown):
        made |= {part for part in WORDS[type(shown)](shown).split("`") if part[:7] == "kiplab "}
    return made
