"""CONTRIBUTING.md, "Add a guard": each step that is left out is told, and then it is complete."""

import pytest

from tests.recipes.copies import Copied, copy

pytestmark = pytest.mark.long(
    quick="tests/recipes/test_add_a_play.py::test_what_a_play_lacks_is_told"
)

TABLE, RULE = "kiplab/protocol/guards.txt", "kiplab/protocol/kraft/alter_partition.py"
GUARD = """\
704.made-up refusal error=INVALID_REQUEST since=3.9
    A made-up clause.
"""
CHECK = """\
def _made_up(case: _Case) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 1: one partition stays as it is.
    return compare("partition", case.held.name, "another") if case.held.name == "odd-0" else None


"""
ROW = '    ("704.made-up", _made_up, _E.INVALID_REQUEST),\n'
VECTOR = """\
    refusals("made-up", "3.9", ANY, V0_3, (ACTIVE, but(FULL, name="odd-0")),
             ask(1, 101, item("odd-0", {1: 101, 2: 102}, le=5, pe=10)), E.INVALID_REQUEST),
"""
VECTORS = "tests/protocol/rows.py"
ASKED_FOR = "tests/protocol/test_guards_are_asked_for.py"
VECTOR_FAILS = "(some_vector_fails and made-up)"
ALTERNATIVE = """\
903.made-up alternative modes=kraft
    A made-up clause.
"""
BELIEVED = """\
    # KIP-903, Rejected Alternatives, 1: made up.
    if "903.made-up" in active:
        return None
"""
UNFELT = '"Nobody does that here." = ["704.made-up"]\n'
# What stands there already, beside what is added.
GUARD_AFTER = "# The leader decides what to propose and when a record is committed.\n"
CHECK_BEFORE = "_E = KafkaError\n"
VECTOR_AFTER = "    # Rows of the decision table that no vector reaches\n"
ALTERNATIVE_AFTER = "# What KIP-903 rejected.\n"
BELIEVED_BEFORE = "    for guard, check, error in CHECKS:\n"
WITHOUT_EFFECT = "[without_effect]\n"
ROW_AFTER = '    ("704.no-way-back", _no_way_back, _E.INVALID_REQUEST),\n'


@pytest.fixture
def copied(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """A copy as it is now."""
    return copy(tmp_path_factory.mktemp("copy"))


def stands(made: Copied, file: str, there: str, then: str) -> None:
    """`then` takes the place of what is `there`."""
    path = made.path / file
    before = path.read_text(encoding="utf-8")
    assert before.count(there) == 1, f"{file} is no longer what this recipe changes"
    path.write_text(before.replace(there, then), encoding="utf-8")


def told(made: Copied, *tests: str) -> str:
    """What the tests of the copy say, which do not pass."""
    ran = made.test(*tests)
    assert not ran.passed
    return ran.text


def test_a_guard_that_is_only_in_the_table_is_told(copied: Copied) -> None:
    stands(copied, TABLE, GUARD_AFTER, GUARD + GUARD_AFTER)
    said = told(copied, ASKED_FOR, "-k", "every_guard_is_asked")
    assert "nothing asks for the guard 704.made-up: ask for it in its rule" in said


def test_a_check_whose_guard_is_not_in_the_table_is_told(copied: Copied) -> None:
    stands(copied, RULE, CHECK_BEFORE, CHECK + CHECK_BEFORE)
    stands(copied, RULE, ROW_AFTER, ROW_AFTER + ROW)
    said = told(copied, ASKED_FOR, "-k", "asked_for_is_there")
    assert "asks for the guard 704.made-up, which is not there: add it to the table in" in said


def test_a_guard_that_begins_with_no_release_does_not_import(copied: Copied) -> None:
    stands(copied, TABLE, GUARD_AFTER, GUARD.replace("3.9", "3.99") + GUARD_AFTER)
    said = told(copied, "tests/protocol/test_features.py")
    assert "a guard says since=3.99, and there is no such release" in said


def test_a_guard_that_does_not_say_since_when_is_told(copied: Copied) -> None:
    stands(copied, TABLE, GUARD_AFTER, GUARD.replace(" since=3.9", "") + GUARD_AFTER)
    said = told(copied, "tests/protocol/test_features.py")
    assert "say since when it is built, or which mode it is meant for: ['704.made-up']" in said


def test_a_check_without_its_clause_is_told(copied: Copied) -> None:
    bare = "".join(line for line in CHECK.splitlines(keepends=True) if "KIP" not in line)
    stands(copied, TABLE, GUARD_AFTER, GUARD + GUARD_AFTER)
    stands(copied, RULE, CHECK_BEFORE, bare + CHECK_BEFORE)
    stands(copied, RULE, ROW_AFTER, ROW_AFTER + ROW)
    said = told(copied, "tests/protocol/test_sources.py", "-k", "made-up and beside")
    assert "asks for 704.made-up; write beside the check" in said


def test_an_alternative_without_a_vector_is_told(copied: Copied) -> None:
    stands(copied, TABLE, ALTERNATIVE_AFTER, ALTERNATIVE_AFTER + ALTERNATIVE)
    stands(copied, RULE, BELIEVED_BEFORE, BELIEVED + BELIEVED_BEFORE)
    compiled = "tests/explore/test_compiled_guards.py"
    said = told(copied, ASKED_FOR, compiled, "-k", f"{VECTOR_FAILS} or every_guard_is_compiled")
    assert "no vector has 903.made-up on and fails when it is off: add one to tests/prot" in said
    assert "nobody says what 903.made-up does to the compiled search: compile its check" in said


def test_a_refusal_that_no_log_has_words_for_is_told(copied: Copied) -> None:
    stands(copied, TABLE, GUARD_AFTER, GUARD + GUARD_AFTER)
    stands(copied, RULE, CHECK_BEFORE, CHECK + CHECK_BEFORE)
    stands(copied, RULE, ROW_AFTER, ROW_AFTER + ROW)
    said = told(copied, "tests/rows/test_rejection_lines.py")
    assert "704.made-up refuses without a line in the log of Kafka 3.2, 3.3" in said
    assert "add its words to [rejections] of kiplab/rows/log_words.toml" in said


def test_a_guard_that_the_fleet_does_not_know_is_told_and_with_a_reason_it_does(
    copied: Copied,
) -> None:
    mirrored = "kiplab/fleet/kernel/mirrored_guards.toml"
    stands(copied, TABLE, GUARD_AFTER, GUARD + GUARD_AFTER)
    said = told(copied, "tests/fleet/test_mirrored_guards.py")
    assert "mirror them in kernel/mirrored_guards.py, or say why not: {'704.made-up'}" in said
    stands(copied, mirrored, WITHOUT_EFFECT, WITHOUT_EFFECT + UNFELT)
    assert copied.test("tests/fleet/test_mirrored_guards.py").passed


def test_a_guard_without_a_vector_is_told_and_with_one_the_rules_are_complete(
    copied: Copied,
) -> None:
    stands(copied, TABLE, GUARD_AFTER, GUARD + GUARD_AFTER)
    stands(copied, RULE, CHECK_BEFORE, CHECK + CHECK_BEFORE)
    stands(copied, RULE, ROW_AFTER, ROW_AFTER + ROW)
    said = told(copied, ASKED_FOR, "-k", VECTOR_FAILS)
    assert "no vector fails when 704.made-up is off: add one to tests/protocol/test_vecto" in said
    stands(copied, VECTORS, VECTOR_AFTER, VECTOR + VECTOR_AFTER)
    of_guards = copied.naming("GUARDS", "tests/protocol", "tests/engine", "tests/plays")
    ran = copied.test(*of_guards, "tests/plays/test_golden.py", "tests/test_cli.py")
    assert ran.passed, ran.text
