"""Whether a play can be told to real brokers, found out before any is started."""

from __future__ import annotations

from ...engine.cluster import Cluster
from ...plays.play import Play
from ...protocol.features import Features
from ...protocol.replica.broker_state import Broker
from .leader_questions import LeaderQuestion
from .leader_words import LeaderWords, is_driven
from .scene import UntoldLeadersError
from .two_columns import RealNodes, play_in_two_columns


class Rehearsal:
    """Brokers for whom there are words, and whom nobody asks: they hold what the engine holds."""

    def __init__(self, start: Cluster) -> None:
        self._words = LeaderWords(start)
        self.turns = 0

    def plays(self, broker: Broker, cluster: Cluster) -> bool:
        """See `DecidingLeaders`."""
        return is_driven(broker, cluster)

    def decide(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> None:
        """See `DecidingLeaders`."""
        self._words.lines(broker, question, cluster)
        self.turns += 1


def why_untold(play: Play, features: Features) -> UntoldLeadersError | None:
    """The line that no real broker can be told, and why; None where each can be.

    Raises PlayError as the play itself does.
    """
    try:
        play_in_two_columns(play, features, lambda start: RealNodes(None, Rehearsal(start)))
    except UntoldLeadersError as why:
        return why
    return None
