"""Clients in plays: consumers in the header and in `expect`, producers, and raw fetches."""

import pytest

from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.verdict import breaks_promise, refused
from kiplab.protocol.facts import LeaderElected
from kiplab.protocol.features import parse_features
from kiplab.protocol.messages import FetchResponse

TWO = "broker 1\nbroker 2\n"


def ran(text: str, release: str = "3.5") -> Stage:
    return run_play(parse(TWO + text), parse_features(release))


def failed(stage: Stage) -> list[str]:
    return [f"{e.text}: {e.actual}" for e in stage.expectations if e.status != "held"]


POSITIONS = """\
topic t log=4@3,6@5
consumer t-0 position=8
consumer t-0 name=far position=40 reset=earliest
poll t-0
expect read=8..9 error=NONE
expect consumer t-0 position=10 last-epoch=5 leader=1 leader-epoch=5
poll t-0 consumer=far
expect error=OFFSET_OUT_OF_RANGE read=none
expect consumer t-0 far position=0 last-epoch=-1
expect property consumer-reads-stay holds
"""
OFFLINE = """\
topic t isr=1 leader=none log=4@3
consumer t-0
poll t-0
expect error=LEADER_NOT_AVAILABLE
expect consumer t-0 leader=none leader-epoch=-1 position=0
"""
BEYOND_THE_LEADER = """\
topic t isr=1 leader=1 log=4@3
replica t-0 broker=2 log=9@3
send fetch from=2 offset=9
expect error=OFFSET_OUT_OF_RANGE
expect replica 2 t-0 end=4
"""


@pytest.mark.parametrize(
    "text",
    [POSITIONS, OFFLINE, BEYOND_THE_LEADER],
    ids=[
        "a position in the header is what has been read",
        "a consumer of an offline partition waits for a leader",
        "a follower that is out of range goes back to the end of the leader's log",
    ],
)
def test_what_becomes_of_who_reads(text: str) -> None:
    assert not failed(ran(text))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("expect consumer t-0 color=red", "has no 'color'"),
        ("expect consumer t-0 me position=1", "there is no consumer 'me'"),
        ("expect consumer position=1", "cannot be read"),
        ("refresh from=7", "there is no broker '7'"),
        ("reset t-0 to=middle", "'middle' is not known here"),
    ],
)
def test_a_wrong_line_about_a_consumer_is_refused(line: str, found: str) -> None:
    with pytest.raises(PlayError, match=found):
        parse(f"{TWO}topic t\n{line}")


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("refresh", "let it poll first"),
        ("reset t-0 to=latest", "poll it first"),
        ("cut client 1\nproduce t-0", "the link between client and broker 1 is cut"),
        ("crash 1\nexpire 1\ncrash 2\nproduce t-0", "broker 2 is down"),
        ("crash 1\nexpire 1\ncrash 2\nexpire 2\nproduce t-0", "t-0 has no leader"),
    ],
)
def test_what_a_client_cannot_do_now_is_said(lines: str, found: str) -> None:
    with pytest.raises(PlayError, match=found):
        ran(f"topic t log=4@3\n{lines}")


FETCH = "topic t isr=1 log=4@3,6@5\nsend fetch from=2 "


@pytest.mark.parametrize(
    ("fields", "compared"),
    [
        ("version=11 offset=11 last-fetched-epoch=5", ("offset", "11", "at most 10")),
        ("offset=11", ("offset", "11", "at most 10")),
        ("offset=10 last-fetched-epoch=9", ("last epoch", "9", "5")),
    ],
)
def test_a_fetch_that_the_log_cannot_place_is_out_of_range(
    fields: str, compared: tuple[str, str, str]
) -> None:
    stage = ran(FETCH + fields)
    (found,) = refused(stage)
    assert found["error"] == "OFFSET_OUT_OF_RANGE"
    (only,) = found["compared"]
    assert (only["name"], only["requested"], only["held"]) == compared
    assert "caught up" not in " ".join(str(e) for e in stage.events)


@pytest.mark.parametrize(
    ("fields", "parted"),
    [
        ("offset=11 last-fetched-epoch=5", (5, 10)),
        ("offset=6 last-fetched-epoch=3", (3, 4)),
        ("offset=4 last-fetched-epoch=4", (3, 4)),
    ],
)
def test_a_fetch_with_an_epoch_that_the_log_knows_hears_where_the_logs_part(
    fields: str, parted: tuple[int, int]
) -> None:
    stage = ran(FETCH + fields)
    bodies = [getattr(e, "body", None) for e in stage.events]
    (answer,) = {b for b in bodies if isinstance(b, FetchResponse)}
    assert answer.diverging == parted
    assert not refused(stage)


SECOND = (
    "topic t isr=1 log=10@5 recovery=recovering\n"
    "replica t-0 broker=2 log=4@5\n"
    "crash 1\n"
    "expire 1\n"
    "elect t-0 unclean=yes\n"
    "expect t-0 leader=2 isr=2 recovery=recovering\n"
    "expect verdict=loss\n"
)


def test_a_second_unclean_election_is_one_too() -> None:
    """It writes no recovery state, since that stands already; nothing was promised all the same."""
    stage = ran(SECOND)
    assert not failed(stage)
    assert [e.unclean for e in stage.events if isinstance(e, LeaderElected)] == [False, True]
    assert not breaks_promise(stage)


def test_with_the_configuration_a_member_of_the_isr_still_comes_first() -> None:
    text = (
        "topic t replicas=3,1,2 isr=1,2 log=10@5 unclean-leader-election=yes\ncrash 1\nexpire 1\n"
    )
    stage = ran("broker 3\n" + text, "3.9")
    (state,) = truth(stage.cluster).partitions
    assert (state.leader, state.isr, state.recovery) == (2, (2,), 0)
