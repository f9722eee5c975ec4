"""What a registration does to the session of a broker (ClusterControlManager, its replay)."""

import pytest

from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import BrokerEpoch, BrokerId, Incarnation, MetadataOffset
from kiplab.protocol.kraft.broker_registration import register_broker
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState, heartbeat
from kiplab.protocol.messages import BrokerRegistrationRequest
from kiplab.protocol.registrations import Registration

ONE, LIFE = BrokerId(1), Incarnation(1)


@pytest.mark.parametrize(
    ("release", "fenced", "contact", "offset"),
    [
        ("3.2", False, 5_000, -1),
        ("3.3", True, 5_000, -1),
        ("3.6", True, 5_000, -1),
        ("3.7", False, 5_000, -1),
        ("3.9", False, 5_000, -1),
    ],
)
def test_the_same_process_registers_again(
    release: str, fenced: bool, contact: int, offset: int
) -> None:
    known = Registration(ONE, BrokerEpoch(50), LIFE, fenced=False, record_offset=MetadataOffset(50))
    heard = HeartbeatState(
        ONE, fenced=False, last_contact_ms=1_000, metadata_offset=MetadataOffset(90)
    )
    controller = Controller(
        next_offset=MetadataOffset(100), registrations=(known,), heartbeats=(heard,)
    )
    request = BrokerRegistrationRequest(broker=ONE, incarnation=LIFE)
    after, _, _ = register_broker(controller, request, parse_features(release), 5_000)
    assert heartbeat(after, ONE) == HeartbeatState(
        ONE, fenced=fenced, last_contact_ms=contact, metadata_offset=MetadataOffset(offset)
    )
