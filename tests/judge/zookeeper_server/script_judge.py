"""The judge of ZooKeeper itself: the same scripts for a real one and for the engine's."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
from kiplab.protocol.zookeeper.ensemble_writes import Operation, ZooKeeperError
from kiplab.protocol.zookeeper.znodes import WatchEventType

from ..skeleton import judging
from ..skeleton.coverage import Rule
from ..skeleton.judging import Judge, Judged, seeds_of
from ..skeleton.recordings import NoRecordingError
from ..skeleton.sides import Parting, Run
from . import kazoo_sessions, scripted_engine, scripted_zookeeper, zookeeper_scripts

RELEASE = "3.9.5"
"""Of the ZooKeeper that PySpark brings along."""
TICK_MS = 200
"""So that sessions may expire soon."""
COUNT = 500
_OPERATION, _READ, _ERROR, _END, _WATCH = "operation", "read", "error", "end", "watch"
_MULTI = Rule(_OPERATION, "multi")
RULES = (
    *(Rule(_OPERATION, kind.__name__) for kind in Operation.__args__),
    _MULTI,
    *(Rule(_READ, kind.value) for kind in scripted_engine.ReadKind),
    *(Rule(_ERROR, e.value) for e in ZooKeeperError if e is not ZooKeeperError.NONE),
    *(Rule(_END, how.value) for how in scripted_engine.HowEnded),
    *(Rule(_WATCH, event.value) for event in WatchEventType),
)
"""Whatever there is."""
_ERRORS = frozenset(error.value for error in ZooKeeperError)

ScriptRun = Run[scripted_engine.ScriptStep, scripted_engine.ScriptAnswer]


def difference(
    real: scripted_engine.ScriptAnswer, engine: scripted_engine.ScriptAnswer
) -> Iterator[Parting]:
    """Where two answers differ."""
    if real != engine:
        yield Parting("the last step", str(real), str(engine))


def compared(address: str, seeds: Sequence[int]) -> Iterator[tuple[int, ScriptRun]]:
    """The scripts of these seeds, one after the other, with the server at `address`.

    Raises DeadKafkaError if the server does not answer, MissingExtraError without kazoo.
    """
    beside = kazoo_sessions.KazooSession(address)
    try:
        for seed in seeds:
            root = zookeeper_scripts.script_root(seed)
            zookeeper = scripted_zookeeper.ScriptedZooKeeper(address, beside, root)
            run: ScriptRun = Run(zookeeper, scripted_engine.ScriptedEngine(root), difference)
            try:
                run.follow(zookeeper_scripts.script(seed))
                yield seed, run
            finally:
                zookeeper.close()
    finally:
        beside.close()


def tried(run: ScriptRun) -> Counter[Rule]:
    """How often one script has tried each rule."""
    return Counter(rule for done in run.done for rule in _tried(done.turn, done.real))


def _tried(
    step: scripted_engine.ScriptStep, answer: scripted_engine.ScriptAnswer
) -> Iterator[Rule]:
    if isinstance(step, scripted_engine.WriteStep):
        yield from (Rule(_OPERATION, type(operation).__name__) for operation in step.operations)
        if step.multi:
            yield _MULTI
    if isinstance(step, scripted_engine.ReadStep):
        yield Rule(_READ, step.kind.value)
    if isinstance(step, scripted_engine.EndStep):
        yield Rule(_END, step.how.value)
        yield from (Rule(_WATCH, event) for event, _ in answer[1])
    elif isinstance(step, scripted_engine.HeardStep):
        yield from (Rule(_WATCH, event) for _, events in answer[0] for event, _ in events)
    elif answer[0] in _ERRORS:
        yield Rule(_ERROR, answer[0])


class ScriptJudge(Judge):
    """Scripts of what a few sessions ask; they are asked live alone."""

    name = "zookeeper"
    about = "A real ZooKeeper beside the engine's, script by script."
    recordings = Path(__file__).parent
    whose = "ZooKeeper"
    remedy = "let a script do it (tests/judge/zookeeper_server/zookeeper_scripts.py)"

    def subjects(self) -> tuple[str, ...]:
        return (RELEASE,)

    def live(self, subject: str, options: argparse.Namespace) -> Judged:
        with ZooKeeperProcess(tick_ms=TICK_MS) as zookeeper:
            return judged(subject, compared(zookeeper.addresses[0], seeds_of(options, COUNT)))

    def recorded(self, subject: str, options: argparse.Namespace) -> Judged:  # noqa: ARG002
        raise NoRecordingError(f"ZooKeeper {subject} is never recorded: it is asked live.")

    def rules(self, _subject: str, /) -> Sequence[Rule]:
        return RULES


def judged(subject: str, runs: Iterable[tuple[int, ScriptRun]]) -> Judged:
    """What came of these scripts."""
    outcomes = (
        judging.Outcome(len(run.done), run.difference(f"script {seed}"), tried(run))
        for seed, run in runs
    )
    return judging.judged(subject, subject, outcomes, live=True)
