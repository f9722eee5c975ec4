"""A move that is told in log lines, and what one line is."""

from typing import NamedTuple

from ..engine.cluster import Cluster
from ..engine.events import Delivered
from ..engine.history import Recorded
from ..protocol.ids import BrokerId
from ..protocol.releases import CodeVersion, Mode


class LogLine(NamedTuple):
    """``node`` logs ``text`` at ``level`` through the class ``logger``."""

    node: str
    level: str
    logger: str
    text: str

    def __str__(self) -> str:
        return f"{self.node} log, {self.level} {self.logger}: {self.text}"


class Moment(NamedTuple):
    """A move and the cluster before it: what a line may be read from."""

    before: Cluster
    step: Recorded

    def code(self, node: int) -> CodeVersion:
        """The version of the code whose wording `node` uses."""
        return self.step.cluster.features.code_of(BrokerId(node))

    @property
    def mode(self) -> Mode:
        """Who keeps the metadata: the words differ."""
        return self.step.cluster.features.mode

    @property
    def delivered(self) -> Delivered | None:
        """The message that this move delivered."""
        return next((e for e in self.step.events if isinstance(e, Delivered)), None)
