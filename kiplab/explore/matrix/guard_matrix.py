"""The guard matrix: for every subset of some guards the shortest counterexample, or a proof."""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from msgspec.structs import replace

from ...plays.header import features_of, names_of
from ...protocol.features import Features, switched
from ...protocol.guards import GUARDS, named
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import Mode
from ..levels.level_table import ExploreError
from ..search.limits import interruptible
from ..search.question import Question
from ..search_terms import UNFINISHED, Halt, HaltReason
from . import processes as workers
from .cells import FOUND, Cell, Matrix

DEFAULT_GUARDS = (
    "841",
    "903",
    "497.partition-epoch",
    "497.maximal-isr",
    "kafka-7128.epoch-start",
    "631.one-live-incarnation",
)
"""KIP-841, KIP-903, and four guards of the partition's epochs, its ISR and its incarnations."""
GUARDS_MAX = 6
"""Every further guard doubles the matrix."""
DEFAULT_KAFKA = "3.5"
PENDING = "497.pending-outlives-metadata"
"""As specified a proposal outlives metadata; as built it does not, and no set is enough then."""


def matrix_of(
    question: Question,
    guards: str | Iterable[str] = DEFAULT_GUARDS,
    *,
    as_specified: bool = True,
    processes: int | None = None,
    spark: bool = False,
    master: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
    say: Callable[[str], object] | None = None,
) -> Matrix:
    """As `kiplab.matrix`, for a question about a play and the rules around the chosen guards.

    A hand that switched PENDING in its features decides on it, whatever `as_specified` says.
    Only `progress` and `say` are called meanwhile. Raises ExploreError as that does.
    """
    if features_of(question.play).mode is not Mode.KRAFT:
        problem = f"this play is of Kafka {features_of(question.play).release}, with ZooKeeper"
        raise ExploreError(f"a matrix is of KRaft's rules, and {problem}")
    features = question.features
    names = _checked(guards, features.release)
    if as_specified and PENDING not in dict(features.overrides):
        features = switched(features, PENDING, True)
    subsets = [s for size in range(len(names) + 1) for s in combinations(names, size)]
    crew, each_mb = len(subsets), question.memory_mb
    if not spark:
        crew, each_mb = workers.processes_and_memory(processes, each_mb, crew)
    nodes = (CONTROLLER, *names_of(question.play).brokers)
    questions = [
        replace(question, features=_rules(features, names, s, nodes), memory_mb=each_mb)
        for s in subsets
    ]
    workers.announce("cells", questions, crew, say)
    began = time.perf_counter()
    exploreds: Sequence[workers.MaybeExplored]
    if spark:
        exploreds, cancelled = workers.on_spark(questions, master=master), False
    else:
        with interruptible(cancel) as stop:
            exploreds = workers.answers(questions, processes=crew, progress=progress, cancel=stop)
            cancelled = stop()
    return Matrix(
        title=question.play.title,
        guards=names,
        base=features.label(),
        as_specified=PENDING in features.active(CONTROLLER),
        level=question.level,
        bounds=question.bounds,
        properties=question.properties,
        cells=tuple(
            _cell(names, off, asked.features, one, cancelled)
            for off, asked, one in zip(subsets, questions, exploreds, strict=True)
        ),
        seconds=time.perf_counter() - began,
    )


def _checked(guards: str | Iterable[str], release: str) -> tuple[str, ...]:
    names = (guards,) if isinstance(guards, str) else tuple(guards)
    seen: dict[str, str] = {}
    for name in names:
        for id in named(name):
            if id in seen:
                raise ExploreError(f"{name} and {seen[id]} both switch {id}; name it once")
            seen[id] = name
        # Says which guards there are, if this is none.
        switched(Features(release, ""), name, False)
    if not 1 <= len(names) <= GUARDS_MAX:
        raise ExploreError(
            f"{len(names)} guards make {2 ** len(names):,} cells; expected 1 to {GUARDS_MAX} of"
            f" {', '.join(GUARDS)}, or KIPs such as 841"
        )
    return names


def _rules(
    base: Features, guards: tuple[str, ...], off: tuple[str, ...], nodes: tuple[BrokerId, ...]
) -> Features:
    """`base` with `off` switched off, and the other guards whole: where any of `nodes` lacks a part
    of one, that guard is switched on, with the request versions that it needs."""
    features = base
    for guard in guards:
        if guard in off:
            features = switched(features, guard, False)
        elif any(not base.active(node).issuperset(named(guard)) for node in nodes):
            features = switched(features, guard, True)
    return features


def _cell(
    guards: tuple[str, ...],
    off: tuple[str, ...],
    rules: Features,
    one: workers.MaybeExplored,
    cancelled: bool,
) -> Cell:
    left = tuple(g for g in guards if g not in off)
    if one is None:
        why = Halt(HaltReason.CANCELLED if cancelled else HaltReason.PROCESS_ENDED).sentence
        return Cell(off, left, UNFINISHED, None, None, 0, 0.0, None, rules.label(), why)
    found = {name: getattr(one, name) for name in (*FOUND, "seconds", "stopped")}
    return Cell(off=off, on=left, **found)
