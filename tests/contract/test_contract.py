"""What users could do at commit 28837d0 they can do today; each difference is in the changelog.

A difference that is meant gets an entry in CHANGES: a pattern of keys, and words of the sentence in
CHANGELOG.md that tells users of it.
"""

import json
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kiplab.plays.library import names
from tests.contract import recorded
from tests.repeated import every_play

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
WORDS = "Texts use Kafka's own words"
CHANGES: dict[str, str] = {
    "signature kiplab.real_mail": "`kiplab.real_mail` is `kiplab.real_control_requests`",
    "signature kiplab.two_lives": "`kiplab.two_lives` is `kiplab.two_incarnations`",
    "signature kiplab.Lab": "`lab.bench` is `lab.playback`",
    "signature kiplab.AnswerSheet": "Every exercise has a form",
    "signature kiplab.Ordering": "Events are put in order by dragging",
    "signature kiplab.classroom.Checked": "a mark at each row",
    "signature kiplab.classroom.Ordering": "Events are put in order by dragging",
    "signature kiplab.classroom.Prediction": "are compared with what comes true",
    "guards": WORDS,
    "plays": WORDS,
    "class": WORDS,
    "fleet report": WORDS,
    "play 380-newer-epoch": WORDS,
    "play 380-stale-controlled-shutdown": WORDS,
    "play 380-stale-stop-replica": WORDS,
    "play hole-level": WORDS,
    "play hole-never-level": WORDS,
    "play kafka-14139-zookeeper": WORDS,
    "signature kiplab.check_*": "in place of 39 functions",
    "signature kiplab.RealRun": "`RealRun` has no `recording` any more",
    "signature kiplab.predict": "needs no more than the id of a lab's prediction",
    "signature kiplab.classroom.check_order": "`kiplab.classroom.check_order` is gone",
    "signature kiplab.classroom.predict": "needs no more than the id of a lab's prediction",
}
NEW = {
    "signature kiplab.classroom.MESSAGES": "are `kiplab.classroom.MESSAGES` and `one_check_off`",
    "signature kiplab.classroom.one_check_off": "`kiplab.classroom.MESSAGES` and `one_check_off`",
    "signature kiplab.check": "An exercise is judged by its id",
    "signature kiplab.explain": "`kiplab.explain` stands beside it",
    "signature kiplab.real_control_requests": "is `kiplab.real_control_requests`",
    "signature kiplab.stations": "on top of each lab: what is done",
    "signature kiplab.two_incarnations": "is `kiplab.two_incarnations`",
}
"""Public names that came since, and words of the sentence that tells users of each."""
WITHOUT_DROP = {
    "missed-bounce": (2, 3),
    "new-bounced-dead": (2, 3, 4, 5, 6),
    "overwritten-checkpoint": (3, 4, 5, 6, 7),
    "rising-session-ids": (2, 3),
    "session-expiry": (1,),
    "session-id": (6, 7),
    "stale-stop-replica": (1, 2, 3),
    "two-step-upgrade": (1, 2, 3, 7, 8, 9),
    "zombie": (3, 4, 5),
}
"""Steps of plays of KIP-380 at which the chosen message is a watch event."""
CHANGES |= {
    f"lab 380-{play} {step}": "a watch event cannot be dropped while its session lasts"
    for play, steps in WITHOUT_DROP.items()
    for step in steps
}
REWORDED = {
    "minimise {play}": (
        *("380-stale-controlled-shutdown", "380-stale-stop-replica"),
        *("hole-level", "hole-never-level", "kafka-14139", "kafka-14139-zookeeper"),
    ),
    "real {play} *": (
        *("841-removed-meanwhile", "903-late-fetch", "alter-partition-eight"),
        *("alter-partition-mended", "epochs-fences", "timeline-first"),
    ),
    "timeline * {play}": (
        *("380-new-bounced-dead", "380-newer-epoch", "380-next-try", "380-overwritten-checkpoint"),
        *("380-stale-controlled-shutdown", "380-stale-stop-replica", "380-two-step-upgrade"),
        *("903-bump-leader-epochs", "alter-partition-eight", "alter-partition-mended"),
        *("epochs-fences", "hole-level", "hole-never-level", "kafka-14139-zookeeper"),
        "timeline-first",
    ),
}
"""Plays whose titles, comments or refusals have sentences in other words, by what shows them."""
CHANGES |= {key.format(play=play): WORDS for key, plays in REWORDED.items() for play in plays}
LOSS = "Green says that committed records are safe"
LOSSY = "704-*", "consumer-truncation", "kafka-1*", "last-replica", "unclean-election*"
"""Plays in which somebody leads without committed records: its role says so in every text."""
CHANGES |= {f"timeline {ending} {play}": LOSS for ending in ("json", "txt") for play in LOSSY}
CHANGES["timeline svg *"] = LOSS
CAPTION = "The caption of a raw request says whether it was refused"
ASKED = ("343-isr-change", "343-two-processes", "841-[otu]*")
"""Plays with raw requests."""
CHANGES |= {f"timeline * {play}": CAPTION for play in ASKED}
CHANGES |= dict.fromkeys(
    ("lab hole-level *", "lab hole-never-level *"), "Where there are more than six messages"
)
SIGNS = "Signs have one meaning each"
MOVED = ("Rules of", "Rules as in the play", "As in the play", "KIP-", "Hide")
"""How the labels begin of controls of a Lab that lie elsewhere since, or are called otherwise."""
MOVED_WORDS = "The rules of a Lab lie above its picture"


def in_signs_of_today() -> recorded.Entries:
    """The recording, in which harm had the sign that is for records at risk alone today."""
    text = json.dumps(recorded.read(), ensure_ascii=False).replace("▲", "■")
    entries: recorded.Entries = json.loads(text)
    return entries


BEFORE = cache(in_signs_of_today)
PLAYS = sorted({key.split()[1] for key in BEFORE() if key.startswith("play ")})


def difference(after: recorded.Entries) -> list[str]:
    """The keys of these entries that have another value in the recording.

    A search that finishes today and did not then is in no recording.
    """
    # JSON knows no tuples.
    plain = json.loads(json.dumps(after))
    before = BEFORE()
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
