"""`send`: requests as nobody's rule would send them, one line each."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiplab.engine.moves import RawRequest
from kiplab.engine.truth import registration_of, truth
from kiplab.plays.grammar import parse
from kiplab.plays.move_lines import statement_of
from kiplab.plays.play import Play, Statement, format_play, split
from kiplab.plays.play_errors import PlayError
from kiplab.plays.request_words import ITEMS_MAX, Sending, form_of, keys_of, raw_request, request_of
from kiplab.plays.runner import open_stage, run_play
from kiplab.plays.stage import Stage
from kiplab.plays.transcript import transcript
from kiplab.protocol import ids
from kiplab.protocol.features import Features
from kiplab.protocol.log import Log
from kiplab.protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    ApiRequest,
    ElectLeadersRequest,
    IsrMember,
    Request,
)

TWO = """\
kafka 3.5
broker 1
broker 2
topic a replicas=1,2 isr=1,2 leader=2 leader-epoch=3 partition-epoch=4
topic b replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=6
topic c replicas=2,1 isr=2 leader=2
"""


def body_of(line: str) -> Request:
    play = parse(TWO + line)
    return raw_request(play.statements[-1], open_stage(play).cluster)[2]


def held(line: str, *expected: str) -> Stage:
    stage = run_play(parse("\n".join([TWO.rstrip(), line, *(f"expect {e}" for e in expected)])))
    assert [f"{e.text}: {e.actual}" for e in stage.expectations if e.status != "held"] == []
    return stage


# --- AlterPartition of several partitions ---------------------------------------------------------


def test_each_partition_begins_what_is_said_of_the_next_one() -> None:
    body = body_of("send alter-partition from=1 partition=b-0 isr=1,2@102 partition=a-0 isr=1")
    assert isinstance(body, AlterPartitionRequest)
    first, second = body.items
    assert (first.partition, first.leader_epoch, first.partition_epoch) == ("b-0", 5, 6)
    assert [(m.broker, m.epoch) for m in first.isr] == [(1, -1), (2, 102)]
    assert (second.partition, second.leader_epoch, second.partition_epoch) == ("a-0", 3, 4)
    assert [m.broker for m in second.isr] == [1]


def test_what_stands_before_the_first_partition_is_said_of_it() -> None:
    body = body_of("send alter-partition isr=1 recovery=1 partition=b-0 partition=a-0 isr=2")
    assert isinstance(body, AlterPartitionRequest)
    assert [(i.partition, i.recovery) for i in body.items] == [("b-0", 1), ("a-0", 0)]


def test_each_partition_has_its_own_answer() -> None:
    held(
        "send alter-partition from=2 partition=a-0 isr=2@102 partition=b-0 isr=2@102"
        " partition=c-0 isr=2@102,1@101",
        "reply a-0 error=NONE isr=2 partition-epoch=5",
        "reply b-0 error=INVALID_REQUEST",
        "reply c-0 error=NONE isr=2,1 partition-epoch=1",
        "error=INVALID_REQUEST",
        "records=PartitionChangeRecord,PartitionChangeRecord",
    )


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("from=1 partition=a-0 isr=1 isr=2", 49, "'isr' is given twice"),
        ("isr=1 partition=a-0 isr=2 partition=b-0", 42, "'isr' is given twice"),
        ("partition=a-0 from=1 partition=b-0 from=2", 57, "'from' is given twice"),
        ("version=3 partition=a-0 partition=b-0 version=3", 60, "'version' is given twice"),
        ("partition=a-0 partition=t--1", 46, "'t--1' is no partition name"),
        ("partition=a-0 recovery=128", 45, "'128' is no recovery state"),
        ("partition=a-0 recovery=x", 45, "'x' is no whole number"),
        ("partition=a-0 " * (ITEMS_MAX + 1), 22 + 14 * ITEMS_MAX, "too many partitions"),
    ],
)
def test_a_list_of_partitions_that_cannot_be_read(line: str, column: int, found: str) -> None:
    with pytest.raises(PlayError) as problem:
        parse(f"{TWO}send alter-partition {line}", "race.play")
    assert str(problem.value).startswith(f"race.play:7:{column}: ")
    assert found in str(problem.value)


def test_only_an_alter_partition_has_several_partitions() -> None:
    with pytest.raises(PlayError, match="'partition' is given twice"):
        parse(f"{TWO}send fetch from=2 partition=a-0 partition=b-0")


def test_a_recovery_state_that_is_none_costs_the_controller_its_epoch() -> None:
    stage = held(
        "send alter-partition from=2 partition=a-0 isr=2@102 partition=c-0 isr=2@102 recovery=7",
        "error=UNKNOWN_SERVER_ERROR records=none",
        "reply error=UNKNOWN_SERVER_ERROR",
        "a-0 isr=1,2 partition-epoch=4",
    )
    assert truth(stage.cluster).controller_epoch == 2
    told = transcript(stage)
    assert "of epoch 1 resigns: alter-partition ended in an unexpected exception" in told
    assert "recovery state: request 7, here 0 or 1" in told


def test_version_0_has_no_recovery_state_to_be_wrong() -> None:
    stage = held(
        "send alter-partition from=2 version=0 partition=a-0 isr=2 recovery=7",
        "reply a-0 error=NONE isr=2",
    )
    assert truth(stage.cluster).controller_epoch == 1


# --- ElectLeaders ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("partitions=a-0,c-0", ("a-0", "c-0")),
        ("partitions=null", None),
        ("partitions=none", ()),
        ("", ()),
    ],
)
def test_elect_leaders_takes_a_list_or_null_or_nothing(
    words: str, asked: tuple[str, ...] | None
) -> None:
    assert body_of(f"send elect-leaders {words}") == ElectLeadersRequest(
        unclean=False, partitions=asked
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("partitions=null", ("a-0 leader=1 leader-epoch=4", "error=NONE")),
        ("", ("a-0 leader=2 leader-epoch=3", "error=NONE", "records=none")),
        (
            "partitions=b-0,a-0,d-0",
            ("a-0 leader=1", "error=ELECTION_NOT_NEEDED", "records=PartitionChangeRecord"),
        ),
    ],
    ids=["wherever it is needed", "nobody", "partition by partition"],
)
def test_whom_a_request_elects(words: str, expected: tuple[str, ...]) -> None:
    held(f"send elect-leaders {words}", *expected)


@pytest.mark.parametrize("words", ["partitions=a-0,", "partitions=all", "partitions=t--1"])
def test_a_list_to_elect_that_cannot_be_read(words: str) -> None:
    with pytest.raises(PlayError, match=r"race.play:7:31: .* is no partition name"):
        parse(f"{TWO}send elect-leaders {words}", "race.play")


# --- round trips ----------------------------------------------------------------------------------

number = st.integers(-1, 10**9)
name = st.from_regex(r"[a-zA-Z0-9._-]{0,4}[a-z]-(0|[1-9][0-9]{0,3})", fullmatch=True)
member = st.builds(
    IsrMember, broker=st.integers(0, 99).map(ids.BrokerId), epoch=number.map(ids.BrokerEpoch)
)
item = st.builds(
    AlterPartitionItem,
    partition=name,
    leader_epoch=number.map(ids.LeaderEpoch),
    partition_epoch=number.map(ids.PartitionEpoch),
    isr=st.lists(member, max_size=3).map(tuple),
    recovery=st.sampled_from((0, 1, 7, -1)),
)
altered = st.builds(
    AlterPartitionRequest,
    version=st.integers(0, 3),
    broker=st.just(ids.BrokerId(7)),
    broker_epoch=number.map(ids.BrokerEpoch),
    items=st.lists(item, min_size=1, max_size=ITEMS_MAX).map(tuple),
)
elected = st.builds(
    ElectLeadersRequest,
    unclean=st.booleans(),
    partitions=st.none() | st.lists(name, max_size=4).map(tuple),
)


@settings(max_examples=40)
@given(altered | elected)
def test_a_request_survives_being_written_down(body: Request) -> None:
    line = statement_of(RawRequest(ids.BrokerId(7), ids.CONTROLLER, body))
    text = format_play(Play((Statement("broker", ("1",)), line)))
    play = parse(text)
    assert parse(format_play(play)) == play
    again = raw_request(play.statements[-1], open_stage(play).cluster)
    assert again == (ids.BrokerId(7), ids.CONTROLLER, body)


# --- a request of any shape -----------------------------------------------------------------------


class TakeOver(msgspec.Struct, frozen=True):
    """What a made-up request says of each partition."""

    partition: ids.PartitionName
    leader: ids.BrokerId
    leader_epoch: ids.LeaderEpoch
    replicas: tuple[ids.BrokerId, ...]
    recovered: bool = True


class LeaderAndFollowers(ApiRequest, frozen=True, tag="leader-and-followers", kw_only=True):
    """A made-up request with a field of every type that a request may have."""

    sent_by: ids.Sender
    version: ids.ApiVersion
    controller_epoch: ids.ControllerEpoch
    broker_epoch: ids.BrokerEpoch
    process: ids.Incarnation
    up_to: ids.MetadataOffset
    from_offset: ids.Offset
    attempt: ids.Count = 3
    only: ids.BrokerId | None = None
    live: tuple[ids.BrokerId, ...] | None
    partitions: tuple[TakeOver, ...]

    @classmethod
    def version_sent(cls, features: Features, sender: ids.BrokerId) -> int:
        return features.fetch_version() + sender


def made_up(words: str) -> LeaderAndFollowers:
    cluster = open_stage(parse(TWO)).cluster
    form = form_of(LeaderAndFollowers)
    line = split(f"send leader-and-followers {words}").statements[0]
    sending = Sending(cluster, ids.BrokerId(2), LeaderAndFollowers)
    body = request_of(form, line, sending)
    assert isinstance(body, LeaderAndFollowers)
    assert request_of(form, written(body), sending) == body
    return body


def written(body: LeaderAndFollowers) -> Statement:
    return Statement("send", (), tuple(keys_of(form_of(LeaderAndFollowers), body)))


def test_what_a_line_does_not_say_is_the_default_or_fits_the_situation() -> None:
    body = made_up("partition=b-0")
    known = registration_of(open_stage(parse(TWO)).cluster, ids.BrokerId(2))
    assert known is not None
    assert (body.sent_by, body.version, body.attempt, body.only) == (2, 17, 3, None)
    assert (body.broker_epoch, body.process) == (known.epoch, known.incarnation + 1)
    assert (body.controller_epoch, body.from_offset, body.live) == (1, 0, ())
    assert body.partitions == (TakeOver("b-0", ids.NO_LEADER, ids.LeaderEpoch(5), ()),)


def test_a_line_may_say_every_field() -> None:
    body = made_up(
        "version=1 controller-epoch=2 broker-epoch=-1 process=9 up-to=7 from-offset=8 attempt=4"
        " only=1 live=null partition=a-0 leader=none partition=c-0 leader=1 leader-epoch=6"
        " replicas=1,2 recovered=no"
    )
    assert (body.version, body.controller_epoch, body.broker_epoch, body.process) == (1, 2, -1, 9)
    assert (body.up_to, body.from_offset, body.attempt) == (7, 8, 4)
    assert (body.only, body.live) == (1, None)
    assert body.partitions == (
        TakeOver("a-0", ids.NO_LEADER, ids.LeaderEpoch(3), ()),
        TakeOver(
            "c-0",
            ids.BrokerId(1),
            ids.LeaderEpoch(6),
            (ids.BrokerId(1), ids.BrokerId(2)),
            recovered=False,
        ),
    )


def test_a_word_that_would_say_two_fields_is_refused() -> None:
    class Twice(ApiRequest, frozen=True, kw_only=True):
        leader_epoch: ids.LeaderEpoch
        partitions: tuple[TakeOver, ...]

    with pytest.raises(TypeError, match="`leader-epoch=` would say two things of Twice: call one"):
        form_of(Twice)


def test_a_field_that_nobody_can_write_is_refused() -> None:
    class WithALog(ApiRequest, frozen=True, kw_only=True):
        records: Log

    where = "add it to FORMS in kiplab/plays/request_words.py"
    with pytest.raises(TypeError, match=rf"WithALog.records is annotated .*Log.*{where}"):
        form_of(WithALog)


def test_a_request_that_does_not_say_its_version_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="ApiRequest has no version_sent; say which"):
        ApiRequest.version_sent(Features("3.5", "3.5-IV2"), ids.BrokerId(1))
