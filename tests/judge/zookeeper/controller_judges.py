"""The judges of controllers of ZooKeeper's years: in every situation, and in those by chance."""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars.judged_releases import zookeeper_release
from kiplab.judge.zookeeper_era import kafka_server, real_control_requests, sequences
from kiplab.plays.play import Play, format_play
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import parse_features

from ..skeleton import recordings, shrinking
from ..skeleton.coverage import Rule
from ..skeleton.judging import Judge, Judged, seeds_of
from ..skeleton.recordings import SUFFIX, NoRecordingError, Recording
from . import control_coverage, real_controller, sequence_text, telling
from .random_situations import GENERATOR, Turn, of_turns, random_situation, turns_of
from .situations import parsed, situations, why_not

Hear = Callable[[Play, str], tuple[sequences.Passage, ...]]
"""Does a situation with the controller of a patch release."""
FEATURES = {
    patch: parse_features(zookeeper_release(patch))
    for patch in real_control_requests.CONTROLLER_RELEASES
}
SCHEDULES = Path(__file__).parents[1] / "controller_schedules"
COUNT = 20
_IN_SITUATIONS = "situations try it (judge controllers)"


def live_controllers() -> Hear:
    """What asks real controllers. It raises MissingKafkaError without Java, PySpark or Kafka,
    DeadKafkaError where ZooKeeper or Kafka does not start.
    """
    schemas = kafka_server.control_schemas()
    return lambda play, patch: real_controller.heard_live(play, patch, schemas)


class _Judging:
    """What came of the situations of one release so far; `asks` is where answers come from."""

    def __init__(self, patch: str, hear: Hear, *, live: bool) -> None:
        self._patch, self.hear, self._live = patch, hear, live
        self._begun = time.perf_counter()
        self.coverage = control_coverage.ControlCoverage()
        self.situations, self.passages = 0, 0
        self.differences: list[str] = []

    def engine_differs(self, situation: Play, heard: tuple[sequences.Passage, ...]) -> list[str]:
        """Where the engine does otherwise, in lines."""
        self.situations += 1
        self.passages += len(heard)
        return list(telling.engine_differences(situation, self._patch, heard, self.coverage))

    def differs(self, title: str, lines: Sequence[str]) -> None:
        """Keep a difference, if these lines are one."""
        if lines:
            self.differences.append("\n".join([title, *lines]))

    def result(self) -> Judged:
        return Judged(
            self._patch,
            self._live,
            self._patch,
            self.situations,
            self.passages,
            tuple(self.differences),
            self.coverage.hits,
            time.perf_counter() - self._begun,
        )


class _OfControllers(Judge):
    """What both judges say of their subjects, which are patch releases."""

    whose = "controller of Kafka"
    remedy = (
        "let a situation ask for it (tests/judge/zookeeper/plays), or say in control_coverage.py"
        " why none can"
    )

    def subjects(self) -> tuple[str, ...]:
        return real_control_requests.CONTROLLER_RELEASES

    def rules(self, subject: str, /) -> Sequence[Rule]:
        return control_coverage.control_rules(FEATURES[subject])

    def why_untried(self, rule: Rule, subject: str, /) -> str | None:
        return control_coverage.why_untried(rule, FEATURES[subject])


class ControllersJudge(_OfControllers):
    """Each situation with each controller, beside what was recorded, and beside the engine's."""

    name = "controllers"
    about = "Real controllers of ZooKeeper's years in each situation, beside the engine's."
    recordings = real_control_requests.SEQUENCES

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--situation",
            action="append",
            choices=tuple(real_control_requests.SAYS),
            help="this one alone",
        )

    def live(self, subject: str, options: argparse.Namespace) -> Judged:
        judging = _Judging(subject, live_controllers(), live=True)
        for situation in _wanted(subject, options):
            try:
                heard = judging.hear(situation, subject)
            except sequences.TooQuietError as problem:
                raise DeadKafkaError(f"Kafka {subject} does not go on: {problem}") from None
            self._compare(judging, subject, situation, heard, keep=options.record)
        return judging.result()

    def recorded(self, subject: str, options: argparse.Namespace) -> Judged:
        judging = _Judging(subject, recorded_situation, live=False)
        for situation in _wanted(subject, options):
            heard = judging.hear(situation, subject)
            judging.differs(situation.name, judging.engine_differs(situation, heard))
        return judging.result()

    def _compare(
        self,
        judging: _Judging,
        subject: str,
        situation: Play,
        heard: tuple[sequences.Passage, ...],
        *,
        keep: bool,
    ) -> None:
        apart = judging.engine_differs(situation, heard)
        if keep and not apart:
            sequence_text.keep_sequences(subject, {situation.name: heard})
        recorded = real_control_requests.recorded_sequences(subject).get(situation.name, ())
        anew = sequence_text.difference_lines(recorded, heard, names=("recorded", "heard"))
        judging.differs(situation.name, [*anew, *apart])


def recorded_situation(situation: Play, patch: str) -> tuple[sequences.Passage, ...]:
    """What was heard once. Raises NoRecordingError where nothing was."""
    heard = real_control_requests.recorded_sequences(patch).get(situation.name)
    if heard is None:
        told = f"{situation.name} was never recorded of Kafka {patch}"
        raise NoRecordingError(f"{told}; {recordings.WRITTEN_BY}")
    return heard


def _wanted(patch: str, options: argparse.Namespace) -> Iterator[Play]:
    for name in options.situation or real_control_requests.SAYS:
        if not why_not(name, patch):
            yield situations()[name]


# --- by chance ------------------------------------------------------------------------------------


class SchedulesHead(msgspec.Struct, frozen=True):
    """Which patch release answered; `covering` are the schedules that meet every rule."""

    kafka: str
    covering: tuple[int, ...] = ()


class RecordedSchedule(msgspec.Struct, frozen=True):
    """The text of one situation, and what was heard."""

    name: str
    play: str
    heard: tuple[sequences.Passage, ...]

    @property
    def situation(self) -> Play:
        """What was told."""
        return parsed(self.play, self.name)


class ScheduleDone(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one seed; `tried` counts rules, as in ``"guard 380.shutdown-epoch"``."""

    kafka: str
    generator: int
    seed: int
    passages: int
    difference: str = ""
    tried: dict[str, int] = {}


class SchedulesJudge(_OfControllers):
    """Situations by chance: each can be replayed, whatever the generator does by now."""

    name = "schedules"
    about = "Real controllers of ZooKeeper's years in situations by chance, beside the engine's."
    recordings = SCHEDULES

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--into", type=Path, metavar="FILE", help="where what is done is kept, and not redone"
        )

    def why_untried(self, rule: Rule, subject: str, /) -> str | None:
        return super().why_untried(rule, subject) or _IN_SITUATIONS

    def live(self, subject: str, options: argparse.Namespace) -> Judged:
        kept = list(done_before(options.into, subject))
        recorded: list[RecordedSchedule] = []
        judging, missed = _Judging(subject, live_controllers(), live=True), []
        for seed in sorted({*seeds_of(options, COUNT)} - {one.seed for one in kept}):
            try:
                done, heard = judged_schedule(judging, subject, seed)
            except (DeadKafkaError, sequences.TooQuietError, OSError) as problem:
                missed.append(f"seed {seed}: {problem}")
                continue
            _keep(done, options.into)
            play = random_situation(seed)
            recorded.append(RecordedSchedule(play.name, format_play(play), heard))
        if missed:
            raise DeadKafkaError(
                f"Kafka {subject} did not go on in {'; '.join(missed)}. Ask these again."
            )
        if options.record and not judging.differences:
            save_schedules(subject, recorded, options.recordings)
        return _with_kept(judging.result(), kept)

    def recorded(self, subject: str, options: argparse.Namespace) -> Judged:
        judging = _Judging(subject, recorded_situation, live=False)
        for schedule in load_schedules(subject, options.recordings):
            situation = schedule.situation
            judging.differs(schedule.name, judging.engine_differs(situation, schedule.heard))
        return judging.result()


def judged_schedule(
    judging: _Judging, patch: str, seed: int
) -> tuple[ScheduleDone, tuple[sequences.Passage, ...]]:
    """What comes of a seed, shortened if the two differ, and what is heard.

    Raises what the controller raises where it does not go on.
    """
    situation, before = random_situation(seed), Counter(judging.coverage.hits)
    heard, difference = judging.hear(situation, patch), ""
    if judging.engine_differs(situation, heard):
        short = shortest_situation(situation, patch, judging.hear)
        lines = telling.engine_differences(short, patch, judging.hear(short, patch))
        difference = "\n".join([f"seed {seed}:\n{format_play(short)}", *lines])
        judging.differences.append(difference)
    tried = {str(rule): n for rule, n in (judging.coverage.hits - before).items()}
    return ScheduleDone(patch, GENERATOR, seed, len(heard), difference, tried), heard


def shortest_situation(situation: Play, patch: str, hear: Hear) -> Play:
    """The shortest that real Kafka can do, and in which the engine still does otherwise."""

    def holds(turns: Sequence[Turn]) -> Sequence[Turn] | None:
        fewer = of_turns(situation, turns)
        try:
            telling.engine_sequences(fewer, telling.features_judged(fewer, patch))
            apart = any(True for _ in telling.engine_differences(fewer, patch, hear(fewer, patch)))
        except (PlayError, sequences.TooQuietError):
            return None
        return turns if apart else None

    turns = turns_of(situation)
    ends = (n for n in range(1, len(turns)) if holds(turns[:n]) is not None)
    return of_turns(situation, shrinking.shortest(turns[: next(ends, len(turns))], holds))


def done_before(file: Path | None, patch: str) -> Iterator[ScheduleDone]:
    """What earlier runs of the same generator came to."""
    if file is not None and file.exists():
        lines = file.read_bytes().splitlines()
        done = (msgspec.json.decode(line, type=ScheduleDone) for line in lines)
        yield from (one for one in done if (one.kafka, one.generator) == (patch, GENERATOR))


def _keep(done: ScheduleDone, file: Path | None) -> None:
    if file is not None:
        with file.open("ab") as kept:
            kept.write(msgspec.json.encode(done) + b"\n")


def _with_kept(judged: Judged, kept: Sequence[ScheduleDone]) -> Judged:
    hits = judged.hits + sum((_hits(one.tried) for one in kept), Counter[Rule]())
    earlier = tuple(one.difference for one in kept if one.difference)
    return judged._replace(
        conversations=judged.conversations + len(kept),
        turns=judged.turns + sum(one.passages for one in kept),
        differences=(*earlier, *judged.differences),
        hits=hits,
    )


def _hits(tried: Mapping[str, int]) -> Counter[Rule]:
    return Counter({Rule(*name.split(" ", 1)): count for name, count in tried.items()})


def save_schedules(patch: str, schedules: Sequence[RecordedSchedule], folder: Path) -> Path:
    """Write those of a patch release into `folder`, and say where."""
    covering = recordings.covering([rules_tried(one, patch) for one in schedules])
    lines = [msgspec.to_builtins(one) for one in schedules]
    head = SchedulesHead(patch, covering)
    return recordings.save(folder / f"{patch}{SUFFIX}", Recording(head, lines))


def rules_tried(schedule: RecordedSchedule, patch: str) -> frozenset[Rule]:
    """What one schedule tries of the engine."""
    coverage = control_coverage.ControlCoverage()
    list(telling.engine_differences(schedule.situation, patch, schedule.heard, coverage))
    return frozenset(coverage.hits)


def load_schedules(
    patch: str, folder: Path = SCHEDULES, *, covering: bool = False
) -> tuple[RecordedSchedule, ...]:
    """Those of a patch release, or the fewest that meet every rule.

    Raises NoRecordingError without any, or for a file that is none.
    """
    recording = recordings.load(folder / f"{patch}{SUFFIX}", SchedulesHead, f"Kafka {patch}")
    lines = recording.lines
    chosen = [lines[n] for n in recording.head.covering] if covering else lines
    return tuple(msgspec.convert(line, RecordedSchedule) for line in chosen)
