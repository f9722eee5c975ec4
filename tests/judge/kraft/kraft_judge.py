"""The judge of the KRaft controller: generated conversations, with a real one or its recording."""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.protocol.features import Features, UnknownFeatureError

from ..skeleton import coverage, recordings, rows, sides, wrong_engines
from ..skeleton.judging import BadSubjectError, Judge, Judged
from ..skeleton.recordings import Recording
from . import difference_as_play, real_side, rules
from .conversation import Conversation, Generated
from .pairs import QUESTIONS, JudgedPair, Seed, judged_pairs, pair_named, seeds_for
from .shortest_difference import PartedConversation, shortest_difference
from .turns import Answer, Beginning, Turn
from .wrong_engines import ENGINES

RECORDINGS = Path(__file__).parents[1] / "recordings"
SHRUNK = 3
"""Of so many differences of a pair the shortest is looked for."""


class RecordedTurn(msgspec.Struct, frozen=True):
    """A turn and Kafka's answer."""

    turn: Turn
    answer: Answer


class RecordedConversation(msgspec.Struct, frozen=True):
    """One conversation, of the seed that chose it."""

    seed: int
    beginning: Beginning
    turns: tuple[RecordedTurn, ...]


class RecordingHead(msgspec.Struct, frozen=True, kw_only=True):
    """Where a recording came from. `kafka` is the patch release that answered.

    `covering` are the places of the conversations that meet every rule of the pair, and notice each
    wrong engine that is to be noticed with it.
    """

    kafka: str
    release: str
    metadata_version: str
    requests: int
    covering: tuple[int, ...] = ()


KraftRecording = Recording[RecordingHead]
Switch = Callable[[Features], Features]
"""Makes other features of those that were recorded."""


class JudgedPairs(NamedTuple):
    """What came of the conversations of one pair."""

    judged: Judged
    parted: tuple[PartedConversation, ...]
    rules: tuple[frozenset[coverage.Rule], ...]
    """What each conversation tried."""


class _Judging:
    """Conversations so far."""

    def __init__(self, pair: JudgedPair) -> None:
        self._pair = pair
        self._coverage = rules.coverage()
        self._rules: list[frozenset[coverage.Rule]] = []
        self._requests, self._begun = 0, time.perf_counter()
        self.parted: list[PartedConversation] = []

    def watch(self, conversation: Conversation) -> None:
        """Count what the engine tries from now on."""
        conversation.engine.witness = self._coverage.see
        self._before = Counter(self._coverage.hits)

    def done(self, seed: int, conversation: Conversation) -> None:
        """A conversation is over."""
        self._rules.append(frozenset(self._coverage.hits - self._before))
        self._requests += conversation.requests
        if conversation.parted:
            self.parted.append(PartedConversation.of(seed, conversation))

    def result(self, patch: str, *, live: bool) -> JudgedPairs:
        """What came of all."""
        judged = Judged(
            str(self._pair),
            live,
            patch,
            len(self._rules),
            self._requests,
            tuple(difference_as_play.difference_text(parted, patch) for parted in self.parted),
            self._coverage.hits,
            time.perf_counter() - self._begun,
        )
        return JudgedPairs(judged, tuple(self.parted), tuple(self._rules))


def judge_with(
    kafka: real_side.Controller, pair: JudgedPair, patch: str, seeds: Sequence[Seed]
) -> tuple[JudgedPairs, KraftRecording]:
    """Have a controller of the release `patch` answer the conversations of these seeds."""
    judging, lines = _Judging(pair), []
    for seed in seeds:
        features = replace(pair.features, metadata_version=kafka.begin().metadata_version)
        generated = Generated(kafka, features, seed.number, raises=seed.raises)
        judging.watch(generated.conversation)
        generated.run(QUESTIONS)
        judging.done(seed.number, generated.conversation)
        lines.append(rows.write_row(_recorded(generated), RecordedConversation))
    judging.parted[:SHRUNK] = [shortest_difference(kafka, p) for p in judging.parted[:SHRUNK]]
    result = judging.result(patch, live=True)
    head = RecordingHead(
        kafka=patch,
        release=pair.release,
        metadata_version=pair.metadata_version,
        requests=result.judged.turns,
    )
    return result, Recording(head, lines)


def _recorded(generated: Generated) -> RecordedConversation:
    turns = tuple(RecordedTurn(done.turn, done.real) for done in generated.conversation.done)
    return RecordedConversation(generated.seed, generated.beginning, turns)


def judge_recording(
    pair: JudgedPair,
    recording: KraftRecording,
    places: Iterable[int] | None = None,
    *,
    switch: Switch = lambda features: features,
    first_only: bool = False,
) -> JudgedPairs:
    """The engine beside what was recorded: all conversations, or those at `places`; with
    `first_only` no further than to the first difference.
    """
    judging = _Judging(pair)
    for place in range(len(recording.lines)) if places is None else places:
        recorded: RecordedConversation = rows.read_row(recording.lines[place], RecordedConversation)
        version = recorded.beginning.metadata_version
        features = switch(replace(pair.features, metadata_version=version))
        real = sides.Recorded[Turn, Answer](turn.answer for turn in recorded.turns)
        conversation = Conversation(real, recorded.beginning, features)
        judging.watch(conversation)
        conversation.follow(turn.turn for turn in recorded.turns)
        judging.done(recorded.seed, conversation)
        if first_only and judging.parted:
            break
    return judging.result(recording.head.kafka, live=False)


# --- recordings -----------------------------------------------------------------------------------


def file_of(pair: JudgedPair, folder: Path) -> Path:
    """Where the recording of a pair is, or would be."""
    return folder / f"{pair.release}_{pair.metadata_version}{recordings.SUFFIX}"


def load(pair: JudgedPair, folder: Path = RECORDINGS) -> KraftRecording:
    """The recording of a pair. Raises NoRecordingError without one."""
    return recordings.load(file_of(pair, folder), RecordingHead, f"Kafka {pair}")


def save(pair: JudgedPair, recording: KraftRecording, folder: Path = RECORDINGS) -> Path:
    """Write the recording of a pair, and return where."""
    return recordings.save(file_of(pair, folder), recording)


def with_covering(pair: JudgedPair, recording: KraftRecording) -> KraftRecording:
    """The recording, with the few conversations in its head that stand for all of them."""
    judged = judge_recording(pair, recording)
    chosen = [*recordings.covering(judged.rules)]
    for engine in ENGINES:
        if engine.is_for_recordings and pair_named(engine.subject) == pair:
            with wrong_engines.built(engine):
                chosen += _noticing(pair, recording, chosen)
    for guard in rules.controller_guards():
        if rules.pair_that_notices(guard) == pair:
            chosen += _noticing(pair, recording, chosen, rules.with_the_other(guard))
    head = replace(recording.head, covering=tuple(sorted(chosen)))
    return Recording(head, recording.lines)


def _noticing(
    pair: JudgedPair,
    recording: KraftRecording,
    chosen: Sequence[int],
    switch: Switch = lambda features: features,
) -> Iterator[int]:
    """The first conversation in which the engine as it is now parts, if none of `chosen` is one."""
    if judge_recording(pair, recording, chosen, switch=switch, first_only=True).parted:
        return
    for place in range(len(recording.lines)):
        if judge_recording(pair, recording, [place], switch=switch).parted:
            yield place
            return


# --- the command ----------------------------------------------------------------------------------


class KraftJudge(Judge):
    """See `Judge`: a subject is a pair such as ``"3.7/3.5-IV2"``."""

    name = "kraft"
    about = "Ask a KRaft controller of each release and the engine the same requests."
    recordings = RECORDINGS
    enough = rules.ENOUGH
    rare = rules.RARE
    remedy = (
        "let the generator ask for it (tests/judge/kraft/questions.py), or say in"
        " tests/judge/kraft/rules.py why it cannot be reached"
    )

    def subjects(self) -> tuple[str, ...]:
        """Every release at every judged metadata version."""
        return tuple(map(str, judged_pairs()))

    def subject(self, name: str) -> str:
        """``"3.7"`` is its newest metadata version. Raises BadSubjectError."""
        try:
            return str(pair_named(name))
        except UnknownFeatureError as problem:
            raise BadSubjectError(str(problem)) from None

    def options(self, parser: argparse.ArgumentParser) -> None:
        """`--quick` replays only the conversations that cover every rule."""
        parser.add_argument(
            "--quick", action="store_true", help="with --recorded: the fewest conversations"
        )

    def live(self, subject: str, options: argparse.Namespace) -> Judged:
        """Generated conversations with a real controller."""
        pair = pair_named(subject)
        result, recording = judge_live(pair, seeds_for(pair, options.seed, options.count))
        if options.record and not result.parted:
            save(pair, with_covering(pair, recording), options.recordings)
        return result.judged

    def recorded(self, subject: str, options: argparse.Namespace) -> Judged:
        """The conversations that were recorded."""
        pair = pair_named(subject)
        recording = load(pair, options.recordings)
        places = recording.head.covering if options.quick else None
        return judge_recording(pair, recording, places).judged

    def rules(self, subject: str) -> Sequence[coverage.Rule]:
        """All of the release."""
        return rules.rules_of(pair_named(subject).release)

    def why_untried(self, rule: coverage.Rule, subject: str) -> str | None:
        """Why no conversation with that pair tries a rule; None if one can."""
        return rules.why_unreachable(rule, pair_named(subject))

    def column(self, subject: str) -> str:
        """All pairs of a release count together."""
        return pair_named(subject).release


def judge_live(pair: JudgedPair, seeds: Sequence[Seed]) -> tuple[JudgedPairs, KraftRecording]:
    """Ask a real controller; where they part, in few words.

    Raises MissingKafkaError where none can run, DeadKafkaError where one ends by itself.
    """
    with ControllerProcess(pair.release, pair.metadata_version) as process:
        kafka = real_side.RealSide(process)
        result = judge_with(kafka, pair, process.patch, seeds)
        kafka.close()
    return result
