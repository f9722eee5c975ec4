"""How it is known that a controller has done all that was set off, and that all of it has arrived.

The state of an idle topic is written and the controller notified of it, as of a changed ISR. It
sends an UpdateMetadata to every broker, behind all that was queued before. Then it deletes the
notification, which sets off an event of its own: two questions of no consequence, which go through
the same queue of events, are answered behind that. Without them a real race disturbs what follows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .control_mail import MARKER, marker_version
from .journal import Journal, Received
from .patience import wait_until
from .topic_znodes import touch_state

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_NOTIFICATIONS = "/isr_change_notification"


class Barrier:
    """`ask` asks the controller something of no consequence, and waits for the answer."""

    def __init__(self, client: KazooClient, journal: Journal, ask: Callable[[], object]) -> None:
        self._client, self._journal, self._ask = client, journal, ask
        self.version = -1

    def come_to_rest(self, brokers: Iterable[int], changed: Iterable[str]) -> None:
        """Until these brokers have got everything. `changed` are topics whose ISR was written, of
        which the controller is notified at the same time.

        Raises TooQuietError where one of them never gets there.
        """
        self.version = touch_state(self._client, MARKER)
        topics = [{"topic": topic, "partition": 0} for topic in (*changed, MARKER)]
        notification = json.dumps({"version": 1, "partitions": topics}).encode()
        self._client.create(f"{_NOTIFICATIONS}/isr_change_", notification, sequence=True)
        for broker in brokers:
            self.reach(broker)
        wait_until(
            lambda: not self._client.get_children(_NOTIFICATIONS), "the end of a notification"
        )
        self.settle_events()

    def settle_events(self) -> None:
        """Until the controller has handled all events that it knew of."""
        self._ask()
        self._ask()

    def reach(self, broker: int) -> None:
        """Until a broker got the mail of the last barrier. Raises TooQuietError if not."""
        wanted = self.version

        def is_it(received: Received) -> bool:
            return received.broker == broker and marker_version(received) == wanted

        self._journal.wait_for(is_it, f"the mail of a barrier to broker {broker}")
