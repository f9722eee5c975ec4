"""Each play of KRaft, its records written as a real controller's log and replayed: after each
record the partitions and registrations are the engine's, and no loss is without a finding."""

from pathlib import Path
from typing import Any

import pytest

from kiplab import read_metadata_log
from kiplab.incident.findings.finding import Finding
from kiplab.incident.replayed_log.replaying import Replay
from kiplab.incident.states import PartitionState, RegisteredIncarnation
from kiplab.plays.header import features_of
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.releases import Mode
from tests.incident.play_records import log_of, uuid
from tests.incident.written_logs import batches_of, dump_of
from tests.repeated import COVERING, in_long

OF_KRAFT = [name for name in names() if features_of(load(name)).mode is Mode.KRAFT]
PLAYS = [name for name in OF_KRAFT if name in COVERING]
PLAYS += in_long(name for name in OF_KRAFT if name not in COVERING)
NOT_IN_RECORDS = {
    "hole-level": "which proposal a leader forgot: no request is in the log",
    "hole-never-level": "which proposal a leader forgot: no request is in the log",
    "elr-min-isr-raised-unheard": "which settings a leader had applied",
}
"""Plays that lose records without a trace in the metadata log, and what it lacks."""


@pytest.mark.parametrize("name", PLAYS)
def test_a_replayed_play_has_the_states_of_the_engine(name: str) -> None:
    inconsistent: list[Finding] = []
    replay = Replay(inconsistent.append)
    for written in log_of(run_play(load(name))):
        for _ in replay.events([written.record]):
            pass
        if written.controller:
            now = state_of([*replay.partitions.values()], [*replay.cluster.incarnations.values()])
            assert now == engine_state(written.controller), written.record
    assert not inconsistent


@pytest.mark.parametrize("name", PLAYS)
def test_a_loss_of_a_play_is_found_in_its_dump(name: str, tmp_path: Path) -> None:
    stage, dump = run_play(load(name)), tmp_path / "dump.txt"
    log = list(log_of(stage))
    dump.write_text("".join(dump_of(batches_of(written.record for written in log))))
    history = read_metadata_log(dump, limit_ms=0)
    # Of what the engine has before its first step nothing is written.
    assert all("the log begins at" in remark.text for remark in history.remarks)
    assert not [finding for finding in history.findings if finding.rule == "inconsistent"]
    last = log[-1].controller
    if last:
        states, incarnations = history.partitions.values(), history.cluster.incarnations.values()
        assert state_of([*states], [*incarnations]) == engine_state(last)
    suspected = {p for f in history.findings if f.kind == "occasion" for p in f.partitions}
    broken = {partition for _, partition in stage.cluster.broken}
    assert bool(broken - suspected) == (name in NOT_IN_RECORDS)


def state_of(
    partitions: list[PartitionState], incarnations: list[RegisteredIncarnation]
) -> dict[str, Any]:
    state: dict[str, Any] = {
        p.name: (
            *(p.replicas, p.isr, p.leader, p.leader_epoch, p.partition_epoch, p.recovering),
            *(p.adding, p.removing, tuple(sorted(p.elr)), p.last_known),
        )
        for p in partitions
    }
    for incarnation in incarnations:
        if incarnation.ended is None:
            stopping = incarnation.shutting_down_since is not None
            state[f"broker {incarnation.broker}"] = (
                incarnation.epoch,
                incarnation.incarnation_id,
                incarnation.fenced,
                stopping,
            )
    return state


def engine_state(controller: Controller) -> dict[str, Any]:
    state: dict[str, Any] = {
        p.name: (
            *(p.replicas, p.isr, p.leader, p.leader_epoch, p.partition_epoch, p.recovery == 1),
            *(p.adding, p.removing, p.elr, p.last_known),
        )
        for p in controller.partitions
    }
    for r in controller.registrations:
        incarnation = uuid("process", r.broker, r.incarnation)
        state[f"broker {r.broker}"] = (r.epoch, incarnation, r.fenced, r.in_controlled_shutdown)
    return state
