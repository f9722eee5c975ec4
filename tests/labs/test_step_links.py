""" "Step 6" in what a lab says is a link that leads its Lab there."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom import INCIDENT_DUMP
from kiplab.classroom.forms.held_back import Prose
from tests.labs.running import NAMES, cells, texts

LINK = re.compile(r"\[(?:steps? )?(\d+)\]\(#([^)]+)-step-(\d+)\)", re.IGNORECASE)
READS_A_LOG = re.compile(r"\w+ = kiplab\.read_metadata_log\(")
EXERCISE = re.compile(r"kiplab\.check\(")
NUMBERS = re.compile(r"\bsteps? \d+(?:(?:, | and |, and )\d+)*", re.IGNORECASE)


def steps_of_labs(name: str) -> dict[str, int]:
    """How many steps the play of each of its Labs has, by the play's name."""
    known: dict[str, Any] = {"kiplab": kiplab, "INCIDENT_DUMP": INCIDENT_DUMP}
    for source in cells(name, "code").values():
        if READS_A_LOG.search(source):
            exec(source.splitlines()[0], known)
        if "kiplab.Lab(" in source and not EXERCISE.search(source):
            known |= dict.fromkeys(re.findall(r"\bafter=(\w+)", source))
            exec(source, known)
    labs = [value for value in known.values() if isinstance(value, kiplab.Lab)]
    return {lab.playback.own.name: lab.playback.last for lab in labs}


def test_a_number_that_is_no_link_is_found() -> None:
    assert NUMBERS.findall(LINK.sub("", "See steps 5, 9 and 12; [Step 6](#a-b-step-6).")) == [
        "steps 5, 9 and 12"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_step_that_it_speaks_of_is_a_link(name: str) -> None:
    bare = {id: NUMBERS.findall(LINK.sub("", text)) for id, text in texts(name).items()}
    said = [f"{id}: {words}" for id, found in bare.items() for words in found]
    assert not said, (
        f"lab {name} speaks of steps without a link: {'; '.join(said)}. Write"
        " [step 6](#kafka-14139-step-6), with the play of the Lab that it leads; of the steps of"
        " another run say «at 6», not «step 6»"
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_to_a_step_of_one_of_its_labs(name: str) -> None:
    steps = steps_of_labs(name)
    for id, text in texts(name).items():
        assert text.count("](#") == len(LINK.findall(text)), id
        for said, play, step in LINK.findall(text):
            assert said == step, (id, play, step)
            assert play in steps, f"{id}: no Lab of {name} has the play {play!r}: {sorted(steps)}"
            assert 0 <= int(step) <= steps[play], f"{id}: {play} has {steps[play]} steps"


def test_the_labs_have_such_links() -> None:
    linked = [name for name in NAMES if any(LINK.search(text) for text in texts(name).values())]
    assert set(linked) >= {"00-start", "02-four-epochs", "04-kafka-14139"}


def test_where_a_text_is_plain_a_link_says_its_words_alone() -> None:
    assert repr(Prose("At [step 6](#kafka-14139-step-6) nobody objects.")) == (
        "At step 6 nobody objects."
    )
