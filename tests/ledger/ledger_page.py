"""The page `labs/ledger.md`: every clause of the KIPs, what Kafka does of it, what shows it here.

It is made of `introduction.md` and the rows beside this file; `pytest --rewrite tests/ledger`
writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote

from kiplab.plays.values import feature_set
from kiplab.protocol.releases import RELEASES
from tests.ledger import in_files, in_labs
from tests.ledger.clauses import ALWAYS, ENTRIES, HERE, Becomes, Clause, Seed
from tests.ledger.in_plays import Played, PropertyInPlay, RuleAtWork, RuleInTest, Shown
from tests.made_pages import LABS, table

PAGE = LABS / "ledger.md"
_NUMBERS = re.compile(r"^(?:(?:and_)?\d{3}_\d+_)+|^[a-z]\d+[a-z]?_")
_VECTORS = "fidelity.md#kafkas-own-tests-by-id"

_HEAD = ("the KIP", "Kafka", "shown by", "taught in")
_BECOMES = {
    Becomes.SPECIFIED: "Kafka does it as specified",
    Becomes.OTHERWISE: "Kafka does it differently",
    Becomes.NEVER: "never built",
    Becomes.REASON: "reasons and descriptions",
}


def page(seeds: Sequence[Seed]) -> str:
    """The whole page, as Markdown."""
    introduction = HERE.joinpath("introduction.md").read_text("utf-8")
    return "\n".join((introduction, _counts(seeds), *(_seed(seed) for seed in seeds)))


# --- in numbers ---------------------------------------------------------------------------------


def _counts(seeds: Sequence[Seed]) -> str:
    head = ("", *(f"KIP-{seed.kip}" for seed in seeds))
    rows = [("clauses", *(f"**{len(seed.clauses)}**" for seed in seeds))]
    counted: dict[str, Callable[[Clause], object]] = {
        **{words: _became(becomes) for becomes, words in _BECOMES.items()},
        **{f"shown by {kind.kind}": _shown_by(kind.kind) for kind in ENTRIES.values()},
        "not simulated": lambda clause: bool(clause.not_simulated),
        "in a lab": in_labs.labs,
        "in no lab, with a reason": in_labs.not_taught,
    }
    for words, counts in counted.items():
        rows.append(
            (words, *(str(sum(bool(counts(clause)) for clause in seed.clauses)) for seed in seeds))
        )
    words = "Several things show most clauses, so these numbers do not add up.\n"
    return f"## In numbers\n\n{table(head, rows)}\n{words}"


def _became(becomes: Becomes) -> Callable[[Clause], bool]:
    return lambda clause: clause.kafka is becomes


def _shown_by(words: str) -> Callable[[Clause], bool]:
    return lambda clause: any(shown.kind == words for shown in clause.shown)


# --- one KIP ------------------------------------------------------------------------------------


def _seed(seed: Seed) -> str:
    parts = [f"## KIP-{seed.kip}\n\n**{seed.title}.** {seed.about}\n"]
    for section, clauses in groupby(seed.clauses, key=lambda clause: clause.section):
        rows = [_row(clause) for clause in clauses]
        parts.append(f"### {section}\n\n{table(_HEAD, rows)}")
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
    return (f"**{clause.id}** {clause.says}", in_kafka(clause), shown_by(clause), taught_in(clause))


def in_kafka(clause: Clause) -> str:
    """``"**As specified**, 3.5 and later. A note."``; nothing for a reason without a note."""
    if clause.kafka is Becomes.REASON:
        return clause.note
    latest = list(RELEASES)[-1]
    since = {"": "", ALWAYS: ", in every release of KRaft", latest: f", {latest}"}.get(
        clause.since, f", {clause.since} and later"
    )
    return f"**{clause.kafka.value.capitalize()}**{since}. {clause.note}".strip()


def shown_by(clause: Clause) -> str:
    """What shows it, one below the other, or why nothing does."""
    if clause.not_simulated:
        return f"*Not simulated:* {clause.not_simulated}."
    return "<br>".join(lines_of(clause.shown))


def taught_in(clause: Clause) -> str:
    """The labs that teach it in bold, those that run it, or why none does."""
    if in_labs.not_taught(clause):
        return f"*No lab:* {clause.untaught}."
    marks = {lab: "**" * taught for lab, taught in in_labs.labs(clause).items()}
    return ", ".join(f"[{mark}{lab[:2]}{mark}]({lab}.ipynb)" for lab, mark in marks.items())


# --- what shows it ------------------------------------------------------------------------------


def lines_of(shown: Iterable[Shown]) -> Iterator[str]:
    """What shows a clause, alike with alike: plays first, labs last."""
    for kinds, lines in LINES:
        yield from lines([entry for entry in shown if isinstance(entry, kinds)])


def command(play: str, at: str) -> str:
    """What runs the play so: ``"kiplab play last-replica --kafka 3.9"``."""
    words = ["kiplab", "play", play]
    if at:
        release, *switches = feature_set(at).label().split()
        words += ["--kafka", release]
        for switch in switches:
            words += [{"-": "--off", "+": "--on"}[switch[0]], switch[1:]]
    return " ".join(words)


def commands(seeds: Iterable[Seed]) -> set[str]:
    """Every command that the page names."""
    shown = (entry for seed in seeds for clause in seed.clauses for entry in clause.shown)
    return {line for entry in shown if isinstance(entry, IN_PLAYS) for line, _ in _said(entry)}


def _plays(entries: Sequence[InPlay]) -> Iterator[str]:
    """A line for each command, with all that is to be seen there."""
    pairs = [pair for entry in entries for pair in _said(entry)]
    for line in dict.fromkeys(line for line, _ in pairs):
        yield f"`{line}`: {', '.join(words for of, words in pairs if of == line)}"


def _said(entry: InPlay) -> Iterator[tuple[str, str]]:
    """(command, what is to be seen there)."""
    match entry:
        case RuleAtWork(guard, play, at):
            yield command(play, at), f"rule `{guard}` at work"
        case Played(play, expect):
            first, _, rest = expect.partition(" ")
            at, line = (first, rest) if first.startswith("@") else ("", expect)
            yield command(play, at), f"`expect {line}`"
        case PropertyInPlay(property, play, breaks, holds):
            if breaks is not None:
                yield command(play, breaks), f"property `{property}` breaks"
            if holds is not None:
                yield command(play, holds), f"property `{property}` holds"


def _rules(entries: Sequence[RuleInTest]) -> Iterator[str]:
    for entry in entries:
        if entry.row in in_files.kafkas_tests():
            where = f"case {_case(entry.row)}"
        elif entry.row.startswith("test_"):
            where = f"a test: {_sentence(entry.row)}"
        else:
            where = f"row `{entry.row}` of tests/protocol"
        yield f"rule `{entry.guard}` in {where}"


def _tests(entries: Sequence[in_files.OwnTest]) -> Iterator[str]:
    names = [entry.test.partition("::")[::2] for entry in entries]
    for file in dict.fromkeys(file for file, _ in names):
        yield f"{file}: {'; '.join(_sentence(name) for of, name in names if of == file)}"


def _sentence(test: str) -> str:
    """The name of a test in words, without the clauses or vectors that it begins with."""
    return _NUMBERS.sub("", test.removeprefix("test_")).replace("_", " ")


def _case(id: str) -> str:
    return f"[{id}]({_VECTORS})"


def _listed(word: str, item: Callable[[Any], str]) -> Callable[[Sequence[Any]], Iterator[str]]:
    """One line with all of them."""

    def lines(entries: Sequence[Any]) -> Iterator[str]:
        if entries:
            yield f"{word}{'s' * (len(entries) > 1)} {', '.join(map(item, entries))}"

    return lines


def _on_wire(entries: Sequence[in_files.FieldOnWire]) -> Iterator[str]:
    for of, found in groupby(entries, key=lambda entry: entry.of):
        yield f"on the wire {', '.join(f'`{entry.wire}`' for entry in found)} of {of}"


def _labs(entries: Sequence[in_files.ToldInLab]) -> Iterator[str]:
    for entry in entries:
        heading = quote(entry.heading.replace(" ", "-"), safe="-:,")
        number = entry.lab.partition("-")[0]
        yield f"[lab {number}, {entry.heading}]({entry.lab}.ipynb#{heading})"


InPlay = RuleAtWork | Played | PropertyInPlay
IN_PLAYS = (RuleAtWork, Played, PropertyInPlay)
LINES: tuple[tuple[tuple[type[Shown], ...], Callable[[Sequence[Any]], Iterator[str]]], ...] = (
    (IN_PLAYS, _plays),
    ((RuleInTest,), _rules),
    ((in_files.KafkasTest,), _listed("case", lambda entry: _case(entry.vector))),
    ((in_files.OwnTest,), _tests),
    ((in_files.FieldHere,), _listed("field", lambda entry: f"`{entry.field}`")),
    ((in_files.FieldOnWire,), _on_wire),
    ((in_files.ToldInLab,), _labs),
)
"""How each kind of entry is told, in this order."""
