"""What real brokers of eight releases accept from a controller, as recorded; two are asked again.

Recorded by `make judge-record`; the recordings are read here, without Java.
"""

from pathlib import Path

import msgspec
import pytest

from kiplab.judge.zookeeper_era import real_control_requests
from kiplab.protocol.features import switched
from tests.judge import __main__
from tests.judge.acceptance import acceptance_judge, checkpoint_story, control_bodies, live_session
from tests.judge.acceptance.acceptance_cases import acceptance_cases
from tests.judge.acceptance.acceptance_judge import (
    ACCEPTED,
    RecordedAcceptance,
    as_compared,
    keep_acceptance,
    recorded_acceptance,
)
from tests.judge.acceptance.accepting_engine import AcceptingEngine, features_of
from tests.judge.skeleton import command, recordings

APIS = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")
WITH_EPOCHS = control_bodies.ASKED_PATCHES[1:]
NEWER_IS_LOST = ("2.2.2", "2.5.0")
STALE, OK = 77, 0
each_api = pytest.mark.parametrize("api", APIS)
each_patch = pytest.mark.parametrize("patch", control_bodies.ASKED_PATCHES)
each_with_epochs = pytest.mark.parametrize("patch", WITH_EPOCHS)


def answers(patch: str, name: str) -> tuple[control_bodies.ControlAnswer, ...]:
    """All that a release answered in a case."""
    return recorded_acceptance(patch).answers[name]


def refused_as_before(told: tuple[control_bodies.ControlAnswer, ...]) -> bool:
    """Whether a broker has after its last answer what it had before."""
    fields = ("replicas", "on_disk", "metadata", "brokers")
    before, after = ([getattr(one, field) for field in fields] for one in told[-2:])
    return before == after


# --- what is recorded -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", control_bodies.ASKED)
def test_every_case_of_every_broker_is_recorded(name: str) -> None:
    found = recorded_acceptance(name)
    assert (found.kafka, found.versions) == (name, control_bodies.asked_broker(name).versions)
    asked = {case.name: len(case.questions) for case in acceptance_cases()}
    assert {name: len(told) for name, told in found.answers.items()} == asked
    assert len(asked) == len(acceptance_cases()), "two cases have one name"


def test_nothing_else_is_kept() -> None:
    assert set(ACCEPTED.iterdir()) == {
        recordings.file_of(name, ACCEPTED) for name in control_bodies.ASKED
    }


# --- the broker epoch (KIP-380, KAFKA-9839) -------------------------------------------------------


@each_api
@each_with_epochs
def test_an_older_broker_epoch_is_refused_from_2_2_on_and_changes_nothing(
    patch: str, api: str
) -> None:
    told = answers(patch, f"{api} with broker epoch: older")
    assert told[-1].error == STALE
    assert refused_as_before(told)


@each_api
@each_with_epochs
def test_a_newer_one_is_an_error_until_2_5_0_and_obeyed_from_2_5_1_on(patch: str, api: str) -> None:
    told = answers(patch, f"{api} with broker epoch: newer")
    assert (told[-1].error, refused_as_before(told)) == (
        (-1, True) if patch in NEWER_IS_LOST else (OK, False)
    )


@each_api
@each_patch
def test_its_own_epoch_and_none_at_all_are_obeyed(patch: str, api: str) -> None:
    for given in ("own", "none"):
        told = answers(patch, f"{api} with broker epoch: {given}")
        assert told[-1].error == OK
        assert not refused_as_before(told)


def test_2_1_knows_no_broker_epoch_and_obeys_everything() -> None:
    for api in APIS:
        told = [
            answers("2.1.1", f"{api} with broker epoch: {given}")
            for given in ("own", "older", "newer", "none")
        ]
        assert all(one == told[0] for one in told)
        assert told[0][-1].error == OK


@each_with_epochs
def test_the_broker_epoch_comes_before_the_controller_epoch(patch: str) -> None:
    for api in APIS:
        both = answers(patch, f"{api} with broker epoch: older, controller epoch: stale")
        assert both[-1].error == STALE
        *_, newer, after = answers(
            patch,
            f"{api} with broker epoch: older, controller epoch: newer, then LeaderAndIsr with the"
            " known one",
        )
        assert (newer.error, after.error) == (STALE, OK), "the newer controller epoch was adopted"


@pytest.mark.parametrize("name", control_bodies.AT_OLDER_PROTOCOL)
def test_in_the_middle_of_an_upgrade_a_broker_takes_old_requests_as_at_2_1(
    name: str,
) -> None:
    for api in APIS:
        for given in ("own", "older", "newer", "none"):
            told = answers(name, f"{api} with broker epoch: {given}")
            assert told[-1].error == OK
            assert not refused_as_before(told)
    assert recorded_acceptance(name).checkpoint == recorded_acceptance("2.1.1").checkpoint


# --- controller epoch, leader epoch ---------------------------------------------------------------


@each_api
@each_patch
def test_a_controller_that_was_deposed_is_refused_with_11(patch: str, api: str) -> None:
    after = "then LeaderAndIsr with the known one"
    *_, stale, then = answers(patch, f"{api} with controller epoch: stale, {after}")
    assert (stale.error, then.error) == (11, OK)
    *_, newer, then = answers(patch, f"{api} with controller epoch: newer, {after}")
    assert (newer.error, then.error) == (OK, 11)


@each_patch
def test_old_requests_empty_the_checkpoint_at_2_1_and_are_refused_from_2_2_on(
    patch: str,
) -> None:
    told = recorded_acceptance(patch).checkpoint
    assert told.stopped_with == told.before_any_mail == checkpoint_story.RECORDS == {"F": 5, "L": 9}
    if patch == "2.1.1":
        assert (told.old_mail, told.after_old_mail) == (OK, {"F": 5})
        assert told.begun_at == {"F": 5, "L": 0}
    else:
        assert (told.old_mail, told.after_old_mail) == (STALE, checkpoint_story.RECORDS)
        assert told.begun_at == checkpoint_story.RECORDS


# --- the engine -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", control_bodies.ASKED)
def test_the_engine_answers_and_does_what_kafka_does_in_every_case(name: str) -> None:
    assert acceptance_judge.judged(recorded_acceptance(name)).differences == ()


@pytest.mark.parametrize(
    ("patch", "guard"),
    [
        ("2.2.2", "380.control-request-epoch"),
        ("2.5.1", "kafka-9839.newer-epoch"),
        ("2.2.2", "zookeeper.controller-epoch"),
        ("2.2.2", "zookeeper.leader-epoch"),
        ("2.6.3", "570.stop-replica-epoch"),
        ("3.4.1", "kafka-13972.equal-epoch"),
    ],
)
def test_without_one_of_its_rules_the_engine_is_told_from_kafka(patch: str, guard: str) -> None:
    features, versions = features_of(patch), control_bodies.asked_broker(patch).versions
    without = {
        case.name: AcceptingEngine(switched(features, guard, False), versions)
        for case in acceptance_cases()
    }
    runs = acceptance_judge.case_runs(recorded_acceptance(patch), without)
    assert any(run.parted for _, run in runs)


def test_all_that_is_passed_over_is_a_partition_without_a_log_that_3_4_keeps() -> None:
    differing = {
        (patch, name)
        for patch in control_bodies.ASKED
        for name, told in recorded_acceptance(patch).answers.items()
        if tuple(map(as_compared, told)) != told
    }
    refused = "LeaderAndIsr for a new partition, itself not in the replicas"
    assert differing == {(name, refused) for name in ("3.4.0", "3.4.1", "3.4.1/2.1")}


def test_what_is_shown_of_checkpoints_is_what_is_recorded() -> None:
    assert real_control_requests.recorded_checkpoints() == {
        name: recorded_acceptance(name).checkpoint for name in control_bodies.ASKED
    }


# --- the command ----------------------------------------------------------------------------------


def judged(*words: str) -> int:
    return command.main(__main__.JUDGES, ["brokers", *words])


def as_if_live(monkeypatch: pytest.MonkeyPatch, found: RecordedAcceptance) -> None:
    monkeypatch.setattr(acceptance_judge, "asked_live", lambda _patch: found)
    monkeypatch.setattr(acceptance_judge, "ship_checkpoints", lambda: None)


def test_another_checkpoint_is_named_too() -> None:
    other = recorded_acceptance("2.1.1").checkpoint
    mixed = msgspec.structs.replace(recorded_acceptance("2.2.2"), checkpoint=other)
    (line,) = acceptance_judge.judged(mixed).differences
    assert line.startswith("# checkpoint: Kafka has CheckpointStory(")


def test_what_is_said_live_is_kept_only_when_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_if_live(monkeypatch, recorded_acceptance("2.2.2"))
    elsewhere = tmp_path / "accepted"
    where = ["--recordings", str(elsewhere)]
    assert judged("2.2.2", *where) == command.AGREED
    assert not elsewhere.exists()
    assert judged("--record", "2.2.2", *where) == command.AGREED
    assert (elsewhere / "2.2.2.xz").read_bytes() == (ACCEPTED / "2.2.2.xz").read_bytes()
    assert recorded_acceptance("2.2.2", elsewhere) == recorded_acceptance("2.2.2")


def test_answers_to_other_questions_are_not_taken_for_answers_to_these(tmp_path: Path) -> None:
    found = recorded_acceptance("2.2.2")
    old = msgspec.structs.replace(found, cases="0")
    keep_acceptance(old, tmp_path)
    with pytest.raises(recordings.NoRecordingError, match="answers other questions than are asked"):
        recorded_acceptance("2.2.2", tmp_path)


@pytest.mark.parametrize(
    ("session", "password"),
    [
        (0, "f22acd4a97e69d6d20a49bb638eadb38"),
        (0x10000A1B2C30001, "3221ca0a6064b48a8a186054dd9fe97f"),
        (0xFF00A1B2C30001AA - (1 << 64), "2124083e65597800ae19d763314d101a"),
    ],
)
def test_the_password_of_a_session_is_what_java_makes_of_its_id(
    session: int, password: str
) -> None:
    assert live_session.password_of(session).hex() == password
