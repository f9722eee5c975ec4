"""The lives of brokers in a play, in the order of their registrations."""

from __future__ import annotations

from ...protocol.ids import NO_BROKER_EPOCH
from ..zookeeper_era.sequences import NO_EPOCH


class Generations:
    """Names such as ``"b1g2"``, for the second registration of broker 1."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[int, str]]] = {}

    def begin(self, broker: int, epoch: int) -> str:
        """The next one of a broker: it has this epoch in the play."""
        known = self._known.setdefault(broker, [])
        known.append((epoch, f"b{broker}g{len(known) + 1}"))
        return known[-1][1]

    def epochs_of(self, broker: int) -> list[tuple[int, str]]:
        """Every epoch that a broker has had, and the generation's name."""
        return self._known.get(broker, [])

    def now(self, broker: int) -> str:
        """The last one of a broker that has registered."""
        return self._known[broker][-1][1]

    def name(self, broker: int, epoch: int) -> str:
        """Whose epoch that is."""
        if epoch == NO_BROKER_EPOCH:
            return NO_EPOCH
        return dict(self.epochs_of(broker)).get(epoch, f"unknown epoch {epoch}")

    @property
    def by_epoch(self) -> dict[tuple[int, int], str]:
        """The names by broker and epoch."""
        return {(b, epoch): name for b, known in self._known.items() for epoch, name in known}

    @property
    def epochs(self) -> tuple[tuple[str, int], ...]:
        """The epochs by name."""
        return tuple((name, epoch) for known in self._known.values() for epoch, name in known)
