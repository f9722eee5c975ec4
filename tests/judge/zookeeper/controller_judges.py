"""The judges of controllers of ZooKeeper's years: in every situation, and in those by chance."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars.jar_cache import zookeeper_release
from kiplab.judge.zookeeper_era import kafka_server, real_control_requests, sequences
from kiplab.plays.play import Play, format_play
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import parse_features

from ..skeleton import generating, judging, recordings
from ..skeleton.coverage import Rule
from ..skeleton.recordings import NoRecordingError, Recording
from . import control_coverage, real_controller, telling
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


class SituationDone(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one situation with one release; `tried` counts rules, as in
    ``"guard 380.shutdown-epoch"``.
    """

    kafka: str
    generator: int
    name: str
    passages: int
    difference: str = ""
    tried: dict[str, int] = {}


def done_with(play: Play, patch: str, heard: tuple[sequences.Passage, ...]) -> SituationDone:
    """The engine beside what was heard."""
    coverage = control_coverage.ControlCoverage()
    apart = list(telling.engine_differences(play, patch, heard, coverage))
    difference = "\n".join([play.name, *apart]) if apart else ""
    tried = {str(rule): count for rule, count in coverage.hits.items()}
    return SituationDone(patch, GENERATOR, play.name, len(heard), difference, tried)


def _judged(patch: str, done: Iterable[SituationDone], *, live: bool) -> judging.Judged:
    outcomes = (judging.Outcome(one.passages, one.difference, _rules(one)) for one in done)
    return judging.judged(patch, patch, outcomes, live=live)


def _rules(done: SituationDone) -> dict[Rule, int]:
    return {Rule(*name.split(" ", 1)): count for name, count in done.tried.items()}


class _OfControllers(judging.Judge):
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

    def live(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        hear = live_controllers()
        done = (
            self._compared(situation, subject, hear, keep=options.record)
            for situation in _wanted(subject, options)
        )
        return _judged(subject, done, live=True)

    def recorded(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        done = (
            done_with(situation, subject, recorded_situation(situation, subject))
            for situation in _wanted(subject, options)
        )
        return _judged(subject, done, live=False)

    def _compared(self, situation: Play, subject: str, hear: Hear, *, keep: bool) -> SituationDone:
        try:
            heard = hear(situation, subject)
        except sequences.TooQuietError as problem:
            raise DeadKafkaError(f"Kafka {subject} does not go on: {problem}") from None
        done = done_with(situation, subject, heard)
        if keep and not done.difference:
            telling.keep_sequences(subject, {situation.name: heard})
        recorded = real_control_requests.recorded_sequences(subject).get(situation.name, ())
        anew = telling.difference_lines(recorded, heard, names=("recorded", "heard"))
        both = "\n".join([*anew, *filter(None, [done.difference])])
        return replace(done, difference=both)


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

    def live(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        hear = live_controllers()
        done = list(done_before(options.into, subject))
        recorded, missed = [], []
        for play in map(random_situation, judging.seeds_of(options, COUNT)):
            if any(play.name == one.name for one in done):
                continue
            try:
                heard = hear(play, subject)
                done.append(schedule_done(play, subject, heard, hear))
            except (DeadKafkaError, sequences.TooQuietError, OSError) as problem:
                missed.append(f"{play.name}: {problem}")
                continue
            _keep(done[-1], options.into)
            recorded.append(RecordedSchedule(play.name, format_play(play), heard))
        if missed:
            raise DeadKafkaError(
                f"Kafka {subject} did not go on in {'; '.join(missed)}. Ask these again."
            )
        result = _judged(subject, done, live=True)
        if options.record and not result.differences:
            save_schedules(subject, recorded, options.recordings)
        return result

    def recorded(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        schedules = load_schedules(subject, options.recordings)
        done = (done_with(one.situation, subject, one.heard) for one in schedules)
        return _judged(subject, done, live=False)


def schedule_done(
    play: Play, patch: str, heard: tuple[sequences.Passage, ...], hear: Hear
) -> SituationDone:
    """What comes of a schedule, shortened if the two differ.

    Raises what the controller raises where it does not go on.
    """
    done = done_with(play, patch, heard)
    if not done.difference:
        return done
    short = shortest_situation(play, patch, hear)
    apart = telling.engine_differences(short, patch, hear(short, patch))
    return replace(done, difference="\n".join([f"{play.name}:\n{format_play(short)}", *apart]))


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
    shrinking = generating.Shrinking(turns[: next(ends, len(turns))], holds)
    return of_turns(situation, shrinking.shortest())


def done_before(file: Path | None, patch: str) -> Iterator[SituationDone]:
    """What earlier runs of the same generator came to."""
    if file is not None and file.exists():
        lines = file.read_bytes().splitlines()
        done = (msgspec.json.decode(line, type=SituationDone) for line in lines)
        yield from (one for one in done if (one.kafka, one.generator) == (patch, GENERATOR))


def _keep(done: SituationDone, file: Path | None) -> None:
    if file is not None:
        with file.open("ab") as kept:
            kept.write(msgspec.json.encode(done) + b"\n")


def save_schedules(patch: str, schedules: Sequence[RecordedSchedule], folder: Path) -> Path:
    """Write those of a patch release into `folder`, and say where."""
    covering = recordings.covering([rules_tried(one, patch) for one in schedules])
    lines = [msgspec.to_builtins(one) for one in schedules]
    head = SchedulesHead(patch, covering)
    return recordings.save(patch, Recording(head, lines), folder)


def rules_tried(schedule: RecordedSchedule, patch: str) -> frozenset[str]:
    """What one schedule tries of the engine."""
    return frozenset(done_with(schedule.situation, patch, schedule.heard).tried)


def load_schedules(
    patch: str, folder: Path = SCHEDULES, *, covering: bool = False
) -> tuple[RecordedSchedule, ...]:
    """Those of a patch release, or the fewest that meet every rule.

    Raises NoRecordingError without any, or for a file that is none.
    """
    recording = recordings.load(patch, folder, SchedulesHead)
    lines = recording.at(recording.head.covering if covering else None)
    return tuple(msgspec.convert(line, RecordedSchedule) for line in lines)
