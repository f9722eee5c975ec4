"""Every clause of a KIP has a row, every row names what is there, the page is made of the rows."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.cli.command import main
from kiplab.plays.library import names
from kiplab.protocol.guards import GUARDS
from tests.ledger import clauses, in_files, in_labs, ledger_page
from tests.ledger.clauses import Becomes, Clause, Seed, UnreadableRowError, seed_of, seeds
from tests.ledger.in_plays import Played, PropertyInPlay, RuleAtWork, RuleInTest, Shown
from tests.made_pages import ROOT, holds_as_made

SEEDS = seeds()
ALL = [clause for seed in SEEDS for clause in seed.clauses]
BY_ID = {clause.id: clause for clause in ALL}
SUBJECTS = {
    "903-": 903,
    "kafka-14139": 903,
    "last-replica": 903,
    "841-": 841,
    "704-": 704,
    "343-": 343,
    "380-": 380,
    "unclean-election": 704,
}
"""What the names of plays about these KIPs begin with."""


# --- complete -------------------------------------------------------------------------------------


def missing(seed: Seed) -> Iterator[str]:
    """What to add to a file, and what to take out, so that each clause has one row."""
    ids = [clause.id for clause in seed.clauses]
    wanted = [f"{seed.kip}.{number}" for number in range(1, seed.clause_count + 1)]
    for id in wanted:
        if id not in ids:
            yield f"clause {id} has no row: add it to tests/ledger/{seed.file}"
        if ids.count(id) > 1:
            yield f"clause {id} has {ids.count(id)} rows in tests/ledger/{seed.file}"
    yield from (f"{id} in {seed.file} is no clause" for id in ids if id not in wanted)
    if ids != sorted(ids, key=lambda id: int(id.partition(".")[2])):
        yield f"the clauses of tests/ledger/{seed.file} are not in the KIP's order"


def test_every_clause_has_a_row() -> None:
    said = [line for seed in SEEDS for line in missing(seed)]
    assert not said, "\n".join(said)


def test_the_kips_are_these_with_so_many_clauses() -> None:
    assert {seed.kip: seed.clause_count for seed in SEEDS} == {
        343: 66,
        380: 55,
        704: 62,
        841: 21,
        903: 76,
    }


def unnamed(seeds: Sequence[Seed], guards: Sequence[str], plays: Sequence[str]) -> Iterator[str]:
    """For each guard and each play that no clause names, where it belongs."""
    shown = [shown for seed in seeds for clause in seed.clauses for shown in clause.shown]
    at_work = {entry.guard for entry in shown if isinstance(entry, (RuleAtWork, RuleInTest))}
    played = {
        entry.play for entry in shown if isinstance(entry, (RuleAtWork, Played, PropertyInPlay))
    }
    files = {seed.kip: seed.file for seed in seeds}
    for id in guards:
        kip = GUARDS[id].kip
        if kip in files and id not in at_work:
            yield (
                f'no clause names the guard {id}: add {{ guard = "{id}", play = "..." }} to the row'
                f" of its clause in tests/ledger/{files[kip]}"
            )
    for play in plays:
        kip = next((kip for begin, kip in SUBJECTS.items() if play.startswith(begin)), None)
        if kip in files and play not in played:
            yield (
                f'no clause names the play {play}: add {{ play = "{play}", expect = "..." }} to the'
                f" row of what it shows in tests/ledger/{files[kip]}"
            )


def test_every_rule_and_every_play_of_these_kips_is_named() -> None:
    said = list(unnamed(SEEDS, list(GUARDS), names()))
    assert not said, "\n".join(said)


def test_a_test_that_says_a_clauses_number_is_named_by_that_clause_and_by_no_other() -> None:
    said = []
    for clause in ALL:
        tests = {entry.test for entry in clause.shown if isinstance(entry, in_files.OwnTest)}
        numbered = {test for test, ids in NUMBERED.items() if clause.id in ids}
        said += [f"{clause.id}: add {{ test = {test!r} }}" for test in numbered - tests]
        elsewhere = (tests & set(NUMBERED)) - numbered
        said += [f"{clause.id}: {test} says that it is about another" for test in elsewhere]
    assert not said, "\n".join(said)


NUMBERED = {
    f"tests/protocol/{file.name}::{name}": [f"{kip}.{number}" for kip, number in numbers]
    for file in sorted((ROOT / "tests" / "protocol").glob("test_kip_*.py"))
    for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE)
    for numbers in [re.findall(r"_(\d{3})_(\d+)(?=_)", name)]
    if numbers
}
"""Tests that have numbers of clauses in their names, with these."""


def test_what_a_play_or_a_rule_shows_is_in_a_lab_or_says_why_not() -> None:
    said = [line for seed in SEEDS for line in in_labs.unexplained(seed)]
    assert not said, "\n".join(said)


# --- true -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("clause", ALL, ids=lambda clause: clause.id)
def test_what_a_row_names_is_there_and_shows_it(clause: Clause) -> None:
    said = list(clause.wrong())
    assert not said, "\n".join(said)


@pytest.mark.parametrize("line", sorted(ledger_page.commands(SEEDS)))
def test_every_command_of_the_page_runs(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, *words = shlex.split(line)
    main(words)
    said = capsys.readouterr()
    assert said.out, said.err
    assert not said.err


def test_what_the_ledger_once_had_wrong_is_mended() -> None:
    assert ledger_page.in_kafka(BY_ID["343.54"]).startswith("**Differently**, zk-2.8 and later.")
    assert "on by default for new clusters from 4.1" in BY_ID["903.76"].note


def test_the_page_is_made_of_the_rows(rewrite: bool) -> None:
    holds_as_made(ledger_page.PAGE, ledger_page.page(SEEDS), "tests/ledger", rewrite=rewrite)


# --- what is wrong is told ------------------------------------------------------------------------

RIGHT = Clause(
    id="903.1",
    section="Motivation",
    says="Something.",
    kafka=Becomes.SPECIFIED,
    since="3.5",
    note="",
    shown=(Played("kafka-14139", "lost orders-0 0..99"),),
    not_simulated="",
)


def told(**other: Any) -> str:
    """What is said of the row above with something else in it."""
    (line,) = RIGHT._replace(**other).wrong()
    return line


def test_a_row_that_holds_is_not_talked_about() -> None:
    assert not list(RIGHT.wrong())


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (RuleAtWork("903.made-up", "kafka-14139"), "there is no guard 903.made-up"),
        (RuleAtWork("841.fenced", "made-up"), "there is no play made-up"),
        (RuleAtWork("841.fenced", "kafka-14139", "@3.2"), "841.fenced is not on in"),
        (RuleAtWork("841.fenced", "kafka-14139", "@3.5"), "goes the same way without 841.fenced"),
        (RuleAtWork("841.fenced", "kafka-14139", "3.5"), "names no feature set"),
        (RuleAtWork("841.registered", "hole-level"), "goes the same way without 841.registered"),
        (RuleInTest("903.made-up", "A15a"), "there is no guard 903.made-up"),
        (RuleInTest("841.fenced", "A99"), "there is no row A99"),
        (RuleInTest("841.fenced", "A15a"), "A15a passes without 841.fenced"),
        (Played("made-up", "verdict=safe"), "there is no play made-up"),
        (Played("kafka-14139", "verdict=safe"), "has no line `expect verdict=safe`"),
        (PropertyInPlay("made-up", "kafka-14139", "", None), "there is no property made-up"),
        (PropertyInPlay("logs-match", "made-up", "", None), "there is no play made-up"),
        (PropertyInPlay("logs-match", "kafka-14139"), "say where logs-match `breaks`"),
        (PropertyInPlay("logs-match", "kafka-14139", "", None), "logs-match holds in kafka-14139"),
        (
            PropertyInPlay("no-committed-record-lost", "kafka-14139", None, ""),
            "no-committed-record-lost breaks in kafka-14139",
        ),
        (in_files.OwnTest("tests/made_up.py::test_it"), "there is no file tests/made_up.py"),
        (in_files.OwnTest("tests/test_names.py::test_made_up"), "there is no test test_made_up"),
        (in_files.OwnTest("tests/test_names.py::_shared"), "there is no test _shared"),
        (in_files.KafkasTest("A99"), "there is no vector A99"),
        (in_files.KafkasTest("R1"), "there is no vector R1 that is held"),
        (in_files.FieldHere("FetchRequest.colour"), "there is no field FetchRequest.colour"),
        (in_files.FieldOnWire("Colour", "AlterPartition"), "neither writes nor reads Colour"),
        (in_files.FieldOnWire("NewIsr", "BrokerHeartbeat"), "nor reads NewIsr of BrokerHeartbeat"),
        (in_files.ToldInLab("99-made-up", "Run it", "x"), "there is no lab 99-made-up"),
        (in_files.ToldInLab("00-start", "Made up", "x"), "has no heading 'Made up'"),
        (in_files.ToldInLab("00-start", "Run it", "no such words"), "does not say 'no such words'"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:30],
)
def test_an_entry_that_is_wrong_is_told(shown: Shown, said: str) -> None:
    assert said in told(shown=(shown,))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"shown": ()}, "say what shows it, or why it is not simulated"),
        ({"not_simulated": "no"}, "say what shows it, or why it is not simulated"),
        ({"since": "3.1"}, "'3.1' is none"),
        ({"kafka": Becomes.NEVER}, "never built has no release"),
        ({"kafka": Becomes.OTHERWISE}, "say in its note what Kafka does differently"),
        ({"says": "a | b"}, "one line of a table"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_row_that_contradicts_itself_is_told(other: dict[str, object], said: str) -> None:
    assert said in told(**other)


def test_a_clause_without_a_row_is_told_where_it_goes() -> None:
    (seed, *_) = SEEDS
    first, second, *rest = seed.clauses
    (said,) = missing(seed._replace(clauses=(first, *rest)))
    assert said == f"clause {second.id} has no row: add it to tests/ledger/{seed.file}"
    assert list(missing(seed._replace(clauses=(first, *seed.clauses))))
    assert list(missing(seed._replace(clauses=(second, first, *rest))))
    assert list(missing(seed._replace(clauses=(*seed.clauses, second._replace(id="1.1")))))


def test_a_guard_and_a_play_without_a_clause_are_told_where_they_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_up = "903.made-up"
    monkeypatch.setitem(GUARDS, made_up, replace(GUARDS["903.fetch-epoch"], id=made_up))
    guard, play = unnamed(SEEDS, [made_up, "497.leader-epoch"], ["903-made-up", "isr-committed"])
    assert guard.startswith('no clause names the guard 903.made-up: add { guard = "903.made-up"')
    assert play.startswith("no clause names the play 903-made-up: add { play")
    assert guard.endswith("tests/ledger/kip-903.toml")
    assert play.endswith("tests/ledger/kip-903.toml")


def test_a_column_without_a_lab_and_a_reason_that_is_over_are_told() -> None:
    untold = RIGHT._replace(shown=(Played("380-zombie", "verdict=safe"),))
    seed = SEEDS[0]._replace(clauses=(RIGHT, untold), untaught={"it is dull": ["380-zombie"]})
    missing, over = in_labs.unexplained(seed)
    assert missing.startswith("no lab teaches 903.1: say why")
    assert over.endswith(f"tests/ledger/{seed.file}: it is dull")
    assert ledger_page.taught_in(untold._replace(untaught="it is dull")) == "*No lab:* it is dull."
    assert "[**04**](04-kafka-14139.ipynb)" in ledger_page.taught_in(BY_ID["903.8"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('id = "1.1"', "clause 1.1: lacks 'says'"),
        ('id = "1.1"\nsays = "x"\nkafka = "perhaps"', "'perhaps' is not a valid Becomes"),
        ('id = "1.1"\nsays = "x"\nkafka = "a reason"\nbecause = "y"', "there is no because"),
        (
            'id = "1.1"\nsays = "x"\nkafka = "a reason"\nshown = [{ tale = "y" }]',
            "no entry begins with",
        ),
        (
            'id = "1.1"\nsays = "x"\nkafka = "a reason"\nshown = [{ play = "y" }]',
            "no entry begins with play and nothing",
        ),
    ],
)
def test_a_row_that_is_not_written_as_rows_are_is_told(row: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "kip-1.toml"
    head = 'kip = 1\ntitle = "One"\nabout = "It."\ncount = 1\n[[section]]\nname = "All"\n'
    file.write_text(f"{head}[[section.clause]]\n{row}\n")
    with pytest.raises(UnreadableRowError, match=r"kip-1\.toml, clause 1\.1") as problem:
        seed_of(file)
    assert said in str(problem.value)


def test_every_kind_of_entry_is_told() -> None:
    kinds = set(clauses.ENTRIES.values())
    assert {kind for told, _ in ledger_page.LINES for kind in told} == kinds


def test_lab_00_leads_to_the_page() -> None:
    start = (ledger_page.PAGE.parent / "00-start.ipynb").read_text(encoding="utf-8")
    assert f"({ledger_page.PAGE.name})" in start
