"""CONTRIBUTING.md, "Add a message": its definition, its rule and its routes are enough.

A made-up ListOffsets is added to a copy, and `added_message.py` looks at it there. What is left out
is told: by a test, or as soon as the package is imported.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recipes.copies import Copied, copy

pytestmark = pytest.mark.long(
    quick="tests/recipes/test_add_a_play.py::test_what_a_play_lacks_is_told"
)

MESSAGES = "kiplab/protocol/messages/replication_messages.py"
RULE = "kiplab/protocol/replica/list_offsets.py"
ROUTES = "kiplab/engine/routes.py"
UNROUTED = "tests/engine/unrouted.py"
ZOOKEEPER_ROUTES = "kiplab/engine/zookeeper_routes.py"

REQUEST = '''

LIST_OFFSETS = Api(label="ListOffsets", noun="look-up", lane="fetch")


class ListOffsetsRequest(
    ApiRequest, frozen=True, cache_hash=True, tag="list-offsets", kw_only=True
):
    """API 2, of a replica that asks where the leader's log ends."""

    api: ClassVar[Api] = LIST_OFFSETS
    against: ClassVar[Against] = Against.REPLICA

    replica: ids.Sender
    partition: ids.PartitionName
    leader_epoch: ids.LeaderEpoch

    def in_words(self) -> str:
        return f"ListOffsets of {self.partition} in leader epoch {self.leader_epoch}"
'''
RESPONSE = '''

class OffsetFound(msgspec.Struct, frozen=True, cache_hash=True):
    """Where the log of a partition ends."""

    partition: ids.PartitionName
    offset: ids.Offset


class ListOffsetsResponse(
    ApiResponse, frozen=True, cache_hash=True, tag="list-offsets-reply", kw_only=True
):
    """One offset for each partition that was asked for."""

    api: ClassVar[Api] = LIST_OFFSETS
    unlogged: ClassVar[str] = "it is made up"

    found: tuple[OffsetFound, ...]

    def in_words(self) -> str:
        return "ListOffsets reply: " + ", ".join(f"offset {one.offset}" for one in self.found)
'''
DONE = '''\
"""Where a log ends: a replica asks, and whoever has the log answers.

In comes the request; nothing is compared. Out goes the answer, with the end of the log that this
broker has on its disk, and 0 if it has none. Nothing is learned by it, so the broker is the object
that it was, and no fact is reported: this rule is made up, to try out what has to be done when a
message is added.
"""

from __future__ import annotations

from ..ids import BrokerId
from ..messages import ListOffsetsRequest, ListOffsetsResponse, OffsetFound, Send
from .broker_state import Broker, log_of


def list_offsets(
    broker: Broker, request: ListOffsetsRequest, asked_by: BrokerId
) -> tuple[Broker, tuple[Send, ...], tuple[()]]:
    """The end of the log.

    Source: none; it is made up.
    """
    found = OffsetFound(request.partition, log_of(broker, request.partition).end)
    return broker, (Send(asked_by, ListOffsetsResponse(found=(found,))),), ()
'''
IMPORTS = """\
from ..protocol.messages import ListOffsetsRequest, ListOffsetsResponse
from ..protocol.replica.list_offsets import list_offsets
"""
OF_BROKERS = """\
    (Broker, ListOffsetsRequest): lambda b, m, _w: list_offsets(b, m.body, m.name.sender),
    (Broker, ListOffsetsResponse): unmoved,
"""
NO_CONTROLLER = '    (Controller, ListOffsetsRequest): "logs are on brokers",\n'
NO_ZOOKEEPER_CONTROLLER = '    (ZooKeeperController, ListOffsetsRequest): "logs are on brokers",\n'
ASKED_AGAIN = '    (Broker, messages.ListOffsetsRequest): "whoever asked asks again",\n'
HEADING = '''\
"""Where logs end."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from .. import ids
from .api_message import Against, Api, ApiRequest, ApiResponse
'''
STEPS = {
    "request": (MESSAGES, REQUEST, ""),
    "response": (MESSAGES, RESPONSE, ""),
    "rule": (RULE, DONE, ""),
    "imports": (ROUTES, IMPORTS, "from ..protocol.kraft.alter_partition import alter_partition\n"),
    "route": (ROUTES, OF_BROKERS, "ROUTES: dict[tuple[NodeKind, type], Rule] = {\n"),
    "no route": (ROUTES, NO_CONTROLLER, "NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {\n"),
    "import with ZooKeeper": (
        ZOOKEEPER_ROUTES,
        "from ..protocol.messages import ListOffsetsRequest\n",
        "from ..protocol.kip343 import isr_changes, metadata_heartbeats\n",
    ),
    "no route with ZooKeeper": (
        ZOOKEEPER_ROUTES,
        NO_ZOOKEEPER_CONTROLLER,
        "ZOOKEEPER_NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {\n",
    ),
    "not missed": (UNROUTED, ASKED_AGAIN, "NOT_MISSED: dict[tuple[NodeKind, type], str] = {\n"),
}
"""Every edit that adding it takes: (file, text, what it stands behind)."""
COMPLETE = ("tests/test_completeness.py", "tests/engine/test_nodes.py")
HELD_BY_ALL = (
    *COMPLETE,
    "tests/recipes/added_message.py",
    "tests/plays/test_raw_requests.py",
    "tests/widgets/test_inspector.py",
    "tests/protocol/test_sources.py",
    "tests/test_names.py",
)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    return copy(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def copied(untouched: Copied) -> Iterator[Copied]:
    """A copy that is put right again after each trial."""
    files = {step[0] for step in STEPS.values()}
    before = {f: (untouched.path / f).read_bytes() for f in files - {RULE}}
    yield untouched
    for file, content in before.items():
        (untouched.path / file).write_bytes(content)
        untouched.forget(untouched.path / file)
    (untouched.path / RULE).unlink(missing_ok=True)


def add(made: Copied, *, without: str = "", instead: tuple[str, str] = ("", "")) -> None:
    """Follow the recipe, with a step or a few words of it left out or written otherwise."""
    for name, (file, text, after) in STEPS.items():
        if name != without:
            made.write(file, text.replace(*instead) if instead[0] else text, after=after)


def test_definition_rule_and_routes_of_each_mode_are_enough(copied: Copied) -> None:
    add(copied)
    assert {Path(step[0]).name for step in STEPS.values()} == {
        "replication_messages.py",
        "list_offsets.py",
        "routes.py",
        "zookeeper_routes.py",
        "unrouted.py",
    }
    ran = copied.test(*HELD_BY_ALL)
    assert ran.passed, ran.text


NO_SENTENCE = ("    def in_words(self) -> str:", "    def said(self) -> str:")
OPEN_VERSION = (
    "    replica: ids.Sender\n",
    "    replica: ids.Sender\n    version: ids.ApiVersion\n",
)


@pytest.mark.parametrize(
    ("instead", "sentence"),
    [
        (NO_SENTENCE, "ListOffsetsRequest has no sentence: add it to its method in_words"),
        (OPEN_VERSION, "ListOffsetsRequest has no version that is sent: add it to its method"),
        (('unlogged: ClassVar[str] = "it is made up"', ""), "ListOffsetsResponse has no log lines"),
        (
            ("leader_epoch: ids.LeaderEpoch", "leader_epoch: int"),
            "ListOffsetsRequest.leader_epoch is a bare int, so `canonical` can't tell",
        ),
        (
            ("leader_epoch: ids.LeaderEpoch", "leader_epoch: Log"),
            "ListOffsetsRequest.leader_epoch is annotated <class 'kiplab.protocol.log.Log'>, and"
            " `send` doesn't know how that is written: add it to FORMS in"
            " kiplab/plays/request_words.py",
        ),
        (
            ('tag="list-offsets"', "tag=None"),
            "ListOffsetsRequest has no tag; say what plays call it",
        ),
    ],
    ids=["sentence", "version", "log lines", "bare number", "form", "tag"],
)
def test_what_its_definition_lacks_is_told(
    copied: Copied, instead: tuple[str, str], sentence: str
) -> None:
    add(copied, instead=instead)
    ran = copied.test(COMPLETE[0])
    assert not ran.passed
    assert sentence in ran.text


@pytest.mark.parametrize(
    ("without", "sentences"),
    [
        (
            "route",
            [
                "ListOffsetsRequest may come to Broker: add a rule to ROUTES, or say in",
                "ListOffsetsResponse may come to Broker: add a rule to ROUTES, or say in",
            ],
        ),
        ("no route", ["ListOffsetsRequest may come to Controller: add a rule to ROUTES, or say"]),
        (
            "no route with ZooKeeper",
            [
                f"ListOffsetsRequest may come to {kind}: add a rule to ROUTES, or say in"
                for kind in ("ZooKeeperController", "HeartbeatController")
            ],
        ),
        (
            "not missed",
            ["ListOffsetsRequest has no word on what its sender does without an answer"],
        ),
    ],
    ids=["rule", "why none", "why none with ZooKeeper", "without an answer"],
)
def test_a_route_that_it_lacks_is_told(copied: Copied, without: str, sentences: list[str]) -> None:
    add(copied, without=without)
    ran = copied.test(*COMPLETE)
    assert not ran.passed
    assert [s for s in sentences if s not in ran.text] == []


def test_a_file_of_messages_that_is_not_read_is_told(copied: Copied) -> None:
    copied.write("kiplab/protocol/messages/offset_messages.py", HEADING + REQUEST + RESPONSE)
    ran = copied.test(COMPLETE[0])
    (copied.path / "kiplab/protocol/messages/offset_messages.py").unlink()
    assert not ran.passed
    told = "write ListOffsetsRequest, ListOffsetsResponse in one of the FILES in kiplab/protocol/"
    assert told in ran.text
