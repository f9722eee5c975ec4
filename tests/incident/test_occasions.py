"""Where the engine loses committed records, the metadata log shows an occasion for it, or a reason
stands here why records of metadata cannot show one."""

import pytest
from msgspec.structs import replace

from kiplab.engine.events import CommittedLost
from kiplab.incident.findings.finding import Finding
from kiplab.incident.findings.rule_table import findings_at_end, findings_of
from kiplab.incident.replay.replaying import Replay
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.releases import METADATA_LEVEL, RELEASES, Mode, of_mode
from tests.incident.play_records import log_of

QUICKLY = "tests/incident/test_occasions.py::test_a_loss_of_a_play_has_an_occasion"
NOT_IN_THE_LOG = {
    "hole-level": "the leader forgot what it had proposed: the log has two ISRs that grew in order",
    "hole-never-level": "the same",
    "elr-min-isr-raised-unheard": "when a leader learns of min.insync.replicas is in no record",
}
"""Plays that lose records without an occasion, and why."""


def lost(stage: Stage) -> set[str]:
    """The partitions that lost committed records."""
    return {e.partition for e in stage.events if isinstance(e, CommittedLost)}


def occasions(stage: Stage) -> set[str]:
    """The partitions of the play's log for which a loss was possible.

    Its controller registers, as those from 3.7 on do: what its release excludes is not told.
    """
    records = [written.record for written in log_of(stage)]
    first, level = records[0], METADATA_LEVEL[RELEASES[stage.features.release].latest]
    features = [{"name": "metadata.version", "maxSupportedVersion": level}]
    leads = replace(first, type="LEADER_CHANGE", fields={"leaderId": 3000})
    registers = replace(
        first,
        type="REGISTER_CONTROLLER_RECORD",
        fields={"controllerId": 3000, "features": features},
    )
    found: list[Finding] = []
    replay = Replay(found.append)
    for event in replay.events([leads, registers, *records]):
        found += findings_of(event)
    if replay.last is not None:
        states = replay.partitions.values()
        found += findings_at_end(replay.cluster, states, replay.last)
    return {name for f in found if f.kind == "occasion" for name in f.partitions}


def of_kraft(name: str, features: Features | None = None) -> Stage | None:
    stage = run_play(load(name), features)
    return stage if stage.features.mode is Mode.KRAFT else None


@pytest.mark.parametrize("name", names())
def test_a_loss_of_a_play_has_an_occasion(name: str) -> None:
    stage = of_kraft(name)
    if stage is None:
        pytest.skip("no metadata log")
    without = lost(stage) - occasions(stage)
    assert bool(without) == (name in NOT_IN_THE_LOG)


@pytest.mark.long(quick=QUICKLY)
@pytest.mark.parametrize("release", of_mode(Mode.KRAFT))
def test_a_loss_of_a_play_has_an_occasion_at_every_release(release: str) -> None:
    stages = {n: of_kraft(n, parse_features(release)) for n in names() if of_kraft(n)}
    losses = {name: stage for name, stage in stages.items() if stage and lost(stage)}
    assert len(losses) > 5
    assert {n for n, s in losses.items() if lost(s) - occasions(s)} <= set(NOT_IN_THE_LOG)
