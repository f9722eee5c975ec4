"""The judge of the KRaft controller: generated conversations, with a real one or its recording."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.protocol.features import Features, UnknownFeatureError

from ..skeleton import judging, recordings, rows, sides, wrong_engines
from ..skeleton.coverage import Rule
from ..skeleton.recordings import Recording
from . import difference_as_play, real_side, rules
from .conversation import Conversation, Generated
from .pairs import QUESTIONS, WITH_ELR, JudgedPair, Seed, judged_pairs, pair_named, seeds_for
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


class RecordingHead(msgspec.Struct, frozen=True):
    """Where a recording came from. `kafka` is the patch release that answered.

    `covering` are the places of the conversations that meet every rule of the pair, and notice each
    wrong engine that is to be noticed with it.
    """

    kafka: str
    release: str
    metadata_version: str
    requests: int
    covering: tuple[int, ...] = ()
    elr: int = 0


KraftRecording = Recording[RecordingHead]
Switch = Callable[[Features], Features]
"""Makes other features of those that were recorded."""


def judge_with(
    kafka: real_side.Controller, pair: JudgedPair, patch: str, seeds: Sequence[Seed]
) -> tuple[judging.Judged, KraftRecording]:
    """Have a controller of the release `patch` answer the conversations of these seeds; where they
    part, in few words.
    """
    lines: list[Any] = []
    judged = judging.judged(str(pair), patch, _asked(kafka, pair, patch, seeds, lines), live=True)
    head = RecordingHead(patch, pair.release, pair.metadata_version, judged.turns, elr=pair.elr)
    return judged, Recording(head, lines)


def _asked(
    kafka: real_side.Controller,
    pair: JudgedPair,
    patch: str,
    seeds: Sequence[Seed],
    lines: list[Any],
) -> Iterator[judging.Outcome]:
    """Each conversation, which is added to `lines`."""
    coverage, parted = rules.coverage(), 0
    for seed in seeds:
        features = replace(pair.features, metadata_version=kafka.begin().metadata_version)
        generated = Generated(kafka, features, seed.number, raises=seed.raises)
        held = generated.conversation
        held.engine.witness = coverage.see
        before = Counter(coverage.hits)
        generated.run(QUESTIONS)
        turns = tuple(RecordedTurn(done.turn, done.real) for done in held.done)
        recorded = RecordedConversation(seed.number, generated.beginning, turns)
        lines.append(rows.write_row(recorded, RecordedConversation))
        difference = ""
        if held.parted:
            short = PartedConversation.of(seed.number, held)
            short = shortest_difference(kafka, short) if parted < SHRUNK else short
            difference, parted = difference_as_play.difference_text(short, patch), parted + 1
        yield judging.Outcome(held.requests, difference, coverage.hits - before)


class Replayed(NamedTuple):
    """A conversation that was recorded, with the engine beside it, and what it has tried."""

    seed: int
    conversation: Conversation
    hits: Counter[Rule]


def replayed(
    pair: JudgedPair,
    recording: KraftRecording,
    places: Iterable[int] | None = None,
    switch: Switch = lambda features: features,
) -> Iterator[Replayed]:
    """The engine beside what was recorded: all conversations, or those at `places`."""
    coverage = rules.coverage()
    for line in recording.at(places):
        recorded: RecordedConversation = rows.read_row(line, RecordedConversation)
        version = recorded.beginning.metadata_version
        features = switch(replace(pair.features, metadata_version=version))
        real = sides.Recorded[Turn, Answer](turn.answer for turn in recorded.turns)
        conversation = Conversation(real, recorded.beginning, features)
        conversation.engine.witness = coverage.see
        before = Counter(coverage.hits)
        conversation.follow(turn.turn for turn in recorded.turns)
        yield Replayed(recorded.seed, conversation, coverage.hits - before)


def parts(
    pair: JudgedPair,
    recording: KraftRecording,
    places: Iterable[int] | None = None,
    switch: Switch = lambda features: features,
) -> bool:
    """Whether one of these conversations parts."""
    return any(one.conversation.parted for one in replayed(pair, recording, places, switch))


def judge_recording(
    pair: JudgedPair, recording: KraftRecording, places: Iterable[int] | None = None
) -> judging.Judged:
    """What comes of all conversations that were recorded, or of those at `places`."""
    patch = recording.head.kafka
    outcomes = (
        judging.Outcome(one.conversation.requests, _difference(one, patch), one.hits)
        for one in replayed(pair, recording, places)
    )
    return judging.judged(str(pair), patch, outcomes, live=False)


def _difference(one: Replayed, patch: str) -> str:
    if not one.conversation.parted:
        return ""
    parted = PartedConversation.of(one.seed, one.conversation)
    return difference_as_play.difference_text(parted, patch)


# --- recordings -----------------------------------------------------------------------------------


def load(pair: JudgedPair, folder: Path = RECORDINGS) -> KraftRecording:
    """The recording of a pair. Raises NoRecordingError without one."""
    return recordings.load(str(pair), folder, RecordingHead)


def with_covering(pair: JudgedPair, recording: KraftRecording) -> KraftRecording:
    """The recording, with the few conversations in its head that stand for all of them."""
    chosen = [*recordings.covering([one.hits for one in replayed(pair, recording)])]
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
    if not parts(pair, recording, chosen, switch):
        every = enumerate(replayed(pair, recording, None, switch))
        yield from islice((place for place, one in every if one.conversation.parted), 1)


# --- the command ----------------------------------------------------------------------------------


class KraftJudge(judging.Judge):
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
        return tuple(map(str, judged_pairs()))

    def subject(self, name: str) -> str:
        """``"3.7"`` is its newest metadata version. Raises BadSubjectError."""
        try:
            return str(pair_named(name))
        except UnknownFeatureError as problem:
            raise judging.BadSubjectError(str(problem)) from None

    def options(self, parser: argparse.ArgumentParser) -> None:
        """`--quick` replays only the conversations that cover every rule."""
        parser.add_argument(
            "--quick", action="store_true", help="with --recorded: the fewest conversations"
        )

    def live(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        pair = pair_named(subject)
        judged, recording = judge_live(pair, seeds_for(pair, options.seed, options.count))
        if options.record and not judged.differences:
            recordings.save(subject, with_covering(pair, recording), options.recordings)
        return judged

    def recorded(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        pair = pair_named(subject)
        recording = load(pair, options.recordings)
        places = recording.head.covering if options.quick else None
        return judge_recording(pair, recording, places)

    def rules(self, subject: str) -> Sequence[Rule]:
        return rules.rules_of(pair_named(subject).release)

    def why_untried(self, rule: Rule, subject: str) -> str | None:
        return rules.why_unreachable(rule, pair_named(subject))

    def column(self, subject: str) -> str:
        """All pairs of a release count together, those with eligible leader replicas apart."""
        pair = pair_named(subject)
        return pair.release + (WITH_ELR if pair.elr else "")


def judge_live(pair: JudgedPair, seeds: Sequence[Seed]) -> tuple[judging.Judged, KraftRecording]:
    """Ask a real controller.

    Raises MissingKafkaError where none can run, DeadKafkaError where one ends by itself.
    """
    with ControllerProcess(*pair) as process:
        kafka = real_side.RealSide(process)
        result = judge_with(kafka, pair, process.patch, seeds)
        kafka.close()
    return result
