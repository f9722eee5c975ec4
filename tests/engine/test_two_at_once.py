"""Two requests at once: which two can meet, what comes of it, and how a play says it."""

import pytest

from kiplab.engine import impossible_moves, moves
from kiplab.engine.cluster import Cluster, MessageName
from kiplab.engine.enabled import settle
from kiplab.engine.events import Delivered, Sent
from kiplab.engine.step import step
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.move_lines import statement_of
from kiplab.plays.play import Play
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.values import feature_set
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import BrokerId, Incarnation
from kiplab.protocol.messages import AlterPartitionRequest

OLD, NEW = (
    MessageName(BrokerId(2), Incarnation(incarnation), "fetch", 1) for incarnation in (1, 2)
)
HEADER = """kafka 3.5
broker 1 epoch=101
broker 2 epoch=102
broker 3 epoch=103
topic orders replicas=1,2,3 isr=1 leader=1 leader-epoch=5 log=100@5
topic clicks replicas=2,1,3 isr=2 leader=2 leader-epoch=5 log=100@5
hold fetch
hold alter-partition
"""


def played(*lines: str) -> Stage:
    return run_play(parse(HEADER + "\n".join(lines)))


def before_the_race(kafka: str = "3.5") -> Cluster:
    """Both fetches of broker 2 wait at its leader."""
    play = load("kafka-15221")
    number = next(n for n, s in enumerate(play.statements) if s.verb == "race")
    return run_play(Play(play.statements[:number], ""), parse_features(kafka)).cluster


def epochs_asked_for(cluster: Cluster) -> dict[int, int]:
    (request,) = (m.body for m in cluster.messages if isinstance(m.body, AlterPartitionRequest))
    return {m.broker: m.epoch for m in request.items[0].isr}


@pytest.mark.parametrize(("kafka", "epoch"), [("3.5", 250), ("3.6", 250), ("3.7", 102)])
def test_the_other_one_comes_in_between_up_to_3_6(kafka: str, epoch: int) -> None:
    after = step(before_the_race(kafka), moves.Race(OLD, NEW)).cluster
    assert epochs_asked_for(after) == {1: 101, 2: epoch}


@pytest.mark.parametrize("kafka", ["3.2", "3.5", "3.7", "4.3"])
def test_both_arrive_and_only_who_is_alive_is_answered(kafka: str) -> None:
    done = step(before_the_race(kafka), moves.Race(OLD, NEW))
    assert [e.message for e in done.events if isinstance(e, Delivered)] == [OLD, NEW]
    answers = [e for e in done.events if isinstance(e, Sent) and e.message.kind == "fetch-reply"]
    assert [a.receiver for a in answers] == [2]
    assert not any(m.name in (OLD, NEW) for m in done.cluster.messages)


def test_one_after_the_other_each_is_judged_and_written_down_by_itself() -> None:
    cluster = before_the_race()
    for name in (OLD, NEW):
        cluster = step(cluster, moves.Deliver(name)).cluster
    assert epochs_asked_for(cluster) == {1: 101, 2: 102}


@pytest.mark.parametrize(("one", "other"), [(OLD, OLD), (OLD, MessageName(*OLD[:3], 9))])
def test_it_takes_two_that_are_in_flight(one: MessageName, other: MessageName) -> None:
    reason = impossible_moves.why_not(before_the_race(), moves.Race(one, other)) or ""
    assert reason.startswith(("a race needs two messages", "fetch #9 from broker 2"))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("fetch 2", "fetch 2", "race fetch from=2"), "is ahead of it on the same connection"),
        (("fetch 2", "race fetch from=2"), "no such message that could meet it is in flight"),
        (("race fetch from=2",), "no such message is in flight (in flight: nothing)"),
        (("fetch 2", "fetch 3", "cut 1 3", "race fetch from=2"), "between broker 3 and broker 1"),
        (("fetch 3", "race fetch from=3 to=1 with=3"), "no such message that could meet it"),
        (
            ("fetch 1", "race fetch from=1 with=1"),
            "no such message that could meet it is in flight",
        ),
        (
            (
                "fetch 2",
                "deliver fetch from=2",
                "fetch 1",
                "deliver fetch from=1",
                "race alter-partition from=1 with=2",
            ),
            "only two fetches race: every other message is processed before the next",
        ),
    ],
)
def test_a_line_that_cannot_be_done_says_why(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(PlayError) as error:
        played(*lines)
    assert said in str(error.value)


def test_two_fetches_of_one_broker_for_two_partitions_share_nothing() -> None:
    header = HEADER.replace("replicas=2,1,3 isr=2 leader=2", "replicas=1,2,3 isr=1 leader=1")
    lines = "fetch 2\nfetch 3\ndeliver fetch from=3\nrace fetch from=2 with=3"
    with pytest.raises(PlayError, match=r"they are about \S+ and \S+, which share no state"):
        run_play(parse(f"{header}{lines}"))


def test_two_followers_may_meet_and_the_first_is_proposed() -> None:
    stage = played("fetch 2", "fetch 3", "race fetch from=2 to=1 with=3")
    assert set(epochs_asked_for(stage.cluster)) == {1, 2}


def test_the_line_of_the_move_names_both_and_does_it_again() -> None:
    line = statement_of(moves.Race(OLD, NEW))
    assert line.text == "race fetch from=2 n=1 life=1 with=2 with-n=1 with-life=2"


def test_without_it_the_play_comes_to_rest_with_broker_2_let_in_honestly() -> None:
    rested = settle(before_the_race())
    assert not rested.messages
    assert not rested.broken


def test_the_lock_alone_closes_the_race_and_the_refusal_alone_does_not() -> None:
    play = load("kafka-15221")
    verdicts = {
        which: run_play(play, feature_set(f"@3.7-kafka-15221{which}")).cluster.broken != ()
        for which in (".locked-state", ".stale-fetch", "")
    }
    assert verdicts == {".locked-state": True, ".stale-fetch": False, "": True}
