"""Transactions, as far as an unclean election has to do with them: the marker that ends one.

In comes word that the open transaction of a log is to be committed or aborted, from a coordinator
(which is no node here) or from a leader that recovers. That this broker leads, and that one is
open, was judged before. Nothing is refused: WriteTxnMarkers is none of the requests that KIP-704
has a recovering leader refuse. Out go the broker with one record more in its log, a high watermark
that may have moved, and facts. Who has no transaction open stays the same object. One is open at a
time, of one producer; there are no producer ids, epochs or timeouts.
"""

from __future__ import annotations

from .. import log
from ..facts import Fact, TransactionEnded
from ..features import Features
from . import broker_parts
from .broker_state import Broker, replica_of
from .high_watermark import move_high_watermark


def end_transaction(
    broker: Broker,
    partition: str,
    features: Features,
    now_ms: int | None,
    *,
    commits: bool,
    recovery: bool = False,
) -> broker_parts.BrokerEffect:
    """Write the marker behind everything that there is, under the current leader epoch.

    Source: KafkaApis.handleWriteTxnMarkersRequest (3.5.0); KIP-98.
    """
    mine = broker_parts.log_of(broker, partition)
    first, replica = log.open_transaction(mine), replica_of(broker, partition)
    if first is None or replica is None:
        return broker, (), ()
    longer = log.end_transaction(mine, replica.leader_epoch, commits=commits)
    broker = broker_parts.with_log(broker, partition, longer)
    here = broker_parts.here(broker, features, now_ms)
    replica, moved = move_high_watermark(here, replica, longer)
    ended = TransactionEnded(
        node=broker.id,
        partition=partition,
        first=first,
        marker=mine.end,
        commits=commits,
        recovery=recovery,
    )
    facts: tuple[Fact, ...] = (ended, *moved)
    return broker_parts.with_replica(broker, replica), (), facts


def abort_what_is_open(
    broker: Broker, partition: str, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """What a leader that recovers does with transactions: nobody else will.

    Source: none; no release does this, KIP-704 as it is written.
    """
    here = broker_parts.here(broker, features, now_ms)
    # KIP-704, Proposed Changes, Topic Partition Leader: one use of the state is to abort all
    # pending transactions, whose end may have been lost with the records.
    if "704.aborts-transactions" not in here.active:
        return broker, (), ()
    return end_transaction(broker, partition, features, now_ms, commits=False, recovery=True)
