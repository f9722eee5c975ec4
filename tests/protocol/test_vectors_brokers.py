"""Registrations, their replay, sessions, and the table of broker states.

Not modelled, so not here: log directories (B13), removing a broker's heartbeat state (H2b), the
time of the next session check (H6a, H8c), and setting a controlled-shutdown offset by hand on a
fenced broker (H11a). Session times are Kafka's own in these rows: 10 ms.
"""

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features
from kiplab.protocol.ids import CONTROLLER, BrokerEpoch, BrokerId, Incarnation, MetadataOffset
from kiplab.protocol.kraft import sessions as rules
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState, heartbeat
from kiplab.protocol.kraft.heartbeats import current_state, lowest_active_offset
from kiplab.protocol.kraft.records import (
    BrokerRegistrationChangeRecord,
    Record,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kiplab.protocol.kraft.replay import replay
from kiplab.protocol.kraft.sessions import has_valid_session, stale_broker
from kiplab.protocol.registrations import Registration, registration
from tests.protocol.building import (
    beats,
    brokers,
    cases,
    controller,
    instance,
    newest,
    partition,
    present,
    registers,
    texts,
    written,
)

B0, B1 = BrokerId(0), BrokerId(1)
HUNDRED, AT_100 = BrokerEpoch(100), MetadataOffset(100)
LIFE = Incarnation(1)


def each_release(releases: str = "3.2-4.3") -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "features", [pytest.param(f, id=f.release) for f in newest(releases)]
    )


# --- 4. Registration and replay -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broker", "epoch", "error"),
    [
        pytest.param(1, 100, KafkaError.NONE, id="B1a"),
        pytest.param(1, 101, KafkaError.STALE_BROKER_EPOCH, id="B1b"),
        pytest.param(2, 100, KafkaError.STALE_BROKER_EPOCH, id="B1c"),
    ],
)
@each_release()
def test_broker_epoch_is_checked(
    broker: int, epoch: int, error: KafkaError, features: Features
) -> None:
    before = replay(Controller(next_offset=AT_100), RegisterBrokerRecord(B1, LIFE, HUNDRED))
    after, sends, facts = beats(before, broker, features, epoch=epoch, offset=0, want_fence=True)
    reply = instance(messages.BrokerHeartbeatResponse, sends[-1].body)
    assert reply.error is error
    assert written(facts) == []
    assert after.registrations == (
        Registration(B1, HUNDRED, LIFE, fenced=True, record_offset=AT_100),
    )
    if features.code_of(CONTROLLER) >= (4, 0):
        # Whatever is answered, it is noted who was heard of, and under which epoch.
        after = replace(after, contacts=())
        assert error is KafkaError.NONE or after == before
    elif error is not KafkaError.NONE:
        assert after is before


def at_100(*, fenced: bool = True, leaving: bool = False) -> Registration:
    return Registration(B0, HUNDRED, LIFE, fenced, leaving, record_offset=AT_100)


UNFENCES = BrokerRegistrationChangeRecord(B0, HUNDRED, fenced=-1)
LEAVES = BrokerRegistrationChangeRecord(B0, HUNDRED, in_controlled_shutdown=1)


@pytest.mark.parametrize(
    ("before", "record", "after"),
    [
        pytest.param(
            None,
            RegisterBrokerRecord(B0, LIFE, HUNDRED, fenced=True, in_controlled_shutdown=True),
            at_100(leaving=True),
            id="B3",
        ),
        pytest.param(
            at_100(leaving=True),
            RegisterBrokerRecord(B0, LIFE, HUNDRED, fenced=True, in_controlled_shutdown=False),
            at_100(),
            id="B4a",
        ),
        pytest.param(
            at_100(),
            RegisterBrokerRecord(B0, LIFE, HUNDRED, fenced=False, in_controlled_shutdown=False),
            at_100(fenced=False),
            id="B4b",
        ),
        pytest.param(at_100(fenced=False), LEAVES, at_100(fenced=False, leaving=True), id="B5"),
        pytest.param(
            at_100(fenced=False, leaving=True),
            UNFENCES,
            at_100(fenced=False, leaving=True),
            id="B6",
        ),
        pytest.param(at_100(), UnregisterBrokerRecord(B0, HUNDRED), None, id="B11"),
    ],
)
def test_replays(before: Registration | None, record: Record, after: Registration | None) -> None:
    image = Controller(next_offset=AT_100, registrations=(before,) if before else ())
    assert replay(image, record).registrations == ((after,) if after else ())


class Registers(msgspec.Struct, frozen=True):
    """The epoch and the record version that a registration gets."""

    id: str
    releases: str
    metadata: str
    known: tuple[Registration, ...]
    broker: BrokerId
    candidate: int
    epoch: int
    version: int | None = None


ONE = (Registration(B1, HUNDRED, LIFE, record_offset=AT_100),)
ROWS = (
    Registers("B8a", "3.9-4.3", "any", ONE, B1, 111, 100),
    Registers("B8b", "3.2-3.8", "any", ONE, B1, 111, 111),
    Registers("B10a", "3.3-3.9", "3.3-IV2", (), B0, 123, 123, 0),
    Registers("B10b", "3.3-4.3", "3.3-IV3", (), B0, 123, 123, 1),
    Registers("B10c", "3.7-4.3", "3.7-IV2", (), B0, 123, 123, 3),
    Registers("B10d", "3.4-4.3", "3.4-IV0", (), B0, 123, 123, 2),
    Registers("B10e", "4.3", "4.3-IV0", (), B0, 123, 123, 4),
    # "holds up to, not including, 3.7-IV2"
    Registers("B10d", "3.7-4.3", "3.7-IV1", (), B0, 123, 123, 2),
)


@pytest.mark.parametrize(("row", "features"), cases(ROWS))
def test_registers(row: Registers, features: Features) -> None:
    before = controller(row.known, next_offset=row.candidate)
    after, sends, facts = registers(before, row.broker, LIFE, features, 0)
    epoch = BrokerEpoch(row.epoch)
    assert sends[-1].body == messages.BrokerRegistrationResponse(broker_epoch=epoch)
    assert written(facts) == texts([RegisterBrokerRecord(row.broker, LIFE, epoch, fenced=True)])
    found = registration(after.registrations, row.broker)
    assert found == Registration(
        row.broker, epoch, LIFE, fenced=True, record_offset=MetadataOffset(row.candidate)
    )
    if row.version is not None:
        assert [f.version for f in facts if isinstance(f, RecordWritten)] == [row.version]


# --- 5. Sessions ----------------------------------------------------------------------------------


@pytest.fixture
def session_of_10_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "SESSION_TIMEOUT_MS", 10)


def touched(features: Features, contacts: dict[int, int]) -> Controller:
    """Brokers, each unfenced by a heartbeat at its time."""
    state = controller(brokers(fenced=contacts))
    for broker, now in contacts.items():
        state = beats(state, broker, features, now)[0]
    return state


@pytest.mark.parametrize("features", newest("3.2-3.9"))
@pytest.mark.usefixtures("session_of_10_ms")
def test_h2a_a_session_holds_up_to_its_limit(features: Features) -> None:
    state = touched(features, {0: 0, 1: 5, 2: 5})
    assert [b for b in range(4) if has_valid_session(state, BrokerId(b), 11)] == [1, 2]
    assert has_valid_session(state, B0, 10)


H3 = {0: 0, 1: 5, 2: 6}
H8 = {0: 0, 1: 2, 2: 3, 3: 4}


@pytest.mark.parametrize(
    ("contacts", "fenced", "now", "stale"),
    [
        pytest.param(H3, {}, 6, None, id="H3"),
        pytest.param(H3, {}, 11, 0, id="H4a"),
        pytest.param(H3, {0: 11}, 11, None, id="H4b"),
        pytest.param(H3, {0: 11}, 31, 1, id="H5a"),
        pytest.param(H3, {0: 11, 1: 31}, 31, 2, id="H5b"),
        pytest.param(H3, {0: 11, 1: 31, 2: 31}, 31, None, id="H5c"),
        pytest.param(H8, {}, 4, None, id="H6b"),
        pytest.param(H8, {0: 11}, 14, 1, id="H8a"),
        pytest.param(H8, {0: 11, 1: 14}, 14, 2, id="H8b"),
        pytest.param(H8, {0: 11, 1: 14, 2: 14}, 14, None, id="H8c"),
    ],
)
@pytest.mark.parametrize("features", newest("3.2-3.9"))
@pytest.mark.usefixtures("session_of_10_ms")
def test_one_stale_broker(
    contacts: dict[int, int],
    fenced: dict[int, int],
    now: int,
    stale: int | None,
    features: Features,
) -> None:
    state = touched(features, contacts)
    for broker, then in fenced.items():
        state = beats(state, broker, features, then, want_fence=True)[0]
    assert stale_broker(state, now) == stale


# --- 5. Offsets of active brokers and controlled shutdown -----------------------------------------


def known(broker: int, offset: int, *, fenced: bool = False, shutdown: int = -1) -> HeartbeatState:
    return HeartbeatState(
        BrokerId(broker),
        fenced=fenced,
        metadata_offset=MetadataOffset(offset),
        controlled_shutdown_offset=MetadataOffset(shutdown),
    )


FOUR = (known(0, 100), known(1, 100), known(3, 100))
SECOND_98, FOURTH_FENCED = known(2, 98), known(4, 100, fenced=True)


@pytest.mark.parametrize(
    ("heartbeats", "lowest"),
    [
        pytest.param((*FOUR, SECOND_98, FOURTH_FENCED), 98, id="H9"),
        pytest.param((*FOUR, known(2, 98, shutdown=0), FOURTH_FENCED), 100, id="H10"),
        pytest.param((*FOUR, known(2, 98, shutdown=0), known(4, 97, shutdown=0)), 100, id="H11b"),
    ],
)
def test_lowest_active_offset(heartbeats: tuple[HeartbeatState, ...], lowest: int) -> None:
    assert lowest_active_offset(Controller(heartbeats=heartbeats)) == lowest


@pytest.mark.parametrize(
    ("broker", "first", "second"),
    [pytest.param(2, 98, 99, id="H12a"), pytest.param(3, 101, 102, id="H12b")],
)
@each_release()
def test_controlled_shutdown_offset_is_set_once(
    broker: int, first: int, second: int, features: Features
) -> None:
    """Kafka 3.2 moves the goal with every heartbeat; later releases keep the first."""
    heard = (*FOUR, SECOND_98, FOURTH_FENCED)
    others = tuple(h for h in heard if h.broker != broker)
    state = controller(
        brokers(0, 1, 2, 3, fenced=[4]),
        # It still leads, so that no heartbeat lets it go.
        partition("p-0", [broker], [broker], broker),
        next_offset=second + 1,
        heartbeats=(*others, known(broker, 100, shutdown=first)),
    )
    after, _, _ = beats(state, broker, features, 0)
    found = present(heartbeat(after, BrokerId(broker)))
    overwritten = features.code_of(CONTROLLER) < (3, 3)
    assert found.controlled_shutdown_offset == (second if overwritten else first)


# --- 5. The table of states -----------------------------------------------------------------------

FENCED_AT_100 = (known(0, 100, fenced=True), known(4, 100, fenced=True))
OTHERS = (*FENCED_AT_100, known(2, 100), known(3, 100), known(5, 99, shutdown=99))
LOWEST_98, LOWEST_100 = (*OTHERS, known(1, 98)), (*OTHERS, known(1, 98, fenced=True))


class Turn(msgspec.Struct, frozen=True):
    """One heartbeat of a broker: the state it comes from and the state it goes to."""

    id: str
    heartbeats: tuple[HeartbeatState, ...]
    broker: int
    leads: bool
    now: str
    then: str
    offset: int = 100
    want_fence: bool = False
    want_shut_down: bool = False
    releases: str = "3.2-4.3"
    metadata: str = "any"


# fmt: off
TURNS = (
    Turn("H14", LOWEST_98, 0, False, "FENCED", "UNFENCED"),
    Turn("H15", LOWEST_98, 0, False, "FENCED", "FENCED", offset=50),
    Turn("H16", LOWEST_98, 0, False, "FENCED", "FENCED", offset=-1, want_fence=True),
    Turn("H17", LOWEST_98, 1, True, "UNFENCED", "CONTROLLED_SHUTDOWN", want_shut_down=True),
    Turn("H18", LOWEST_98, 1, False, "UNFENCED", "SHUTDOWN_NOW", want_shut_down=True),
    Turn("H19", LOWEST_98, 1, False, "UNFENCED", "UNFENCED"),
    Turn("H20", LOWEST_98, 5, True, "CONTROLLED_SHUTDOWN", "CONTROLLED_SHUTDOWN",
         want_shut_down=True),
    Turn("H21", LOWEST_98, 5, False, "CONTROLLED_SHUTDOWN", "CONTROLLED_SHUTDOWN",
         want_shut_down=True),
    Turn("H22a", LOWEST_100, 5, False, "CONTROLLED_SHUTDOWN", "SHUTDOWN_NOW",
         want_shut_down=True),
    Turn("H22b", LOWEST_100, 5, True, "CONTROLLED_SHUTDOWN", "CONTROLLED_SHUTDOWN",
         want_shut_down=True),
)
# fmt: on


@pytest.mark.parametrize(("turn", "features"), cases(TURNS))
def test_next_state(turn: Turn, features: Features) -> None:
    registered = tuple(
        Registration(h.broker, HUNDRED, LIFE, h.fenced, record_offset=AT_100)
        for h in sorted(turn.heartbeats, key=lambda h: h.broker)
    )
    led = [partition("p-0", [turn.broker], [turn.broker], turn.broker)] if turn.leads else []
    before = controller(registered, *led, next_offset=101, heartbeats=turn.heartbeats)
    wishes = {"want_fence": turn.want_fence, "want_shut_down": turn.want_shut_down}
    after, sends, _ = beats(
        before, turn.broker, features, epoch=HUNDRED, offset=turn.offset, **wishes
    )
    reply = instance(messages.BrokerHeartbeatResponse, sends[-1].body)
    old, new = (present(heartbeat(c, BrokerId(turn.broker))) for c in (before, after))
    assert current_state(old) == turn.now
    assert ("SHUTDOWN_NOW" if reply.should_shut_down else current_state(new)) == turn.then
    assert reply.is_fenced is (turn.then in {"FENCED", "SHUTDOWN_NOW"})
    assert reply.is_caught_up is (turn.offset >= 100)
