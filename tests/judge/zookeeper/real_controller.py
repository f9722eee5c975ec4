"""A situation told to a real controller, as plays are: it does what it does, and all else that
happens in the engine is done to its brokers and to its ZooKeeper.
"""

import json
from functools import partial

from msgspec.structs import replace

from kiplab.engine.cluster import Cluster
from kiplab.engine.history import Recorded
from kiplab.judge.wire.metadata_log import ReleaseSchemas
from kiplab.judge.zookeeper_era import asked_controller, gates, sequences
from kiplab.judge.zookeeper_plays import played_cluster
from kiplab.plays.header import setup_of
from kiplab.plays.play import Play
from kiplab.protocol.registrations import topic_of
from kiplab.protocol.zookeeper.znodes import CONTROLLER_PATH

from .situations import DEPOSER, Written
from .telling import features_judged, passages

_TOPICS, _DELETIONS = "/brokers/topics", "/admin/delete_topics"


class JudgedCluster(played_cluster.PlayedCluster):
    """A played cluster in which topics come and go, and whose controller may be deposed."""

    def __init__(self, patch: str, play: Play, schemas: ReleaseSchemas) -> None:
        protocol = play.first("metadata")
        setup = setup_of(play, features_judged(play, patch))
        own = tuple(p for p in setup.partitions if topic_of(p.name) != sequences.IDLE)
        setup = replace(setup, partitions=own)
        super().__init__(patch, setup, protocol.words[0] if protocol else "", schemas)
        self._topics = {topic_of(partition.name) for partition in own}
        self._is_deposed = False

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """Do what one step of the engine did."""
        super().follow(before, recorded)
        if isinstance(recorded.move, Written):
            for topic, replicas in recorded.move.created:
                asked_controller.create_topic(self.client, topic, replicas)
                self._topics.add(topic)
            if recorded.move.owner == DEPOSER:
                self.depose()

    def delete(self, topic: str) -> bool:
        """Somebody asks for its deletion, and the controller does it; every broker listens."""
        for broker in self._sessions:
            self.fake(broker).open()
        self.client.create(f"{_DELETIONS}/{topic}")
        for path in (f"{_TOPICS}/{topic}", f"{_DELETIONS}/{topic}"):
            sequences.wait_until(partial(self._is_gone, path), f"the end of {path}")
        self._topics.remove(topic)
        return True

    def _is_gone(self, path: str) -> bool:
        return not self.client.exists(path)

    def depose(self) -> None:
        """In one transaction /controller and the next epoch go to another, whom nobody plays."""
        other = json.dumps({"version": 1, "brokerid": DEPOSER, "timestamp": "1"}).encode()
        transaction = self.client.transaction()
        transaction.delete(CONTROLLER_PATH)
        transaction.create(CONTROLLER_PATH, other, ephemeral=True)
        transaction.set_data(
            asked_controller.CONTROLLER_EPOCH, b"%d" % (self.controller_epoch() + 1)
        )
        asked_controller.commit(transaction)
        self._is_deposed = True

    def tell(self, path: str) -> None:
        """Let it hear that a watch of this path fired. Others than HELD_PATHS are not held back."""
        if path.startswith(gates.HELD_PATHS):
            super().tell(path)
        else:
            self.settle()

    def settle(self, changed: tuple[str, ...] = ()) -> None:
        """Until it has done all that it knows of; a deposed one can write no barrier."""
        if self._is_deposed:
            self._barrier.settle_events()
        else:
            super().settle(changed)

    def znodes(self) -> tuple[sequences.StateZnode, ...]:
        """The states of topics, but for the idle one."""
        states = (asked_controller.state_of(self.client, topic) for topic in sorted(self._topics))
        return tuple(state for state in states if state is not None)


def heard_live(play: Play, patch: str, schemas: ReleaseSchemas) -> tuple[sequences.Passage, ...]:
    """Every passage of a situation, as a real controller of this patch release makes it.

    Raises MissingKafkaError where none can be run, DeadKafkaError where it does not start,
    TooQuietError where it does not do what it must.
    """
    with JudgedCluster(patch, play, schemas) as cluster:
        return passages(play, features_judged(play, patch), cluster)
