"""What everybody makes of a ListOffsets: run in the copy that `test_add_a_message.py` adds it to.

Nothing here knows more of it than its words and its name.
"""

from typing import Any

import msgspec
import pytest

import kiplab
from kiplab.engine import moves
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster, Message
from kiplab.engine.events import Delivered, Event
from kiplab.engine.explain import sentence
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.step import Step, step
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.library import decode, encode
from kiplab.plays.move_lines import statement_of
from kiplab.plays.play import format_play
from kiplab.plays.play_errors import PlayError
from kiplab.plays.request_words import raw_request
from kiplab.plays.runner import open_stage, run_play
from kiplab.plays.transcript import transcript
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.messages import ApiRequest, asked_by
from kiplab.rows import message_paths, operator_log
from kiplab.rows.columns import api_name
from kiplab.rows.snapshots import Moment
from kiplab.rows.state_tree import StateNode, tree_of

HEAD = """\
title Where does the log end?
broker 1
broker 2
topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=5 log=100@5
"""
WHOLE = "send list-offsets from=2 to=1 partition=orders-0 leader-epoch=5"


def asked(line: str = "send list-offsets from=2") -> Cluster:
    """The line is done, and nothing is delivered yet."""
    play = parse(f"{HEAD}{line}")
    cluster = open_stage(play).cluster
    return step(cluster, moves.RawRequest(*raw_request(play.statements[-1], cluster))).cluster


def delivered(cluster: Cluster) -> tuple[Message, Step]:
    message = cluster.messages[-1]
    return message, step(cluster, moves.Deliver(message.name))


def test_a_line_asks_the_leader_for_what_fits_the_situation() -> None:
    play = parse(f"{HEAD}send list-offsets from=2")
    said = raw_request(play.statements[-1], open_stage(play).cluster)
    assert statement_of(moves.RawRequest(*said)).text == WHOLE


def test_a_line_survives_the_formatter_and_a_token() -> None:
    play = parse(f"{HEAD}{WHOLE}  # a look-up\n")
    assert parse(format_play(play)) == play
    again, _ = decode(encode(play))
    assert again.statements[-1].text == WHOLE


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("leader-epoch=x", "'x' is no whole number"),
        ("partition=t--1", "'t--1' is no partition name"),
        ("to=3", "there is no broker '3'"),
        ("offset=7", "list-offsets has no 'offset'"),
        ("replica=2", "'send' has no 'replica'"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(word: str, said: str) -> None:
    with pytest.raises(PlayError, match=said):
        parse(f"{HEAD}send list-offsets {word}")


def test_it_is_sent_delivered_answered_and_explained() -> None:
    question, there = delivered(asked())
    assert (question.name.kind, question.lane) == ("list-offsets", "fetch")
    answer, back = delivered(there.cluster)
    assert (answer.name.kind, answer.request) == ("list-offsets-reply", question.body)
    assert [sentence(e) for e in (*there.events, *back.events)] == [
        "broker 2 -> broker 1: ListOffsets of orders-0 in leader epoch 5",
        "broker 1 sends broker 2: ListOffsets reply: offset 100",
        "broker 1 -> broker 2: ListOffsets reply: offset 100",
    ]


@pytest.mark.parametrize("release", ["3.5", "zk-2.8", "kip-343"])
def test_it_is_answered_whoever_keeps_the_metadata(release: str) -> None:
    play = parse(f"kafka {release}\n{HEAD}{WHOLE}")
    told = transcript(run_play(play))
    assert "· broker 1 -> broker 2: ListOffsets reply: offset 100\n" in told


def test_a_request_can_be_retried_and_an_answer_can_not() -> None:
    here = asked()
    question, there = delivered(here)
    answer = there.cluster.messages[-1]
    assert why_not(here, moves.Duplicate(question.name)) is None
    assert why_not(there.cluster, moves.TimeOut(answer.name)) == (
        "only a request can be retried, and list-offsets-reply is none"
    )


def test_it_is_not_sent_where_nobody_answers_it() -> None:
    here = asked()
    body: Any = here.messages[-1].body
    nowhere = moves.RawRequest(BrokerId(2), BrokerId(-10), body)
    assert why_not(here, nowhere) == (
        "list-offsets cannot be sent to controller: logs are on brokers"
    )


def test_its_numbers_are_renumbered_with_all_others() -> None:
    same = canonical(asked())
    body: Any = same.messages[-1].body
    assert body.leader_epoch == truth(same).partitions[0].leader_epoch < 5
    assert same != canonical(asked("send list-offsets from=2 leader-epoch=4"))
    _, there = delivered(asked())
    answer: Any = canonical(there.cluster).messages[-1].body
    assert 0 < answer.found[0].offset < 100


def test_it_is_read_back_from_json() -> None:
    _, there = delivered(asked())
    for event in there.events:
        read: Event = msgspec.json.decode(msgspec.json.encode(event), type=Event)
        assert read == event


def test_it_is_labelled_told_and_compared() -> None:
    here = asked()
    _, there = delivered(here)
    arrival = there.events[0]
    assert isinstance(arrival, Delivered)
    assert (api_name("list-offsets"), api_name("list-offsets-reply")) == (
        "ListOffsets",
        "ListOffsets reply",
    )
    assert asked_by("list-offsets-reply") == "list-offsets"
    assert isinstance(arrival.body, ApiRequest)
    assert list(arrival.body.details()) == []
    (held,) = message_paths.held_by_receiver(arrival, here)
    assert held.startswith("broker 1 leads with leader epoch 5")


def test_the_transcript_tells_of_it() -> None:
    told = transcript(run_play(parse(f"{HEAD}{WHOLE}")))
    assert f"1  {WHOLE}\n" in told
    assert "· broker 2 -> broker 1: ListOffsets of orders-0 in leader epoch 5\n" in told
    assert "· broker 1 -> broker 2: ListOffsets reply: offset 100\n" in told


def test_the_operators_log_is_as_silent_as_it_says() -> None:
    history = run_play(parse(f"{HEAD}{WHOLE}")).history
    before = (history.start, *(done.cluster for done in history.steps))
    moments = map(Moment, before, history.steps)
    assert [operator_log.all_lines(moment) for moment in moments] == [()] * len(history.steps)


@pytest.mark.parametrize(
    ("kind", "label"),
    [("list-offsets", "ListOffsets"), ("list-offsets-reply", "ListOffsets reply")],
)
def test_the_picture_has_an_arrow_for_what_takes_its_time(kind: str, label: str) -> None:
    late = kiplab.run(parse(f"{HEAD}hold {kind}\n{WHOLE}\nflush 1\nrelease {kind}\n"))
    assert [m.label for m in late.rows().messages if m.is_telling] == [label]
    assert f'"{label}"' in late.timeline().to_json()


def test_the_inspector_shows_it_field_by_field() -> None:
    _, there = delivered(asked())
    shown = {row.field: row for row in rows(tree_of(there.cluster))}
    assert shown["ListOffsetsRequest.replica"].value == "broker 2"
    assert shown["ListOffsetsRequest.leader_epoch"].value == "5"
    assert shown["ListOffsetsResponse.found"].value == "orders-0"
    assert shown["OffsetFound.offset"].value == "100"


def rows(branch: StateNode) -> list[StateNode]:
    return [branch, *(row for child in branch.children for row in rows(child))]
