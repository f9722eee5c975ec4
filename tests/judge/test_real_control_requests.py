"""What real controllers and brokers did, in words that a lab shows: recorded, and said so."""

import pytest

from kiplab.extras import MissingExtraError
from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars.jar_cache import MissingKafkaError
from kiplab.judge.zookeeper_era.real_control_requests import (
    BOTH_SIDES,
    BROKERS,
    CONTROLLER_RELEASES,
    UnaskedBrokerError,
    UnrecordedRequestsError,
    real_checkpoint,
    real_control_requests,
)
from kiplab.judge.zookeeper_server import zookeeper_process
from tests.judge.zookeeper.situations import situations, why_not


@pytest.mark.parametrize("name", situations())
def test_every_situation_is_told_of_every_release_that_has_it(name: str) -> None:
    patches = [patch for patch in CONTROLLER_RELEASES if not why_not(name, patch)]
    text = real_control_requests(name, *patches).text()
    assert text.startswith(situations()[name].title)
    assert [patch for patch in patches if f"Kafka {patch}, recorded" not in text] == []
    assert max(len(line) for line in text.splitlines()) <= 96


def test_each_line_says_who_got_what_and_for_which_incarnation() -> None:
    lines = real_control_requests("earlier-mail", "2.2.2").text(to=1).splitlines()
    (first,) = (line for line in lines if "for incarnation 1" in line)
    assert first.startswith(
        "      incarnation 2 of broker 1 receives, for incarnation 1: LeaderAndIsr(L), Update"
    )
    assert (
        "a ControlledShutdown of broker 1, with the epoch of incarnation 1, is answered NONE"
        in (line.strip() for line in lines)
    )
    assert not any("broker 2 gets" in line for line in lines)


def test_before_kip_380_nothing_has_an_epoch() -> None:
    text = real_control_requests("earlier-mail", "2.1.1").text()
    assert "for life" not in text
    assert "incarnation 2 of broker 1 receives, without an epoch: LeaderAndIsr(L)" in text
    assert "nobody leads F" in text


def test_where_nobody_gets_anything_it_is_said() -> None:
    old, new = real_control_requests("bounce").text(to=1, last=1).split("Kafka 2.2.2")
    assert "no requests for broker 1" in old
    assert "no requests" not in new
    assert "no requests" in real_control_requests("bounce", "2.1.1").text()


def test_the_last_passages_can_be_had_alone() -> None:
    mail = real_control_requests("stale-shutdown")
    assert [*mail.heard] == [*BOTH_SIDES]
    assert "broker 1 asks for its shutdown" not in mail.text(last=2)
    assert mail.text(last=2).count("broker 2 is gone: can broker 1 lead?") == 2
    assert repr(mail) == mail.text()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nowhere",), "there is no situation 'nowhere'; there are beginnings, bounce, "),
        (("bounce", "2.3.0"), "nothing is recorded of bounce with Kafka 2.3.0; there is 2.1.1, "),
        (
            ("protocol-2.1", "2.1.1"),
            "nothing is recorded of protocol-2.1 with Kafka 2.1.1 (that is its own protocol",
        ),
    ],
)
def test_what_is_not_recorded_is_refused_with_what_is(asked: tuple[str, ...], said: str) -> None:
    with pytest.raises(UnrecordedRequestsError) as refused:
        real_control_requests(*asked)
    assert str(refused.value).startswith(said)


def test_a_broker_that_obeys_old_mail_loses_a_line_of_its_file() -> None:
    told = real_checkpoint().text().split("\n\n")[1:]
    assert [paragraph.splitlines()[0] for paragraph in told] == [
        "Kafka 2.1.1, recorded",
        "Kafka 2.2.2, recorded",
        "Kafka 2.2.2 at protocol 2.1, recorded",
    ]
    assert ["STALE_BROKER_EPOCH" in paragraph for paragraph in told] == [False, True, False]
    assert ["L begins at         0" in paragraph for paragraph in told] == [True, False, True]
    assert len(told) == len(BROKERS)


def test_a_broker_that_was_never_asked_is_refused() -> None:
    with pytest.raises(UnaskedBrokerError, match=r"no broker of Kafka '2\.3\.0' is asked"):
        real_checkpoint("2.3.0")


@pytest.mark.parametrize(
    "missing",
    [
        MissingKafkaError("There is no Java.", "Get it."),
        MissingExtraError("it", "kazoo", "real"),
        DeadKafkaError("ZooKeeper ended by itself: it said nothing"),
    ],
)
def test_where_no_zookeeper_can_run_two_incarnations_are_the_recorded_ones_and_say_why(
    missing: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> zookeeper_process.TwoIncarnations:
        raise missing

    monkeypatch.setattr(zookeeper_process, "_asked", asked)
    found = zookeeper_process.two_incarnations()
    assert (found.first, found.second) == (
        zookeeper_process.RECORDED.first,
        zookeeper_process.RECORDED.second,
    )
    assert str(found).endswith(f"\nRecorded, of ZooKeeper 3.9.5. {missing}")
    with pytest.raises(type(missing)):
        zookeeper_process.two_incarnations(live=True)
