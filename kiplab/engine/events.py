"""Events: the results of a move, in order. The protocol's facts, and the engine's own."""

from typing import get_args

import msgspec

from ..protocol.facts import Fact
from ..protocol.ids import BrokerId, Offset
from ..protocol.messages import Body
from .cluster import Cluster, MessageName


class _MessageEvent(msgspec.Struct, frozen=True, kw_only=True):
    message: MessageName
    receiver: BrokerId
    body: Body


class Sent(_MessageEvent, frozen=True, tag="sent"):
    """A message is on its way."""


class Delivered(_MessageEvent, frozen=True, tag="delivered", kw_only=True):
    """A message arrived; `previous_incarnation` when the process that sent it is gone."""

    previous_incarnation: bool = False


class Dropped(_MessageEvent, frozen=True, tag="dropped", kw_only=True):
    """A message will never arrive."""

    why: str


class Happened(msgspec.Struct, frozen=True, tag="happened", kw_only=True):
    """Something was done to the cluster that no rule reports: a cut link, time, an upgrade."""

    text: str


class NotApplicable(msgspec.Struct, frozen=True, tag="not-applicable", kw_only=True):
    """Under these features a line of the play has lost its object."""

    text: str
    reason: str


class CommittedLost(msgspec.Struct, frozen=True, tag="committed-lost", kw_only=True):
    """A leader took over without committed records first..last."""

    partition: str
    leader: BrokerId
    first: Offset
    last: Offset


class PropertyBroken(msgspec.Struct, frozen=True, tag="property-broken", kw_only=True):
    """A property stopped holding; `promised` says whether it was promised here."""

    property: str
    partition: str
    detail: str
    promised: bool


Event = (
    Fact | Sent | Delivered | Dropped | Happened | NotApplicable | CommittedLost | PropertyBroken
)
EVENT_KINDS: dict[str, type] = {kind.__name__: kind for kind in get_args(Event)}
"""By name, as tables of words have them."""
Moved = tuple[Cluster, list[Event]]
"""The cluster after a move or a part of one, and what followed."""
