"""The search of breadth_first.py as machine code: the same states, in the same order.

A state is a row of words in a flat array; its number is its row. A table with open addressing finds
rows by their hash. Python only grows the arrays and checks the limits between two stretches.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ...engine.cluster import Cluster
from ...engine.properties import ELECTABLE_HOLDS_COMMITTED, NO_COMMITTED_RECORD_LOST
from .. import search_terms as terms
from ..levels.level_table import Action, Level
from . import expanding
from . import word_layout as at
from .fitting import NotCompiledError, parameters_of
from .packing import Encoding

PROPERTIES = (NO_COMMITTED_RECORD_LOST.id, ELECTABLE_HOLDS_COMMITTED.id)
"""What the compiled observer checks; bit i of `property_bits` is property i."""
FIRST_ROWS = 1 << 12
LOOK_EVERY = 1 << 13
"""States between two looks at the limits."""
ROW_BYTES = 8 * at.WORDS + 4 + 2
TOO_NARROW = terms.Halt(terms.HaltReason.TOO_NARROW)
Room = Callable[[int], terms.Halt | None]
"""Asked before so many bytes more are taken: None, or why they may not be."""


class CompiledModel:
    """States as words, and what leads on. Raises NotCompiledError for a question beyond it."""

    def __init__(self, level: Level, cluster: Cluster, bounds: Mapping[str, int]) -> None:
        if level.name != "partition":
            raise NotCompiledError("it knows the level partition alone")
        level = level.within(bounds)
        kinds = tuple(kind.name for kind in level.kinds)
        if (kinds, tuple(bounds)) != (at.KIND_NAMES, at.BOUND_NAMES):
            raise NotCompiledError("its actions and bounds are not those that are asked for")
        self.level, self.start = level, level.admit(cluster)
        self.coverage = terms.Coverage()
        self.encoding, self.budgets = Encoding(self.start, bounds), tuple(bounds.values())
        self.parameters = np.array(parameters_of(self.start), np.int64)

    def first(self) -> tuple[int, ...]:
        """The start, with every bound untouched."""
        return self.encoding.pack(self.start, self.budgets)

    def successors(
        self, state: tuple[int, ...]
    ) -> Iterator[tuple[Action, tuple[int, ...], tuple[str, ...]]]:
        """As EngineModel.successors, in the same order: for those who compare state by state."""
        one = _CompiledSearch(self, state)
        ended = one.expand(1)
        self.note(one.out)
        if ended == expanding.NARROW:
            raise NotCompiledError(TOO_NARROW.sentence)
        count = int(one.tallies[expanding.TRANSITIONS])
        for row, code in zip(one.after[:count], one.codes[:count], strict=True):
            broken = _NAMES[int(code) >> 16]
            yield self.action(int(code)), tuple(map(int, row)), broken

    def note(self, out: npt.NDArray[np.int64]) -> None:
        """Remember which guards fired, and whether anything was committed."""
        self.coverage.guards |= {id for id, bit in at.RULES.items() if int(out[at.FIRED]) & bit}
        self.coverage.committed |= bool(out[at.MOVED])

    def action(self, code: int) -> Action:
        """The action that a code stands for."""
        kind, id = self.level.kinds[code & at.THREE].name, self.encoding.ids[code >> 3 & at.TWO]
        return Action(kind, id, incarnation=code >> 5 & at.THREE)


_NAMES = ((), PROPERTIES[:1], PROPERTIES[1:], PROPERTIES, PROPERTIES[::-1])
"""Properties that broke, by the code of word_layout.BROKEN."""


def search_compiled(
    model: CompiledModel,
    properties: Iterable[str],
    stop: terms.StopRule = terms.never,
    room: Room | None = None,
) -> terms.SearchOutcome:
    """As breadth_first.search over the engine's model, state by state, and the same outcome.

    `room` is asked before the arrays grow. Raises NotCompiledError for another property.
    """
    property_bits = sum(1 << PROPERTIES.index(id) for id in set(check_properties(properties)))
    return _CompiledSearch(model, model.first(), property_bits, stop, room).run()


def check_properties(properties: Iterable[str]) -> tuple[str, ...]:
    """The properties themselves. Raises NotCompiledError for one that is not compiled."""
    ids = tuple(properties)
    if not set(ids) <= set(PROPERTIES):
        others = ", ".join(id for id in ids if id not in PROPERTIES)
        raise NotCompiledError(f"it does not check {others}")
    return ids


class _CompiledSearch:
    def __init__(
        self,
        model: CompiledModel,
        first: tuple[int, ...],
        property_bits: int = 0,
        stop: terms.StopRule = terms.never,
        room: Room | None = None,
    ) -> None:
        self.model, self.property_bits, self.stop, self.room = model, property_bits, stop, room
        self.rows: npt.NDArray[np.int64] = np.zeros((FIRST_ROWS, at.WORDS), np.int64)
        self.parents, self.how = np.zeros(FIRST_ROWS, np.int32), np.zeros(FIRST_ROWS, np.int16)
        self.after = np.zeros((expanding.MOST_SUCCESSORS, at.WORDS), np.int64)
        self.codes = np.zeros(expanding.MOST_SUCCESSORS, np.int64)
        self._fresh_table(2 * FIRST_ROWS)
        self.tallies = np.zeros(expanding.TALLIES, np.int64)
        self.taken, self.out = np.zeros(at.KINDS, np.int64), np.zeros(at.OUTS, np.int64)
        self.layers: list[int] = []
        self.rows[0] = first
        self.tallies[expanding.COUNT] = 1
        tag = expanding.hash_of(self.rows[0])
        self.table[tag >> self.free] = tag << 32 | 1

    def _fresh_table(self, slots: int) -> None:
        self.table = np.zeros(slots, np.int64)
        self.free = expanding.TAG_BITS + 1 - slots.bit_length()

    def run(self) -> terms.SearchOutcome:
        first, halt = 0, None
        while halt is None and (end := int(self.tallies[expanding.COUNT])) > first:
            self.layers.append(end - first)
            halt = self._layer(end)
            if self.tallies[expanding.HIT]:
                break
            first = end
        return self._outcome(halt)

    def _layer(self, end: int) -> terms.Halt | None:
        """Look at all states up to row `end`, or say why not."""
        tallies = self.tallies
        while tallies[expanding.LOOKED] < end:
            halt = self.stop(self._progress())
            if halt is not None:
                return halt
            ended = self.expand(min(end, int(tallies[expanding.LOOKED]) + LOOK_EVERY))
            if ended == expanding.NARROW:
                return TOO_NARROW
            if ended == expanding.FULL and (halt := self._grow()) is not None:
                return halt
            if ended not in (expanding.DONE, expanding.FULL):
                return None
        return None

    def expand(self, until: int) -> int:
        """Look at all states up to row `until`; why that ended."""
        self.tallies[expanding.UNTIL] = until
        ended: int = expanding.expand_root()(
            *(self.rows, self.parents, self.how, self.after, self.codes, self.table, self.free),
            *(self.model.parameters, self.property_bits, self.tallies, self.taken, self.out),
        )
        return ended

    def _grow(self) -> terms.Halt | None:
        size = len(self.parents)
        more = size if size < 1 << 20 else size // 2
        wider = 2 * (size + more) > len(self.table)
        bytes = ROW_BYTES * more + (16 * len(self.table) if wider else 0)
        if self.room is not None and (halt := self.room(bytes)) is not None:
            return halt
        # Where the system can, this moves no byte; nothing else refers to the arrays.
        self.rows.resize((size + more, at.WORDS), refcheck=False)
        self.parents.resize(size + more, refcheck=False)
        self.how.resize(size + more, refcheck=False)
        if wider:
            narrow = self.table
            self._fresh_table(2 * len(narrow))
            expanding.move_root()(narrow, self.table, self.free)
        return None

    def _progress(self) -> terms.Progress:
        count, looked, _, transitions, *_ = map(int, self.tallies)
        return terms.Progress(count, transitions, len(self.layers) - 1, count - looked)

    def _outcome(self, halt: terms.Halt | None) -> terms.SearchOutcome:
        self.model.note(self.out)
        now = self._progress()
        names = [kind.name for kind in self.model.level.kinds]
        taken = {name: int(n) for name, n in zip(names, self.taken, strict=True) if n}
        hit = int(self.tallies[expanding.HIT])
        return terms.SearchOutcome(
            states=now.states,
            frontier=0 if halt is None else now.frontier,
            path=self._path() if hit else (),
            violated=PROPERTIES[hit - 1] if hit else None,
            taken=dict(sorted(taken.items())),
            layers=tuple(self.layers),
            halt=halt,
        )

    def _path(self) -> tuple[Action, ...]:
        """The way to the violation: its last action led on from the state looked at last."""
        row, path = int(self.tallies[expanding.LOOKED]), [int(self.out[at.BROKEN])]
        while row:
            path.append(int(self.how[row]))
            row = int(self.parents[row])
        return tuple(self.model.action(code) for code in reversed(path))
