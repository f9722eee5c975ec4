"""A situation told to the engine line by line, and to whoever listens to a controller beside it."""

import json
from collections.abc import Callable, Iterator, Sequence
from difflib import ndiff
from itertools import zip_longest
from typing import Any, Protocol, cast

import msgspec
from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.history import Recorded
from kiplab.engine.step import Step, step
from kiplab.judge.kafka_jars.jar_cache import zookeeper_release
from kiplab.judge.zookeeper_era import real_control_requests, sequences
from kiplab.judge.zookeeper_era.sequences import NO_EPOCH, Passage, SentRequest, ShutdownAnswer
from kiplab.judge.zookeeper_plays import engine_ear
from kiplab.plays import header, play_errors, request_words, runner
from kiplab.plays.play import Play, Statement
from kiplab.plays.stage import Stage, act, flow
from kiplab.protocol import ids, messages, releases
from kiplab.protocol.features import Features, parse_features

from . import situations
from .control_coverage import ControlCoverage

_SHUT_DOWN, _ALTER = "controlled-shutdown", "alter-partition"
_KIP_380 = (2, 2)
"""The first release whose requests carry broker epochs."""
Seen = Callable[[Cluster, moves.Move, Step], None]
"""Is shown every move of the engine."""


class Listener(Protocol):
    """Hears what a controller sends: the engine's, or a real one to which the same is done."""

    @property
    def generations(self) -> engine_ear.Generations:
        """The epochs that brokers have in the engine."""

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """One step of the engine."""

    def passage(self, title: str, cluster: Cluster) -> Passage:
        """What was heard since the last one, and what ZooKeeper has now."""

    def delete(self, topic: str) -> bool:
        """Delete a topic; False where topics cannot be deleted."""


class EngineListener(engine_ear.EngineEar):
    """Hears the engine's controller."""

    def __init__(self, play: Play, features: Features) -> None:
        super().__init__(header.setup_of(play, features))
        self._topics.remove(sequences.IDLE)

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """One step. A topic that is created is among those whose znodes are read from now on."""
        super().follow(before, recorded)
        if isinstance(recorded.move, situations.Written):
            self._topics = sorted({*self._topics, *(t for t, _ in recorded.move.created)})

    def delete(self, _topic: str) -> bool:
        return False


class _Telling:
    """What is heard is put into the passage to which it belongs."""

    def __init__(
        self, play: Play, features: Features, listener: Listener, seen: Seen | None
    ) -> None:
        self._play, self._listener, self._seen = play, listener, seen
        stage = runner.open_stage(play, features)
        history = replace(stage.history, doing=self._do)
        self._stage = replace(stage, strict=True, history=history)
        self._stamps: dict[str, list[str]] = {_SHUT_DOWN: [], _ALTER: []}
        self._waiting: list[SentRequest] = []
        self._answers: list[ShutdownAnswer] = []

    def _do(self, cluster: Cluster, move: Any) -> Step:
        if isinstance(move, situations.Written):
            return situations.after_writing(cluster, move)
        done = step(cluster, cast(moves.Move, move))
        if self._seen is not None:
            self._seen(cluster, move, done)
        return done

    def passages(self) -> Iterator[Passage]:
        """Up to the first line that the listener cannot be told."""
        title = ""
        for line, statement in enumerate(self._play.statements, 1):
            if situations.is_title(statement):
                if title:
                    yield self._passage(title)
                title = statement.comment or ""
            elif statement.verb != situations.DELETE:
                self._tell(statement, line)
            elif not self._listener.delete(statement.words[0]):
                return
        yield self._passage(title)

    def _tell(self, statement: Statement, line: int) -> None:
        before, first = self._stage.cluster, self._stage.history.at
        self._stage = self._told(statement, line)
        for recorded in self._stage.history.steps[first:]:
            self._listener.follow(before, recorded)
            before = recorded.cluster

    def _told(self, statement: Statement, line: int) -> Stage:
        stage = self._stage
        if statement.verb in situations.WRITES:
            written: Any = situations.WRITES[statement.verb](stage.cluster, statement)
            return flow(act(stage, written, line), line) if written.operations else stage
        if statement.verb == "send":
            return flow(act(stage, self._request(statement), line), line)
        return runner.do_line(stage, statement, line)

    def _request(self, statement: Statement) -> moves.RawRequest:
        """It is nobody's: so no broker hears the answer. The release is asked in a version that it
        knows; before KIP-380 a ControlledShutdown has no epoch.
        """
        features, stamp = self._stage.features, statement.arg(situations.EPOCH) or NO_EPOCH
        has_epoch = features.code_of(situations.CONTROLLER) >= _KIP_380
        if statement.words[0] == _SHUT_DOWN and not has_epoch:
            stamp = NO_EPOCH
        self._stamps[statement.words[0]].append(stamp)
        sent = _numbered(statement, self._listener.generations, stamp)
        _, _, body = request_words.raw_request(sent, self._stage.cluster)
        if isinstance(body, messages.AlterPartitionRequest):
            spoken = releases.RELEASES[features.release].alter_partition
            body = replace(body, version=min(body.version, spoken))
        elif isinstance(body, messages.ControlledShutdownRequest):
            body = replace(body, version=2 if has_epoch else 1)
        return moves.RawRequest(ids.CLIENT, ids.controller_on(situations.CONTROLLER), body)

    def _passage(self, title: str) -> Passage:
        """What a broker has not answered yet is told when it does, and the answer to a
        ControlledShutdown when the controller sees again what ZooKeeper has.
        """
        heard = self._listener.passage(title, self._stage.cluster)
        requests = sorted((*self._waiting, *heard.requests), key=lambda sent: sent.broker)
        self._waiting = [r for r in requests if self._holds("leader-and-isr-reply", r.broker)]
        answers, self._answers = [*self._answers, *heard.answers], []
        if self._holds("watcher-event"):
            answers, self._answers = [], answers
        return replace(
            heard,
            requests=tuple(sent for sent in requests if sent not in self._waiting),
            answers=tuple(replace(a, stamped=self._stamps[_SHUT_DOWN].pop(0)) for a in answers),
            altered=tuple(replace(a, stamped=self._stamps[_ALTER].pop(0)) for a in heard.altered),
        )

    def _holds(self, kind: str, sender: int | None = None) -> bool:
        """Whether the last `hold` or `release` of such messages was a `hold`."""
        holds = ((p.kind, p.sender, held) for p, held in reversed(self._stage.holds))
        return next((held for k, s, held in holds if (k, s) == (kind, sender)), False)


def _numbered(statement: Statement, generations: engine_ear.Generations, stamp: str) -> Statement:
    """The line with the number of the epoch that it is stamped with. Raises PlayError for that of a
    generation that there never was.
    """
    generation, _, newer = stamp.partition("+")
    epochs = {NO_EPOCH: int(NO_EPOCH), **dict(generations.epochs)}
    if generation not in epochs:
        raise play_errors.PlayError(f"no broker was {generation} by then")
    number = str(epochs[generation] + int(newer or 0))
    args = ((key, number if key == situations.EPOCH else value) for key, value in statement.args)
    return replace(statement, args=tuple(args))


def passages(
    play: Play, features: Features, listener: Listener, seen: Seen | None = None
) -> tuple[Passage, ...]:
    """What is heard in each passage, up to the first line that the listener cannot be told.

    Raises PlayError for a line that cannot be done.
    """
    return tuple(_Telling(play, features, listener, seen).passages())


def engine_sequences(
    play: Play, features: Features, coverage: ControlCoverage | None = None
) -> tuple[Passage, ...]:
    """Every passage of a situation, as the engine's controller makes it. What it has tried is added
    to `coverage`, if there is one.
    """
    seen = None if coverage is None else coverage.see
    return passages(play, features, EngineListener(play, features), seen)


def features_judged(play: Play, patch: str) -> Features:
    """Under what the engine does as a patch release does in this situation."""
    release, protocol = zookeeper_release(patch), play.first("metadata")
    return parse_features(f"{release}/{protocol.words[0]}" if protocol else release)


def engine_differences(
    play: Play, patch: str, heard: tuple[Passage, ...], coverage: ControlCoverage | None = None
) -> Iterator[str]:
    """Where the engine does otherwise than a controller of this patch release was `heard` to do, in
    lines; nothing where both are alike in all that the engine is told.
    """
    engine = engine_sequences(play, features_judged(play, patch), coverage)
    kafka = [engine_ear.as_in_the_engine(passage) for passage in heard]
    if any(statement.verb == situations.DELETE for statement in play.statements):
        del kafka[len(engine) :]
    both = [engine_ear.as_in_the_engine(passage) for passage in engine]
    return difference_lines(kafka, both, names=("Kafka", "the engine"))


_NOTHING = Passage("(nothing)", 0)
_PASSAGE, _LINES_DOWN_TO = 2, 4
"""How deep a passage is in what is kept, and how deep what has a line of its own may be:
situations, passages, requests.
"""


def difference_lines(
    expected: Sequence[Passage], heard: Sequence[Passage], *, names: tuple[str, str]
) -> Iterator[str]:
    """Passages that differ, ``-`` before what only the first has and ``+`` before what only the
    second has; `names` are who they are. Nothing where both are alike.
    """
    for both in zip_longest(expected, heard, fillvalue=_NOTHING):
        if both[0] != both[1]:
            yield f"- only {names[0]}, + only {names[1]}:"
            one, other = (_text(msgspec.to_builtins(passage), _PASSAGE) for passage in both)
            lines = ndiff("".join(one).splitlines(), "".join(other).splitlines())
            yield from (line for line in lines if not line.startswith("?"))


def keep_sequences(patch: str, heard: real_control_requests.Heard) -> None:
    """Write what was heard beside what is recorded of other situations."""
    kept = msgspec.to_builtins(real_control_requests.recorded_sequences(patch) | heard)
    real_control_requests.SEQUENCES.mkdir(exist_ok=True)
    text = "".join(_text(kept, 0))
    (real_control_requests.SEQUENCES / f"{patch}.json").write_text(f"{text}\n")
    real_control_requests.recorded_sequences.cache_clear()


def _text(value: Any, depth: int) -> Iterator[str]:
    if not value or depth == _LINES_DOWN_TO or not isinstance(value, (dict, tuple, list)):
        yield json.dumps(value, separators=(",", ":"))
        return
    named = value.items() if isinstance(value, dict) else (("", inner) for inner in value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    for place, (name, inner) in enumerate(named):
        key = f"{json.dumps(name)}: " if isinstance(value, dict) else ""
        yield f"{',' if place else ''}\n{' ' * (depth + 1)}{key}"
        yield from _text(inner, depth + 1)
    yield f"\n{' ' * depth}{closing}"
