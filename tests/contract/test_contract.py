"""What users could do at commit 28837d0 they can do today; each difference is in the changelog.

A difference that is meant gets an entry in differences.toml: patterns of keys, and words of the
sentence in CHANGELOG.md that tells users of it.
"""

import json
import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kiplab.plays.library import find, names
from tests.contract import recorded
from tests.repeated import every_play

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
DIFFERENCES = tomllib.loads(Path(__file__).with_name("differences.toml").read_text("utf-8"))
CHANGES: dict[str, str] = {k: each["says"] for each in DIFFERENCES["meant"] for k in each["keys"]}
NEW: dict[str, str] = {k: each["says"] for each in DIFFERENCES["new"] for k in each["keys"]}
SIGNS = "Signs have one meaning each"
MOVED = ("Rules of", "Rules as in the play", "As in the play", "KIP-", "Hide")
"""How the labels begin of controls of a Lab that lie elsewhere since, or are called otherwise."""
MOVED_WORDS = "The rules of a Lab lie above its picture"


def in_signs_of_today() -> recorded.Entries:
    """The recording, in which harm had the sign that is for records at risk alone today."""
    text = json.dumps(recorded.read(), ensure_ascii=False).replace("▲", "■")
    return dict(json.loads(untitled(text)))


def untitled(text: str) -> str:
    """JSON in which plays have no title, question or comment; tokens are what else they hold."""
    runs = re.sub(r"kiplab1:[\w-]+", lambda t: str(hash(find(t[0])[0].statements[2:])), text)
    return re.sub(r"(?:title|question)  +.*?\\n| +# [^\"\\]*", "", runs)


BEFORE = cache(in_signs_of_today)
PLAYS = sorted({key.split()[1] for key in BEFORE() if key.startswith("play ")})


def difference(after: recorded.Entries) -> list[str]:
    """The keys of these entries that have another value in the recording; a search that finishes
    today and did not then is in none.
    """
    text, before = json.dumps(after, ensure_ascii=False), BEFORE()
    for now, then in DIFFERENCES["words"]:
        text = re.sub(now, then, text)
    plain = json.loads(untitled(text))
    there = [k for k in plain if k in before and not meant(k)]
    return [k for k in there if in_place(k, plain[k]) != in_place(k, before[k])]


def in_place(key: str, entry: Any) -> Any:
    """An entry of a Lab without the controls that have MOVED."""
    return [one for one in entry if not one[1].startswith(MOVED)] if key[:4] == "lab " else entry


def meant(key: str) -> bool:
    """Whether the changelog tells users of a difference."""
    return any(fnmatchcase(key, pattern) for pattern in CHANGES)


def test_every_change_that_is_meant_stands_in_the_changelog() -> None:
    changelog = " ".join(CHANGELOG.read_text("utf-8").split())
    words = {*CHANGES.values(), *NEW.values(), SIGNS, MOVED_WORDS}
    assert sorted(sentence for sentence in words if sentence not in changelog) == []


def test_every_pattern_of_a_change_is_of_something_recorded() -> None:
    assert [p for p in CHANGES if not any(fnmatchcase(key, p) for key in BEFORE())] == []


def test_every_play_is_still_there() -> None:
    assert [name for name in PLAYS if name not in names()] == []


def test_the_lists_are_the_same() -> None:
    assert difference(recorded.lists()) == []


def test_every_public_name_takes_what_it_took() -> None:
    after = recorded.signatures()
    gone = [k for k in BEFORE() if k.startswith("signature ") and k not in after and not meant(k)]
    assert (gone, difference(after)) == ([], [])
    assert {key for key in after if key not in BEFORE()} == NEW.keys()


def test_matrices_and_the_work_of_a_class_are_the_same() -> None:
    assert difference(recorded.matrices() | recorded.class_report()) == []


@pytest.mark.long(quick="::test_matrices_and_the_work_of_a_class_are_the_same")
def test_a_study_of_a_fleet_reports_the_same() -> None:
    assert difference(recorded.fleet_report()) == []


@pytest.mark.parametrize("name", PLAYS)
def test_a_play_reports_the_same(name: str) -> None:
    assert difference(recorded.played(name)) == []


@pytest.mark.parametrize("name", every_play(PLAYS))
def test_a_lab_offers_the_same_at_the_end(name: str) -> None:
    steps = [int(key.split()[2]) for key in BEFORE() if key.startswith(f"lab {name} ")]
    assert difference(recorded.offered(name, [max(steps)])) == []


@pytest.mark.long(quick="tests/contract/test_contract.py::test_a_lab_offers_the_same_at_the_end")
@pytest.mark.parametrize("name", PLAYS)
def test_a_lab_offers_the_same_at_every_step(name: str) -> None:
    assert difference(recorded.offered(name)) == []


@pytest.mark.long(quick="tests/contract/test_contract.py::test_a_play_reports_the_same")
@pytest.mark.parametrize("name", PLAYS)
def test_files_searches_and_recorded_answers_are_the_same(name: str) -> None:
    after = recorded.drawn(name) | recorded.searched(name) | recorded.judged(name)
    assert difference(after) == []
