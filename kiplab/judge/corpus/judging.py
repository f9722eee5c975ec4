"""All conversations of one pair, with a real controller or with its recording: where they part,
and what they have tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ...protocol.features import Features
from ..controller.controller_process import ControllerProcess
from ..conversation.deciding_side import DecidingSide
from ..conversation.generated import Conversation
from ..conversation.real_controller import RealController
from .generator_mark import generator_mark
from .judged_pairs import JudgedPair, judged_pairs
from .recorded_controller import AnotherConversationError, RecordedController
from .recording_controller import RecordingController
from .recordings import RecordedConversation, Recording, RecordingHead, load
from .rule_coverage import RuleCoverage
from .shortest_difference import PartedConversation, ShortestDifference, told_of

QUESTIONS = 60
"""Of one conversation."""
CONVERSATIONS, RAISING = 118, 12
"""Of one pair: so many first, then so many that may raise the metadata version, if there is a newer
one.
"""
PAIRS_OF_A_RELEASE = 3
"""A release with fewer pairs is asked more at each: every rule needs its hits."""
APART = 1_000
"""Conversations of two pairs are this far apart: what is rare is met by one of them."""
SHRUNK = 3
"""Of so many differences of a pair the shortest is looked for."""


class Seed(NamedTuple):
    """Which conversation, and whether the metadata version may rise on the way."""

    number: int
    raises: bool = False


def seeds_for(pair: JudgedPair, first: int | None = None) -> tuple[Seed, ...]:
    """The conversations of `pair`, numbered from `first` on; else it has numbers of its own."""
    pairs = judged_pairs()
    if first is None:
        first = APART * pairs.index(pair) if pair in pairs else APART * len(pairs)
    fellows = sum(1 for other in pairs if other.release == pair.release)
    many = CONVERSATIONS * PAIRS_OF_A_RELEASE // fellows
    raising = 0 if pair.is_newest else RAISING
    return tuple(Seed(first + n, n >= many) for n in range(many + raising))


class FoundParting(NamedTuple):
    """A conversation that parted, in the last turn of `told`.

    `other_state` says, where that is how they parted, which question was asked instead of the one
    that was recorded: the engine has come to hold something else for true.
    """

    told: PartedConversation
    other_state: str = ""


class Judged(NamedTuple):
    """What came of one pair. `patch` is the release that answers, or once answered."""

    pair: JudgedPair
    live: bool
    patch: str
    conversations: int
    requests: int
    differences: tuple[FoundParting, ...]
    coverage: RuleCoverage
    seconds: float

    @property
    def source(self) -> str:
        """``"live 3.7.2"`` or ``"recorded 3.7.2"``."""
        return f"{'live' if self.live else 'recorded'} {self.patch}"


class AnotherGeneratorError(Exception):
    """The questions are not those that were recorded, because the generator is another one."""


def judge_live(pair: JudgedPair, seeds: Sequence[Seed]) -> tuple[Judged, Recording]:
    """Ask a real controller, and write down what it says; where they part, in which few words.

    Raises MissingKafkaError where none can be run, and DeadKafkaError where one ends by itself.
    """
    with ControllerProcess(pair.release, pair.metadata_version) as process:
        kafka = RealController(process)
        judged, recording = judge_with(kafka, pair, process.patch, seeds)
        kafka.close()
    return judged, recording


def judge_with(
    kafka: DecidingSide, pair: JudgedPair, patch: str, seeds: Sequence[Seed]
) -> tuple[Judged, Recording]:
    """The same with a controller that runs: `patch` is the release that it is."""
    told: list[RecordedConversation] = []
    judging = _Judging(pair, patch, live=True)
    for seed in seeds:
        heard = RecordingController(kafka)
        begun = kafka.metadata_version
        judging.hold(heard, seed, begun)
        told.append(RecordedConversation(begun, seed.raises, heard.entries))
    judged = judging.judged()
    shrunk = [_shrunk(found, kafka) for found in judged.differences[:SHRUNK]]
    judged = judged._replace(differences=(*shrunk, *judged.differences[SHRUNK:]))
    return judged, Recording(_head(judged, seeds[0].number), tuple(told))


def _shrunk(found: FoundParting, kafka: DecidingSide) -> FoundParting:
    """The same in few words. A controller that has gone on to another version tells no more."""
    if found.told.features.metadata_version != kafka.metadata_version:
        return found
    return found._replace(told=ShortestDifference(kafka, found.told).shrink())


def judge_recorded(
    pair: JudgedPair, folder: Path, *, switch: Switch | None = None, first_only: bool = False
) -> Judged:
    """Ask the recording of `pair`; `switch` makes other features of those that were recorded, and
    `first_only` goes no further than to the first difference.

    Raises NoRecordingError where there is none, and AnotherGeneratorError where the questions are
    others now.
    """
    recording = load(pair, folder)
    judging = _Judging(pair, recording.head.kafka, live=False, switch=switch)
    for number, recorded in enumerate(recording.conversations, recording.head.first_seed):
        seed = Seed(number, recorded.raises)
        judging.hold(RecordedController(recorded), seed, recorded.metadata_version)
        if judging.differences and first_only:
            break
    asked_otherwise = any(found.other_state for found in judging.differences)
    if asked_otherwise and recording.head.generator != generator_mark():
        raise AnotherGeneratorError(
            f"Kafka {pair} was recorded by another generator: `make judge-record` asks it anew."
        )
    return judging.judged()


Switch = Callable[[Features], Features]


class _Judging:
    """Conversations so far."""

    def __init__(
        self, pair: JudgedPair, patch: str, *, live: bool, switch: Switch | None = None
    ) -> None:
        self.pair, self.patch, self.live = pair, patch, live
        self._switch = switch or (lambda features: features)
        self.differences: list[FoundParting] = []
        self.coverage = RuleCoverage()
        self.conversations = self.requests = 0
        self._begun = time.perf_counter()

    def hold(self, kafka: DecidingSide, seed: Seed, begun: str) -> None:
        """One conversation that begins at the metadata version `begun`."""
        features = self._switch(replace(self.pair.features, metadata_version=begun))
        conversation = Conversation(kafka, features, seed.number, raises=seed.raises)
        conversation.engine.witness = self.coverage.see
        other_state = ""
        try:
            parted = conversation.run(QUESTIONS) is not None
        except AnotherConversationError as another:
            parted, other_state = True, str(another)
        self.conversations += 1
        self.requests += len(conversation.exchanges)
        if parted:
            self.differences.append(FoundParting(told_of(conversation, features), other_state))

    def judged(self) -> Judged:
        """What came of them."""
        return Judged(
            self.pair,
            self.live,
            self.patch,
            self.conversations,
            self.requests,
            tuple(self.differences),
            self.coverage,
            time.perf_counter() - self._begun,
        )


def _head(judged: Judged, first_seed: int) -> RecordingHead:
    return RecordingHead(
        kafka=judged.patch,
        release=judged.pair.release,
        metadata_version=judged.pair.metadata_version,
        first_seed=first_seed,
        questions=QUESTIONS,
        requests=judged.requests,
        generator=generator_mark(),
    )
