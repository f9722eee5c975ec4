"""The judge of brokers of ZooKeeper's years: what a real one and the engine's accept from a
controller, case by case.
"""

import argparse
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from kiplab.judge.wire.metadata_log import ReleaseSchemas
from kiplab.judge.zookeeper_era import kafka_server, real_control_requests
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess

from ..skeleton import judging, recordings, sides
from ..skeleton.recordings import WRITTEN_BY, NoRecordingError, Recording
from . import accepting_broker, control_bodies
from .acceptance_cases import acceptance_cases
from .accepting_engine import AcceptingEngine, engine_checkpoint, features_of
from .checkpoint_story import checkpoint_story
from .live_session import live_session

ACCEPTED = Path(__file__).parent / "accepted"
"""One file for each broker."""
_EMPTY = control_bodies.ReplicaSight("follower", -1)

CaseRun = sides.Run[control_bodies.ControlQuestion, control_bodies.ControlAnswer]


class RecordedAcceptance(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that was observed of one broker, of which `kafka` is the name. `cases` marks the
    questions, which are not in it. In a recording all but the answers is the head.
    """

    kafka: str
    versions: control_bodies.SpokenVersions
    cases: str
    checkpoint: real_control_requests.CheckpointStory
    answers: dict[str, tuple[control_bodies.ControlAnswer, ...]] = {}


# --- live -----------------------------------------------------------------------------------------


def asked_live(name: str) -> RecordedAcceptance:
    """All that ``"2.2.2"``, or another of `ASKED`, answers beside a ZooKeeper of our own.

    Raises MissingKafkaError, MissingExtraError or DeadKafkaError where none can be asked,
    UnaskedBrokerError for a broker that is not asked.
    """
    asked, schemas = control_bodies.asked_broker(name), kafka_server.control_schemas()
    with ZooKeeperProcess() as zookeeper:
        port = int(zookeeper.addresses[0].rpartition(":")[2])
        return RecordedAcceptance(
            kafka=name,
            versions=asked.versions,
            cases=cases_mark(),
            answers=answers_of(asked, port, schemas, acceptance_cases()),
            checkpoint=checkpoint_story(asked, port, schemas),
        )


def answers_of(
    asked: control_bodies.AskedBroker,
    zookeeper_port: int,
    schemas: ReleaseSchemas,
    cases: Iterable[control_bodies.AcceptanceCase],
) -> dict[str, tuple[control_bodies.ControlAnswer, ...]]:
    """What one broker answers in these cases. Raises what `live_session` raises."""
    chroot = f"asked-{asked.patch}"
    with live_session(asked.patch, zookeeper_port, chroot, asked.settings) as session:
        broker = accepting_broker.AcceptingBroker(session, asked.versions, schemas)
        try:
            return {case.name: broker.answers_to(case) for case in cases}
        finally:
            broker.close()


# --- recordings -----------------------------------------------------------------------------------


def cases_mark() -> str:
    """Eight hexadecimal digits of all that is asked."""
    return f"{zlib.crc32(msgspec.json.encode(acceptance_cases())):08x}"


@cache
def recorded_acceptance(name: str, folder: Path = ACCEPTED) -> RecordedAcceptance:
    """What was observed of ``"2.2.2"``. Raises NoRecordingError where there is nothing, or it
    answers other questions, UnaskedBrokerError for a broker that is not asked.
    """
    control_bodies.asked_broker(name)
    head, lines = recordings.load(name, folder, RecordedAcceptance, "the broker of Kafka")
    if head.cases != cases_mark():
        file = recordings.file_of(name, folder)
        raise NoRecordingError(f"{file} answers other questions than are asked now; {WRITTEN_BY}")
    answers = dict(
        msgspec.convert(line, tuple[str, tuple[control_bodies.ControlAnswer, ...]])
        for line in lines
    )
    return msgspec.structs.replace(head, answers=answers)


def keep_acceptance(recorded: RecordedAcceptance, folder: Path = ACCEPTED) -> Path:
    """Write it to its file, and return where."""
    head = msgspec.structs.replace(recorded, answers={})
    lines = [msgspec.to_builtins(case) for case in recorded.answers.items()]
    recorded_acceptance.cache_clear()
    return recordings.save(recorded.kafka, Recording(head, lines), folder)


def ship_checkpoints() -> None:
    """Write what `kiplab.real_checkpoint` shows."""
    stories = {name: recorded_acceptance(name).checkpoint for name in control_bodies.ASKED}
    lines = ",\n".join(f"{_json(name)}: {_json(story)}" for name, story in stories.items())
    real_control_requests.CHECKPOINTS.write_text(f"{{\n{lines}\n}}\n")
    real_control_requests.recorded_checkpoints.cache_clear()


def _json(plain: object) -> str:
    return msgspec.json.encode(plain).decode()


# --- compared -------------------------------------------------------------------------------------


def case_runs(
    recorded: RecordedAcceptance, engines: Mapping[str, AcceptingEngine] | None = None
) -> Iterator[tuple[str, CaseRun]]:
    """Every case with the engine's broker beside the real one's answers; `engines` have other
    rules, by the name of a case.
    """
    features = features_of(recorded.kafka)
    versions = control_bodies.asked_broker(recorded.kafka).versions
    for case in acceptance_cases():
        engine = engines[case.name] if engines else AcceptingEngine(features, versions)
        run = CaseRun(sides.Recorded(recorded.answers[case.name]), engine, compared)
        run.follow(case.questions)
        yield case.name, run


def judged(recorded: RecordedAcceptance, *, live: bool = False) -> judging.Judged:
    """What comes of all cases, and of the checkpoint."""
    patch = recorded.kafka.partition("/")[0]
    return judging.judged(recorded.kafka, patch, _outcomes(recorded), live=live)


def _outcomes(recorded: RecordedAcceptance) -> Iterator[judging.Outcome]:
    for name, run in case_runs(recorded):
        yield judging.Outcome(len(run.done), run.difference(name))
    theirs, mine = recorded.checkpoint, engine_checkpoint(recorded.kafka)
    parting = sides.Parting("checkpoint", str(theirs), str(mine))
    yield judging.Outcome(0, f"# {parting}" if theirs != mine else "")


def compared(
    real: control_bodies.ControlAnswer, engine: control_bodies.ControlAnswer
) -> Iterator[sides.Parting]:
    """Field by field."""
    return sides.field_partings(as_compared(real), engine)


def as_compared(answer: control_bodies.ControlAnswer) -> control_bodies.ControlAnswer:
    """Without partitions that have neither a log nor a leader epoch: from 3.x on Kafka keeps an
    object for one that it refused to have, which shows in nothing else.
    """
    both = zip(answer.replicas, answer.on_disk, strict=True)
    kept = tuple(None if seen == _EMPTY and not on_disk else seen for seen, on_disk in both)
    return msgspec.structs.replace(answer, replicas=kept)


# --- the command ----------------------------------------------------------------------------------


class AcceptanceJudge(judging.Judge):
    """A subject is a broker such as ``"2.2.2"`` or ``"2.2.2/2.1"``. The cases are what there is to
    try: all of them are, each time.
    """

    name = "brokers"
    about = "Ask real brokers of ZooKeeper's years and the engine's what they accept."
    recordings = ACCEPTED
    whose = "broker of Kafka"
    remedy = "add a case to tests/judge/acceptance/acceptance_cases.py"

    def subjects(self) -> tuple[str, ...]:
        """Releases on both sides of every rule that changed."""
        return control_bodies.ASKED

    def live(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        answered = asked_live(subject)
        if options.record:
            keep_acceptance(answered, options.recordings)
            ship_checkpoints()
        return judged(answered, live=True)

    def recorded(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        return judged(recorded_acceptance(subject, options.recordings))
