"""A message added as CONTRIBUTING.md says is complete: definition, rule and route are enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kiplab.engine import channels, moves, routes
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster, Message
from kiplab.engine.events import Delivered
from kiplab.engine.explain import sentence
from kiplab.engine.possible import why_not
from kiplab.engine.step import Step, step
from kiplab.plays.library import load
from kiplab.plays.runner import open_stage
from kiplab.protocol.ids import BrokerId, LeaderEpoch, Offset, PartitionName
from kiplab.protocol.messages import (
    ANSWERED,
    BODIES,
    KINDS,
    Against,
    Api,
    ApiRequest,
    ApiResponse,
    Send,
    asked_by,
    declare,
)
from kiplab.protocol.replica.broker_state import Broker
from kiplab.rows import message_contents
from kiplab.rows.wording import api_name

LIST_OFFSETS = Api(label="ListOffsets", noun="look-up", lane="fetch")


class ListOffsetsRequest(ApiRequest, frozen=True, tag="list-offsets"):
    api = LIST_OFFSETS
    against = Against.REPLICA

    partition: PartitionName
    leader_epoch: LeaderEpoch

    def in_words(self) -> str:
        return f"ListOffsets of {self.partition} in leader epoch {self.leader_epoch}"


class ListOffsetsResponse(ApiResponse, frozen=True, tag="list-offsets-reply"):
    api = LIST_OFFSETS
    unlogged = "it is made up"

    partition: PartitionName
    offset: Offset

    def in_words(self) -> str:
        return f"ListOffsets reply: offset {self.offset}"


def latest(node: Any, message: Any, _: Cluster) -> Any:
    reply: Any = ListOffsetsResponse(message.body.partition, Offset(100))
    return node, (Send(message.name.sender, reply),), ()


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    tables: tuple[dict[Any, Any], ...] = (KINDS, BODIES, ANSWERED)
    before = [dict(table) for table in tables]
    declare(ListOffsetsRequest, ListOffsetsResponse)
    monkeypatch.setitem(routes.ROUTES, (Broker, ListOffsetsRequest), latest)
    monkeypatch.setitem(routes.ROUTES, (Broker, ListOffsetsResponse), lambda b, *_: (b, (), ()))
    yield
    for table, was in zip(tables, before, strict=True):
        table.clear()
        table.update(was)


def asked(leader_epoch: int = 5) -> Cluster:
    """Broker 2 asks broker 1."""
    body: Any = ListOffsetsRequest("orders-0", LeaderEpoch(leader_epoch))
    cluster = open_stage(load("kafka-14139")).cluster
    return channels.post(cluster, BrokerId(2), (Send(BrokerId(1), body),))[0]


def delivered(cluster: Cluster) -> tuple[Message, Step]:
    message = cluster.messages[-1]
    return message, step(cluster, moves.Deliver(message.name))


def test_it_is_sent_delivered_and_answered() -> None:
    question, there = delivered(asked())
    assert (question.name.kind, question.lane) == ("list-offsets", "fetch")
    answer, back = delivered(there.cluster)
    assert (answer.name.kind, answer.request) == ("list-offsets-reply", question.body)
    assert [sentence(e) for e in (*there.events, *back.events)] == [
        "broker 2 -> broker 1: ListOffsets of orders-0 in leader epoch 5",
        "broker 1 sends broker 2: ListOffsets reply: offset 100",
        "broker 1 -> broker 2: ListOffsets reply: offset 100",
    ]


def test_a_request_can_be_retried_and_an_answer_can_not() -> None:
    here = asked()
    question, there = delivered(here)
    answer = there.cluster.messages[-1]
    assert why_not(here, moves.Duplicate(question.name)) is None
    assert why_not(there.cluster, moves.TimeOut(answer.name)) == (
        "only a request can be retried, and list-offsets-reply is none"
    )


def test_its_numbers_are_renumbered_with_all_others() -> None:
    same = canonical(asked())
    body: Any = same.messages[-1].body
    assert body.leader_epoch == same.controller.partitions[0].leader_epoch < 5
    assert same != canonical(asked(leader_epoch=4))


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
    assert list(message_contents.fields(arrival.body)) == []
    (held,) = message_contents.held(arrival, here)
    assert held.startswith("broker 1 leads with leader epoch 5")
