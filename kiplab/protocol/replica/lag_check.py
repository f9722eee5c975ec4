"""The periodic look for members of the ISR that have fallen behind.

In comes the round that a broker makes every half replica.lag.time.max.ms. Each partition that it
leads is judged by `isr_proposals.propose_shrink`: a proposal under way blocks it; else whoever is
behind is left out of the next. Out goes one AlterPartition request with every item, if none is in
flight, and a fact for each proposal; where nobody lags the broker stays the same object.
"""

from __future__ import annotations

from ..facts import Fact
from ..features import Features
from ..messages import Send
from . import alter_partition_manager, broker_parts
from .broker_state import Broker, log_of
from .isr_proposals import propose_shrink


def check_lag(broker: Broker, features: Features, now_ms: int | None) -> broker_parts.BrokerEffect:
    """Every partition that this broker leads may propose a smaller ISR.

    Source: ReplicaManager.maybeShrinkIsr (3.5.0).
    """
    here = broker_parts.here(broker, features, now_ms)
    sends: tuple[Send, ...] = ()
    facts: tuple[Fact, ...] = ()
    for replica in broker_parts.process_of(broker).replicas:
        if replica.leading is None:
            continue
        changed, item, found = propose_shrink(here, replica, log_of(broker, replica.partition))
        facts = (*facts, *found)
        if item is not None:
            broker = broker_parts.with_replica(broker, changed)
            broker, sent, withdrawn = alter_partition_manager.submit(broker, item, features)
            sends, facts = (*sends, *sent), (*facts, *withdrawn)
    return broker, sends, facts
