"""Which role a broker plays for a partition: leader or follower, as it is told.

In comes a partition as a control plane has it, in whatever words (an image of the metadata, a
LeaderAndIsr request); becoming one or the other is the same for all of them. Whether the words are
too old to be obeyed was judged before: here a replica in them plays what they say. A leader first
notes in its log where its epoch begins, and then leads (`leader.make_leader`); everybody else
follows (`fetching.make_follower`). Out go the broker and the facts of the change; nothing is sent.
"""

from .. import log
from ..facts import Fact
from ..features import Features
from ..registrations import PartitionRegistration
from . import broker_parts
from .broker_state import Broker, replica_of
from .fetching import make_follower
from .leader import make_leader


def play(
    broker: Broker, state: PartitionRegistration, features: Features, now_ms: int | None
) -> tuple[Broker, tuple[Fact, ...]]:
    """Lead the partition if `state` names this broker, follow its leader if not.

    Source: ReplicaManager.applyLocalLeadersDelta and applyLocalFollowersDelta (3.5.0).
    """
    local = replica_of(broker, state.name)
    if state.leader != broker.id:
        follower, facts = make_follower(broker, local, state)
        return broker_parts.with_replica(broker, follower), facts
    mine = log.assign_epoch_start(broker_parts.log_of(broker, state.name), state.leader_epoch)
    broker = broker_parts.with_log(broker, state.name, mine)
    here = broker_parts.here(broker, features, now_ms)
    checkpoint = broker_parts.checkpoint_of(broker, state.name)
    leader, facts = make_leader(here, local, mine, checkpoint, state)
    return broker_parts.with_replica(broker, leader), facts
