"""Lab 06: what it says of the election, of what was built of KIP-704, of clients, and of a disk."""

import re

import pytest

import kiplab
from kiplab.classroom.exercises.vanishing_offsets import VANISHING_RUN
from kiplab.engine.nodes import is_up
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.protocol.facts import LeaderElected, Polled, Truncated
from tests.labs.running import cells, exit_run, prose, texts

LAB = "06-unclean-recovery"
PLAY, SPECIFIED = "unclean-election", "704.specified"


def test_recovering_lasts_until_the_isr_grows() -> None:
    kept = "expect    orders-0 isr=2 recovery=recovering"
    assert re.sub(r" +", " ", kept) in re.sub(r" +", " ", source(PLAY))
    assert "recovery=recovered" in source(PLAY).partition("catch-up 3")[2]


def source(play: str) -> str:
    """A play's lines, expectations with them."""
    return "\n".join(s.text for s in load(play).statements)


def test_the_six_requests_are_those_of_the_play() -> None:
    said = re.findall(r"\*\* \| broker (\d) \| \{(.+)\} \| RECOVER(\w+)", prose(LAB))
    play = re.sub(r"@\d+", "", source("704-six-requests"))
    asked = [(b, isr.replace(" ", ""), str(int(end == "ING"))) for b, isr, end in said]
    assert asked == re.findall(r"from=(\d) isr=(\S+) recovery=(\d)", play)


def test_the_setting_is_shown_before_3_9_and_on_it() -> None:
    assert all(f'"{kafka}"' in cells(LAB, "code")["setting"] for kafka in ("3.5", "3.8", "3.9"))


def test_each_consumer_begins_where_the_lab_says() -> None:
    rows = re.findall(r"^\| \*\*([a-z]+)\*\*[^|]*\| (\d+) \|", prose(LAB), re.MULTILINE)
    positions = {
        s.arg("name"): s.arg("position") or "0"
        for s in load("704-consumers").statements
        if s.verb == "consumer"
    }
    assert rows
    assert [(name, at) for name, at in rows if positions[name] != at] == []


def test_who_goes_on_without_the_transaction_is_given_what_was_aborted() -> None:
    run = kiplab.run("704-transactions", on=SPECIFIED)
    polls = (e for e in run.events if isinstance(e, Polled))
    assert [e.aborted for e in polls if e.consumer == "later"] == [6, 0]


def test_the_checkpoint_cuts_nothing_but_80_to_99() -> None:
    run = kiplab.run(parse(VANISHING_RUN))
    assert run.lost == [{"partition": "orders-0", "first": 80, "last": 99}]
    assert "log=40@4,20@5" in VANISHING_RUN
    assert "fetch 2" in VANISHING_RUN


def test_the_last_replica_is_elected_cleanly_without_its_tail() -> None:
    run = exit_run(LAB, "\nend = ")
    assert run.lost == [{"partition": "orders-0", "first": 90, "last": 99}]
    elected = [e for e in run.events if isinstance(e, LeaderElected)]
    assert (elected[-1].leader, elected[-1].unclean) == (1, False)
    assert run.refusals == []
    assert is_up(run.stage.cluster, elected[-1].leader)
    cuts = [(e.node, e.first, e.last) for e in run.events if isinstance(e, Truncated)]
    assert cuts == [(2, 90, 94)]


def test_the_exit_ticket_is_about_a_release_without_eligible_leader_replicas() -> None:
    """On by default in new clusters from 4.1 on: there the election is unclean."""
    code = cells(LAB, "code")
    assert "Kafka **3.9**, `min.insync.replicas=1`" in cells(LAB, "markdown")["exit"]
    assert '"kafka 3.9; ' in code["exit-compare"]
    assert 'kafka="3.9"' in code["exit-story"]
    assert "(Kafka 3.9)" in exit_run(LAB, "\nend = ").text()


def test_what_no_release_built_is_said_plainly() -> None:
    said = texts(LAB)
    assert "**No release ever built it.**" in said["twin-why"]
    assert "**unjudged**" in said["fidelity"]
    assert "KIP-966" in said["exit-why"]


@pytest.mark.parametrize("kafka", ["3.5", "4.2"])
def test_a_real_controller_decides_the_run_the_same(kafka: str) -> None:
    asked = kiplab.real(PLAY, kafka=kafka, live=False)
    assert (asked.agree, asked.verdict) == (True, {"engine": "loss", "kafka": "loss"})


@pytest.mark.long(
    quick="tests/explore/test_recovery_level.py"
    "::test_what_a_recovering_leader_gives_is_contradicted_in_nine_steps"
)
def test_the_search_finds_nothing_with_one_election_and_nine_steps_with_two() -> None:
    """Rule by rule, and the thirteen steps: tests/explore/test_recovery_level.py."""
    said = cells(LAB, "code")["search"]
    assert 'level="recovery", on="704.specified", elections=1' in said
    assert 'level="recovery", fences=2' in said
    two = parse(
        "kafka 3.5\nbroker 1\nbroker 2\n"
        "topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 log=1@5\n"
    )
    for on in ((), SPECIFIED):
        assert kiplab.explore(two, level="recovery", on=on, elections=1).verdict == "proved"
    assert kiplab.explore(two, level="recovery", fences=2).steps == 9
