"""Each play of KRaft, its records written as a real controller's log and replayed: after each
record the partitions and registrations are the engine's."""

from typing import Any

import pytest

from kiplab.incident.findings.finding import Finding
from kiplab.incident.replay.replaying import Replay
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.releases import Mode
from tests.incident.play_records import log_of, uuid


def of_kraft(name: str) -> bool:
    return run_play(load(name)).features.mode is Mode.KRAFT


PLAYS = names()


@pytest.mark.parametrize("name", PLAYS)
def test_a_replayed_play_has_the_states_of_the_engine(name: str) -> None:
    stage = run_play(load(name))
    if stage.features.mode is not Mode.KRAFT:
        pytest.skip("no metadata log")
    found: list[Finding] = []
    replay = Replay(found.append)
    for written in log_of(stage):
        for _ in replay.events([written.record]):
            pass
        if written.controller:
            assert replayed_state(replay) == engine_state(written.controller), written.record
    assert not found


def replayed_state(replay: Replay) -> dict[str, Any]:
    state: dict[str, Any] = {
        p.name: (
            *(p.replicas, p.isr, p.leader, p.leader_epoch, p.partition_epoch, p.recovering),
            *(p.adding, p.removing, tuple(sorted(p.elr)), p.last_known),
        )
        for p in replay.partitions.values()
    }
    for broker, life in replay.cluster.lives.items():
        if life.ended is None:
            state[f"broker {broker}"] = (
                *(life.epoch, life.incarnation, life.fenced, life.shutting_down_since is not None),
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
