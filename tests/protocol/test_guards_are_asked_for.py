"""Every guard of the table is asked for by a rule, and every id that is written stands in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import kiplab
from kiplab.protocol.guards import GUARDS, Guard, named
from kiplab.protocol.releases import METADATA_VERSIONS, RELEASES
from tests.protocol.asked_for import asked_for, without_guard, without_rule
from tests.protocol.looked_at import Vector, all_vectors, without

PACKAGE = Path(kiplab.__file__).parent
ID = re.compile(r"(\d+|kafka-\d+|pr-\d+)\.[a-z]+(-[a-z]+)*|zookeeper\.[a-z]+(-[a-z]+)+")
"""With ZooKeeper at least two words: one word after the dot is a setting of Kafka's."""
MADE_UP = "903.only-here"


def sources(folder: str) -> dict[str, str]:
    """The text of every file of the package below `folder`."""
    files = sorted((PACKAGE / folder).rglob("*.py"))
    return {str(f.relative_to(PACKAGE.parent)): f.read_text(encoding="utf-8") for f in files}


def texts() -> Iterator[tuple[str, str]]:
    """Every text that has the form of a guard's id, with its place."""
    for file, text in sources(".").items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and ID.fullmatch(str(node.value)):
                yield f"{file}:{node.lineno}", str(node.value)


def test_every_guard_is_asked_for() -> None:
    said = list(without_rule(GUARDS, asked_for(sources("protocol"))))
    assert not said, "\n".join(said)


def test_every_guard_that_is_asked_for_is_there() -> None:
    said = list(without_guard(GUARDS, asked_for(sources("protocol"))))
    assert not said, "\n".join(said)


def test_every_id_has_the_form_of_one_and_every_text_of_that_form_is_one() -> None:
    assert all(ID.fullmatch(id) for id in GUARDS)
    strangers = [f"{place} {id}" for place, id in texts() if not named(id)]
    assert not strangers, f"no such guard; correct the id, or add it to guards.txt: {strangers}"


def test_every_guard_requires_what_some_release_has() -> None:
    spoken = max(release.alter_partition for release in RELEASES.values())
    for guard in GUARDS.values():
        assert guard.metadata_version in (None, *METADATA_VERSIONS), guard.id
        assert (guard.alter_partition_version or 0) <= spoken, guard.id


# Every guard is seen by a vector, also one that no release has


@pytest.fixture(scope="module")
def found() -> list[Vector]:
    """All vectors as they stand; the first test that uses them sees that they pass."""
    return all_vectors()


def needed_by(id: str, vectors: list[Vector]) -> Vector | None:
    """A vector that has the guard, and fails when it is off at every node, or None."""
    return next((v for v in vectors if v.has(id) and not v.passes(without(id))), None)


def test_every_vector_passes_with_what_its_release_has(found: list[Vector]) -> None:
    assert found
    assert all(vector.passes(lambda features: features) for vector in found)


def without_vector(guard: Guard) -> str:
    """What to add for a guard that makes no difference to any vector."""
    if guard.built:
        return (
            f"no vector fails when {guard.id} is off: add one to tests/protocol/test_vectors_*.py,"
            " a row whose outcome hangs on it"
        )
    return (
        f"no vector has {guard.id} on and fails when it is off: add one to"
        f' tests/protocol/test_vectors_alternatives.py, `@with_guard("{guard.id}", "3.2-4.3")` over'
        " a test that says what a cluster does with it and no other does"
    )


@pytest.mark.parametrize("guard", GUARDS.values(), ids=lambda g: g.id)
def test_some_vector_fails_without_the_guard(guard: Guard, found: list[Vector]) -> None:
    assert needed_by(guard.id, found), without_vector(guard)


def test_a_guard_that_changes_nothing_is_needed_by_no_vector(
    found: list[Vector], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GUARDS, MADE_UP, replace(GUARDS["903.fetch-epoch"], id=MADE_UP))
    assert needed_by(MADE_UP, found) is None


def test_an_alternative_that_changes_nothing_is_told_where_its_vector_goes(
    found: list[Vector], monkeypatch: pytest.MonkeyPatch
) -> None:
    alternative = replace(GUARDS["903.bump-leader-epochs"], id=MADE_UP)
    monkeypatch.setitem(GUARDS, MADE_UP, alternative)
    assert needed_by(MADE_UP, found) is None
    told = without_vector(alternative)
    assert told.startswith(f"no vector has {MADE_UP} on and fails when it is off: add one to")
    assert "tests/protocol/test_vectors_alternatives.py" in told


# A guard that is not there yet is tried on the table


def test_a_guard_that_no_rule_asks_for_is_told() -> None:
    (told,) = without_rule([MADE_UP], asked_for(sources("protocol")))
    assert told.startswith(f"nothing asks for the guard {MADE_UP}: ask for it in its rule")


@pytest.mark.parametrize(
    "rule",
    [
        'def rule(here):\n    return "903.only-here" in here.active\n',
        'def rule(features):\n    return "903.only-here" not in features.active(CONTROLLER)\n',
        'def rule(active):\n    guard = "903.only-here"\n    return guard in active\n',
        'CHECKS: T = (("903.only-here", 1),)\n'
        "def rule(active):\n    return [check for guard, check in CHECKS if guard in active]\n",
        'CHECKS = ("903.only-here",)\n'
        "def rule(active):\n    for guard in CHECKS:\n        return guard in active\n",
        'def rule(self):\n    return ("903.only-here", True) in self.overrides\n',
    ],
)
def test_an_id_that_is_asked_for_and_not_in_the_table_is_told_with_its_place(rule: str) -> None:
    (told,) = without_guard(GUARDS, asked_for({"rule.py": rule}))
    assert told.startswith("rule.py:")
    assert f"asks for the guard {MADE_UP}, which is not there: add it to the table" in told


@pytest.mark.parametrize(
    "mention",
    [
        '"""903.only-here is no question."""\n',
        'def f(x):\n    return refusal(x, "903.only-here")\n',
    ],
)
def test_an_id_that_is_only_mentioned_is_not_asked_for(mention: str) -> None:
    assert asked_for({"rule.py": mention}) == {}


def test_a_question_that_cannot_be_read_is_told() -> None:
    with pytest.raises(ValueError, match=r"rule.py:2: which guard does `guard in here\.active`"):
        asked_for({"rule.py": "def rule(here, guard):\n    return guard in here.active\n"})
