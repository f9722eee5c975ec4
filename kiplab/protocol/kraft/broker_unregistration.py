"""Unregistration: an operator has a broker forgotten.

In comes the id of a broker, from an admin client. A broker that nobody knows is an error. Any other
is taken out of every ISR as if it were fenced, the last member stays, and its registration is
forgotten, whether it runs or not: it hears STALE_BROKER_EPOCH from then on. Out go the records, the
new metadata for every broker, and the answer. Where the broker is unknown the controller stays the
same object.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Refused
from ..features import Features
from ..ids import CLIENT, CONTROLLER
from ..messages import Send, UnregisterBrokerRequest, UnregisterBrokerResponse
from ..registrations import registration
from .controller_state import Controller
from .fencing import removal_records
from .records import Record, UnregisterBrokerRecord
from .replay import ControllerEffect, commit


def unregister_broker(
    controller: Controller, request: UnregisterBrokerRequest, features: Features
) -> ControllerEffect:
    """Forget a broker, and what the controller remembers of it.

    Source: ReplicationControlManager.unregisterBroker and handleBrokerUnregistered (3.2.0 to
    3.9.0-rc3).
    """
    found = registration(controller.registrations, request.broker)
    if found is None:
        error = KafkaError.BROKER_ID_NOT_REGISTERED
        refused = Refused(
            node=CONTROLLER,
            request="unregister-broker",
            error=error,
            guard=None,
            compared=(Compared("broker", str(request.broker), "none"),),
        )
        return controller, (Send(CLIENT, UnregisterBrokerResponse(error=error)),), (refused,)
    records: list[Record] = [
        *removal_records(controller, found.broker, features),
        UnregisterBrokerRecord(found.broker, found.epoch),
    ]
    controller, sends, facts = commit(controller, records, features)
    # 3.2 forgets only the registration (ClusterControlManager.replay, 3.2.0 and 3.3.0): the session
    # goes on, and when it is over the controller does not know whom to fence.
    if features.code_of(CONTROLLER) >= (3, 3):
        left = tuple(h for h in controller.heartbeats if h.broker != request.broker)
        controller = replace(controller, heartbeats=left)
    return controller, (*sends, Send(CLIENT, UnregisterBrokerResponse())), facts
