"""What an unclean election begins: what is given meanwhile, and what is to stay afterwards."""

import pytest

from kiplab.engine.cluster import UncleanLeaderEpoch
from kiplab.engine.events import PropertyBroken
from kiplab.engine.properties import GIVEN_WHILE_RECOVERING_STAYS, RECOVERED_RECORDS_STAY
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage

GIVEN, STAYS = GIVEN_WHILE_RECOVERING_STAYS.id, RECOVERED_RECORDS_STAY.id
HEAD = """\
kafka     3.5
broker    1
broker    2
topic     orders replicas=1,2 isr=1 leader=1 leader-epoch=5 log=10@5
replica   orders-0 broker=2 log=8@5
"""
ELECTED = "expire 1\nelect orders-0 unclean=yes\nheartbeat 1\n"
AND_BACK = "expire 2\nelect orders-0 unclean=yes\n"


def played(lines: str, *on: str) -> Stage:
    switches = "".join(f"on {name}\n" for name in on)
    return run_play(parse(HEAD + switches + lines, "made up"))


def broken(stage: Stage) -> dict[str, bool]:
    """The properties that broke, and whether they were promised."""
    found = [e for e in stage.events if isinstance(e, PropertyBroken)]
    return {e.property: e.promised for e in found if e.property in (GIVEN, STAYS)}


def reign(stage: Stage) -> UncleanLeaderEpoch | None:
    return stage.cluster.observed[0].unclean_epoch


READ = f"{ELECTED}produce orders-0 count=1\npoll orders-0\n{AND_BACK}"


@pytest.mark.parametrize(
    "on",
    [
        (),
        ("704.leader-refuses", "704.follower-refuses", "704.unclean-again"),
        ("704.leader-recovers", "704.follower-refuses", "704.unclean-again"),
    ],
    ids=["as implemented", "without leader-recovers", "without leader-refuses"],
)
def test_what_a_recovering_leader_gives_may_be_contradicted(on: tuple[str, ...]) -> None:
    assert broken(played(READ, *on)) == {GIVEN: False}


def test_as_specified_it_gives_nothing() -> None:
    assert broken(played(READ, "704.specified")) == {}


def test_before_an_unclean_election_there_is_no_reign() -> None:
    assert reign(played("produce orders-0 count=1\npoll orders-0\n")) is None


def test_what_is_given_counts_until_the_recovery_is_over() -> None:
    stage = played(f"{ELECTED}poll orders-0\n")
    found = reign(stage)
    assert found is not None
    assert (found.consumed.end, found.committed.end) == (8, 8)
    over = reign(played(f"{ELECTED}poll orders-0\ncatch-up 1\n"))
    assert over is not None
    assert not over.consumed.epochs


def test_what_a_leader_commits_that_has_not_heard_of_the_election_does_not_count() -> None:
    lines = (
        "hold metadata to=1\nexpire 1\nelect orders-0 unclean=yes\nproduce orders-0 to=1 count=5\n"
    )
    stage = played(f"{lines}finish-recovery orders-0\n", "704.specified")
    found = reign(stage)
    assert found is not None
    assert found.committed.end == 8
    assert broken(stage) == {}


def test_another_unclean_election_excuses_what_was_committed_under_the_one_before() -> None:
    stage = played(
        f"{ELECTED}finish-recovery orders-0\nproduce orders-0 count=2\n{AND_BACK}", "704.specified"
    )
    assert broken(stage) == {}


def test_a_last_member_that_loses_its_disk_ends_the_reign() -> None:
    stage = played(f"{ELECTED}finish-recovery orders-0\ncrash 2 disk=replaced\n", "704.specified")
    assert reign(stage) is None
