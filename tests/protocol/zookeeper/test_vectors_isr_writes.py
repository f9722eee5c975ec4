"""The ISR as leaders write it to ZooKeeper, and as they ask the controller for it from 2.7-IV2 on.

Broker 1 leads L-0 at leader epoch 3, appointed by a controller of epoch 5; the version of the state
is 10. Broker 2 follows.
"""

from msgspec.structs import replace

from kiplab.protocol import ids, log, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Fact, IsrChanged, IsrReverted, IsrStuck, NotProposed
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.replica import alter_partition_manager
from kiplab.protocol.replica.alter_partition_manager import check_lag
from kiplab.protocol.replica.broker_parts import with_log
from kiplab.protocol.replica.broker_state import Leading, Replica, log_of, replica_of
from kiplab.protocol.replica.fetching import serve_fetch
from kiplab.protocol.zookeeper import znodes
from kiplab.protocol.zookeeper.ensemble import Ensemble, find, kafka_ensemble
from kiplab.protocol.zookeeper.ensemble_sessions import open_session
from kiplab.protocol.zookeeper.ensemble_writes import Create, Operation, SetData, transact
from kiplab.protocol.zookeeper.isr_writes import announce_isr, set_partition_state, written
from tests.protocol.building import instance, present
from tests.protocol.zookeeper import brokers

PATH = znodes.partition_state_path(brokers.LED)
WRITING = brokers.RELEASES[:4]
"""Releases whose leaders write by themselves, whatever the protocol."""
ASKING = brokers.RELEASES[4:]


def zookeeper(*, isr: tuple[int, ...] = (1,), leader_epoch: int = 3) -> Ensemble:
    """Broker 1 has a session, and the state of L-0 has the version 10."""
    opened = open_session(kafka_ensemble(), brokers.ME, ids.Incarnation(1))
    above = [PATH]
    while znodes.parent_path(above[0]) != "/brokers/topics":
        above.insert(0, znodes.parent_path(above[0]))
    data = znodes.PartitionStateZnode(
        brokers.LED,
        brokers.ME,
        ids.LeaderEpoch(leader_epoch),
        ids.ControllerEpoch(5),
        tuple(map(ids.BrokerId, isr)),
    )
    written_often = [SetData(PATH, data) for _ in range(10)]
    made: tuple[Operation, ...] = (*map(Create, above), *written_often)
    return transact(opened.ensemble, opened.session, made).ensemble


class Led:
    """Broker 1 leads with 10 records, alone in the ISR unless said otherwise."""

    def __init__(
        self, features: Features, *, isr: tuple[int, ...] = (1,), live: tuple[int, ...] = (0, 1, 2)
    ) -> None:
        self.features = features
        self.ensemble = zookeeper(isr=isr)
        self.facts: tuple[Fact, ...] = ()
        self.sends: tuple[messages.Send, ...] = ()
        broker = brokers.ask(
            brokers.started(features, brokers.records(brokers.LED, 10, 5)),
            brokers.um(features, live=live),
            features,
        )
        told = brokers.lai(features, brokers.state(brokers.LED, 1, 3, isr=isr))
        self.broker = brokers.ask(broker.broker, told, features).broker

    def fetch(self, offset: int, last_fetched: int | None = None) -> None:
        known = 3 if offset > 10 else 1
        request = messages.FetchRequest(
            version=self.features.fetch_version(),
            partition=brokers.LED,
            replica=brokers.OTHER,
            replica_epoch=ids.NO_BROKER_EPOCH,
            leader_epoch=ids.LeaderEpoch(3),
            offset=ids.Offset(offset),
            last_fetched_epoch=ids.LeaderEpoch(known if last_fetched is None else last_fetched),
        )
        done = serve_fetch(self.broker, request, self.features, None)
        self.broker, self.sends, self.facts = done

    def lag(self) -> None:
        self.broker, self.sends, self.facts = check_lag(self.broker, self.features, None)

    def append(self, count: int) -> None:
        """Records, of which nobody has heard."""
        longer = log.append(log_of(self.broker, brokers.LED), ids.LeaderEpoch(3), count)
        self.broker = with_log(self.broker, brokers.LED, longer)

    @property
    def request(self) -> messages.SetPartitionStateRequest:
        (send,) = (s for s in self.sends if s.receiver == ids.ZOOKEEPER)
        assert isinstance(send.body, messages.SetPartitionStateRequest)
        return send.body

    def writes(self) -> messages.SetPartitionStateResponse:
        """ZooKeeper does it, and the leader goes on."""
        request = self.request
        self.ensemble, sends, facts = set_partition_state(self.ensemble, request)
        reply = instance(messages.SetPartitionStateResponse, sends[0].body)
        self.answered(reply, request)
        self.facts = (*facts, *self.facts)
        return reply

    def answered(
        self, reply: messages.SetPartitionStateResponse, request: messages.SetPartitionStateRequest
    ) -> None:
        done = written(self.broker, reply, request, self.features, None)
        self.broker, self.sends, self.facts = done

    def overtaken(self) -> None:
        """Somebody else has written the state meanwhile: its version is 11."""
        held = present(find(self.ensemble, PATH))
        session = self.ensemble.sessions[0].id
        other = replace(held.data, leader_epoch=ids.LeaderEpoch(4))  # type: ignore[type-var]
        self.ensemble = transact(self.ensemble, session, (SetData(PATH, other),)).ensemble

    @property
    def replica(self) -> Replica:
        return present(replica_of(self.broker, brokers.LED))

    @property
    def leading(self) -> Leading:
        assert self.replica.leading is not None
        return self.replica.leading

    @property
    def isr(self) -> tuple[int, ...]:
        return tuple(self.leading.isr_state.isr)

    @property
    def pending(self) -> bool:
        return self.leading.isr_state.sent is not None

    @property
    def written_state(self) -> znodes.PartitionStateZnode:
        found = present(find(self.ensemble, PATH))
        assert isinstance(found.data, znodes.PartitionStateZnode)
        return found.data


# The write


@brokers.on(*WRITING)
def test_a_leader_writes_to_zookeeper_and_takes_the_new_isr_at_once(features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    assert led.pending
    assert led.writes().partition_epoch == 11
    assert (led.isr, led.pending, led.replica.partition_epoch) == ((1, 2), False, 11)
    assert led.written_state.isr == (1, 2)
    assert [f.after for f in led.facts if isinstance(f, IsrChanged)] == [(1, 2)]


@brokers.on(*WRITING)
def test_what_it_writes_names_the_controller_that_made_it_leader(features: Features) -> None:
    led = Led(features)
    led.broker = brokers.ask(led.broker, brokers.um(features, controller_epoch=9), features).broker
    led.fetch(10)
    led.writes()
    wrote = led.written_state
    assert (wrote.controller_epoch, wrote.leader_epoch, wrote.leader) == (5, 3, 1)


@brokers.on(*WRITING)
def test_who_lags_is_left_out_by_the_same_way(features: Features) -> None:
    led = Led(features, isr=(1, 2))
    led.fetch(7)
    led.lag()
    led.writes()
    assert (led.isr, led.replica.high_watermark) == ((1,), 10)


@brokers.on(*WRITING)
def test_another_version_keeps_the_isr_and_the_next_round_tries_again(features: Features) -> None:
    led = Led(features)
    led.overtaken()
    led.fetch(10)
    assert led.writes().error is KafkaError.INVALID_UPDATE_VERSION
    assert (led.isr, led.pending, led.replica.partition_epoch) == ((1,), False, 10)
    assert [f.error for f in led.facts if isinstance(f, IsrReverted)] == [
        KafkaError.INVALID_UPDATE_VERSION
    ]
    led.fetch(10)
    assert led.request.item.partition_epoch == 10


@brokers.rows("protocol", ("2.8", ("zk-2.8", "zk-3.4"), "2.6-IV0"))
def test_the_code_of_2_7_and_later_waits_for_a_leader_and_isr_instead(
    protocol: str, features: Features
) -> None:
    led = Led(replace(features, metadata_version=protocol))
    led.overtaken()
    led.fetch(10)
    led.writes()
    assert (led.isr, led.pending) == ((1,), True)
    assert any(isinstance(f, IsrStuck) for f in led.facts)
    led.fetch(10)
    assert [s.receiver for s in led.sends] == [brokers.OTHER]


@brokers.on(*WRITING)
def test_the_same_state_under_another_version_counts_as_written(features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    request = led.request
    led.ensemble = set_partition_state(led.ensemble, request)[0]
    reply = present(led.writes() if led.sends else None)
    assert (reply.error, reply.partition_epoch) == (KafkaError.NONE, 11)
    assert (led.isr, led.replica.partition_epoch) == ((1, 2), 11)


@brokers.on(*WRITING)
def test_a_leader_whose_session_is_over_writes_nothing(features: Features) -> None:
    led = Led(features)
    led.ensemble = replace(led.ensemble, sessions=())
    led.fetch(10)
    before = led.ensemble
    assert led.writes().error is KafkaError.INVALID_UPDATE_VERSION
    assert (led.ensemble is before, led.isr) == (True, (1,))


@brokers.on(*WRITING)
def test_an_answer_that_no_proposal_waits_for_changes_nothing(features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    request = led.request
    led.writes()
    before = led.broker
    led.answered(messages.SetPartitionStateResponse(partition=brokers.LED), request)
    assert led.broker is before


def test_without_the_check_a_leader_writes_over_any_version() -> None:
    led = Led(parse_features("zk-2.2", off=("zookeeper.isr-version",)))
    led.overtaken()
    led.fetch(10)
    led.writes()
    assert (led.isr, led.written_state.leader_epoch) == ((1, 2), 3)


# The high watermark while a write is under way


@brokers.on(*WRITING)
def test_nothing_is_committed_while_the_leader_waits_for_zookeeper(features: Features) -> None:
    led = Led(features)
    led.append(5)
    led.fetch(10)
    assert (led.pending, led.replica.high_watermark) == (True, 10)
    led.writes()
    assert led.replica.high_watermark == 10
    led.fetch(15)
    assert led.replica.high_watermark == 15


@brokers.on(*WRITING)
def test_who_joins_counts_from_the_very_write_on(features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    led.writes()
    led.append(5)
    led.fetch(12)
    assert led.replica.high_watermark == 12


# The announcement


@brokers.on(*WRITING)
def test_what_was_written_is_announced_once_under_a_number_of_its_own(features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    led.writes()
    told = announce_isr(led.broker, led.ensemble)
    assert told.node.process is not None
    assert told.node.process.isr_changes == ()
    first = present(find(told.ensemble, f"{znodes.ISR_CHANGES_PATH}/isr_change_0000000000"))
    assert first.data == znodes.IsrChangeZnode((brokers.LED,))
    again = announce_isr(told.node, told.ensemble)
    assert again.node is told.node
    assert again.ensemble is told.ensemble


# From inter-broker protocol 2.7-IV2 on


def heard_of_the_controller(led: Led) -> messages.AlterPartitionRequest:
    (send,) = (s for s in led.sends if s.receiver == ids.controller_on(brokers.CONTROLLING))
    assert isinstance(send.body, messages.AlterPartitionRequest)
    return send.body


@brokers.on(*ASKING)
def test_from_2_7_iv2_on_the_controller_is_asked(features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    asked = heard_of_the_controller(led)
    assert asked.version == (0 if features.release == "zk-2.8" else 2)
    assert asked.broker_epoch == 140
    assert led.pending


@brokers.on(*ASKING)
def test_until_it_is_decided_the_newcomer_counts(features: Features) -> None:
    led = Led(features)
    led.append(5)
    led.fetch(10)
    assert led.pending
    led.lag()
    led.fetch(12)
    assert led.replica.high_watermark == 12


def answer(led: Led, **said: object) -> None:
    request = heard_of_the_controller(led)
    result = messages.AlterPartitionResult(partition=brokers.LED, **said)  # type: ignore[arg-type]
    response = messages.AlterPartitionResponse(version=request.version, results=(result,))
    done = alter_partition_manager.answered(led.broker, response, request, led.features, None)
    led.broker, led.sends, led.facts = done


def accepted(isr: tuple[int, ...]) -> dict[str, object]:
    return {
        "leader": brokers.ME,
        "leader_epoch": ids.LeaderEpoch(3),
        "partition_epoch": ids.PartitionEpoch(11),
        "isr": isr,
    }


@brokers.rows("mark", ("not before the next fetch", ("zk-2.8",), 7), ("at once", ("zk-3.4",), 10))
def test_an_isr_that_shrinks_commits_more(mark: int, features: Features) -> None:
    led = Led(features, isr=(1, 2))
    led.fetch(7)
    led.lag()
    answer(led, **accepted((1,)))
    assert (led.isr, led.pending, led.replica.high_watermark) == ((1,), False, mark)


@brokers.rows(
    "error reverts",
    ("version", ASKING, KafkaError.INVALID_UPDATE_VERSION, False),
    ("ineligible", ("zk-3.4",), KafkaError.INELIGIBLE_REPLICA, True),
    ("not attempted", ("zk-2.8",), KafkaError.OPERATION_NOT_ATTEMPTED, False),
)
def test_a_refused_proposal(error: KafkaError, reverts: bool, features: Features) -> None:
    led = Led(features)
    led.fetch(10)
    answer(led, error=error)
    assert led.pending is not reverts
    assert led.sends == ()


@brokers.rows("left", ("cleared", ("zk-2.8",), 0), ("kept", ("zk-3.4",), 1))
def test_a_leader_and_isr_clears_what_is_unanswered_up_to_2_8(
    left: int, features: Features
) -> None:
    led = Led(features)
    led.fetch(10)
    told = brokers.lai(features, brokers.state(brokers.LED, 1, 4, isr=(1,), version=11))
    process = present(brokers.ask(led.broker, told, features).broker.process)
    assert (len(process.items), len(process.in_flight)) == (left, 1)


# Who may be proposed


@brokers.on("zk-3.4")
def test_from_3_3_on_a_follower_has_to_be_alive_in_the_metadata(features: Features) -> None:
    led = Led(features, live=(0, 1))
    led.fetch(10)
    assert not led.pending
    barred = [f.guard for f in led.facts if isinstance(f, NotProposed)]
    assert barred == ["zookeeper.leader-skips-absent"]


@brokers.on("zk-2.6", "zk-2.8")
def test_before_nobody_asks_who_is_alive(features: Features) -> None:
    led = Led(features, live=(0, 1))
    led.fetch(10)
    assert led.pending


@brokers.on(*brokers.RELEASES)
def test_who_has_reached_the_leaders_own_epoch_is_proposed_even_with_a_new_disk(
    features: Features,
) -> None:
    led = Led(features)
    for offset in (0, 9, 10):
        led.fetch(offset)
        assert led.pending is (offset == 10)


# KIP-704


@brokers.on("zk-3.4")
def test_a_leader_takes_its_partition_for_recovered_and_says_so_with_its_next_isr(
    features: Features,
) -> None:
    led = Led(features)
    uncleanly = replace(
        brokers.state(brokers.LED, 1, 4, version=11), recovery=LeaderRecoveryState.RECOVERING
    )
    told = brokers.lai(features, replace(uncleanly, isr=(brokers.ME,)))
    led.broker = brokers.ask(led.broker, told, features).broker
    assert led.leading.isr_state.recovery is LeaderRecoveryState.RECOVERED


@brokers.rows(
    "recovery",
    ("not on the wire", ("zk-2.8",), LeaderRecoveryState.RECOVERED),
    ("version 6", ("zk-3.4",), LeaderRecoveryState.RECOVERING),
)
def test_only_version_6_says_that_the_leader_has_to_recover(
    recovery: LeaderRecoveryState, features: Features
) -> None:
    asked_for = replace(features, overrides=(("704.leader-recovers", True),))
    led = Led(asked_for)
    told = replace(
        brokers.state(brokers.LED, 1, 4, isr=(1,)), recovery=LeaderRecoveryState.RECOVERING
    )
    led.broker = brokers.ask(led.broker, brokers.lai(asked_for, told), asked_for).broker
    assert led.leading.isr_state.recovery is recovery


# Where logs part, before Fetch version 12


@brokers.on(*brokers.RELEASES)
def test_a_follower_is_told_where_its_log_parts_from_the_leaders(features: Features) -> None:
    led = Led(features)
    led.fetch(12, last_fetched=2)
    reply = instance(messages.FetchResponse, led.sends[0].body)
    assert reply.diverging == log.EpochStart(ids.LeaderEpoch(1), ids.Offset(10))
