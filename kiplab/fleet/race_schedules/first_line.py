"""The common beginning of schedules, computed once."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ...engine.cluster import Cluster

CameOf = TypeVar("CameOf")


class FirstLine:
    """What came of clusters on the first line that lets time pass: all schedules go through the
    same ones there, up to the moment when their own line is over.

    They are known by their identity, and so are kept with what came of them.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, Hashable], tuple[Cluster, Any]] = {}

    def once(self, cluster: Cluster, what: Hashable, do: Callable[[], CameOf]) -> CameOf:
        """What `do` says of this very cluster, asked once for each `what`."""
        here = (id(cluster), what)
        entry = self._known.get(here)
        if entry is None:
            entry = self._known[here] = (cluster, do())
        of: CameOf = entry[1]
        return of
