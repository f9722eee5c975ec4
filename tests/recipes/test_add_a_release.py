"""CONTRIBUTING.md, "Add a release": each step that is left out is told, and then it is complete."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.protocol.looked_at import tables_of_vectors
from tests.recipes.copies import Copied, Ran, copy

pytestmark = pytest.mark.long(
    quick="tests/recipes/test_add_a_play.py::test_what_a_play_lacks_is_told"
)

ENTRY = """\
4.4 kraft code=4.4.0 lowest=3.3-IV3 latest=4.4-IV0 alter-partition=2..3
    fetch=18 register=4 change=2: 4.4-IV0
"""
"""A made-up release, as a contributor writes it at the end of the table."""
OPERATOR_LOG = "tests/rows/test_operator_log.py"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """A copy with one release more, and nothing else done for it."""
    made = copy(tmp_path_factory.mktemp("copy"))
    entry_stands(made, ENTRY)
    return made


@pytest.fixture(scope="module")
def told(copied: Copied) -> str:
    """What the specification says of a release that is only an entry."""
    ran: Ran = copied.test(*copied.naming("RELEASES", "tests/protocol"), OPERATOR_LOG)
    assert not ran.passed
    return ran.text


def entry_stands(made: Copied, entry: str) -> None:
    """The table ends with `entry`."""
    changed(made, "kiplab/protocol/releases.txt", lambda text: text + entry)


def changed(made: Copied, file: str, change: Callable[[str], str]) -> None:
    path = made.path / file
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before, f"{file} is no longer what this recipe changes"
    path.write_text(after, encoding="utf-8")


@pytest.mark.parametrize(
    "sentence",
    [
        *(
            f"no vector of {file} looks at Kafka 4.4: read its source"
            for file, seen in tables_of_vectors().items()
            if "4.3" in seen
        ),
        "add AlterPartition and Fetch versions to VERSIONS for ['4.4']",
        "read what QuorumController logs at ['4.4'], and add it to FAILED",
        "README.md says `3.2 to 4.3`; say `3.2 to 4.4`",
        "labs/00-start.ipynb says `3.2 to 4.3`; say `3.2 to 4.4`",
    ],
)
def test_what_a_new_release_lacks_is_told(told: str, sentence: str) -> None:
    assert sentence in told


@pytest.mark.parametrize(
    ("without", "sentence"),
    [
        (" lowest=3.3-IV3", "KeyError: 'lowest'"),
        (" latest=4.4-IV0", "KeyError: 'latest'"),
        (" alter-partition=2..3", "KeyError: 'alter-partition'"),
        (" register=4", "KeyError: 'register'"),
    ],
)
def test_an_entry_that_lacks_something_does_not_import(
    tmp_path_factory: pytest.TempPathFactory, without: str, sentence: str
) -> None:
    made = copy(tmp_path_factory.mktemp("copy"))
    assert without in ENTRY
    entry_stands(made, ENTRY.replace(without, ""))
    ran = made.test("tests/protocol/test_features.py")
    assert not ran.passed
    assert sentence in ran.text


@pytest.mark.usefixtures("told")
def test_with_its_vectors_and_its_words_the_recipe_is_complete(copied: Copied) -> None:
    for path in vectors(copied):
        changed(copied, str(path.relative_to(copied.path)), reaching_to_it)
    changed(copied, "tests/protocol/test_features.py", one_more('    "4.3": (3, 18),\n'))
    changed(copied, OPERATOR_LOG, lambda text: text.replace('"4.3"),', '"4.3", "4.4"),', 1))
    for file in ("README.md", "labs/00-start.ipynb"):
        changed(copied, file, lambda text: text.replace("3.2 to 4.3", "3.2 to 4.4"))
    ran = copied.test("tests/protocol", OPERATOR_LOG, "tests/plays", "tests/test_cli.py")
    assert ran.passed, ran.text


def vectors(made: Copied) -> list[Path]:
    """The files in which vectors say how far they reach."""
    files = sorted((made.path / "tests" / "protocol").glob("*.py"))
    return [file for file in files if '-4.3"' in file.read_text(encoding="utf-8")]


def reaching_to_it(text: str) -> str:
    """The rows that hold for 4.3 hold for the made-up release."""
    return text.replace('-4.3"', '-4.4"')


def one_more(line: str) -> Callable[[str], str]:
    """The same line once more, for the made-up release."""
    return lambda text: text.replace(line, line + line.replace("4.3", "4.4"))
