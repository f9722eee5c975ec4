"""Where the engine loses committed records, the metadata log has an occasion for it: at every
release, and after random moves."""

from collections.abc import Iterator

import pytest

from kiplab.engine.events import CommittedLost
from kiplab.engine.history import History
from kiplab.incident.findings.finding import Finding
from kiplab.incident.findings.rule_table import findings_at_end, findings_of
from kiplab.incident.replayed_log.replaying import Replay
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.features import parse_features
from kiplab.protocol.releases import Mode, of_mode
from tests.engine.test_random_moves import Walk
from tests.incident.play_records import log_of
from tests.incident.test_plays_as_logs import NOT_IN_RECORDS, OF_KRAFT
from tests.repeated import in_long

MOVES, WALKS = 150, 120
"""Of one walk, and of one test: of walks that are so long one in twenty loses committed records."""
QUICKLY = "tests/incident/test_occasions.py::test_a_loss_of_a_play_has_an_occasion_at_every_release"
NEWEST = of_mode(Mode.KRAFT)[-1]


def lost(stage: Stage) -> set[str]:
    """The partitions that lost committed records."""
    events = (event for step in stage.history.steps for event in step.events)
    return {event.partition for event in events if isinstance(event, CommittedLost)}


def occasions(stage: Stage) -> set[str]:
    """The partitions for which a loss was possible, as the log of the run has it."""
    found: list[Finding] = []
    replay = Replay(found.append)
    for event in replay.events(written.record for written in log_of(stage)):
        found += findings_of(event)
    if replay.last is not None:
        states = replay.partitions.values()
        found += findings_at_end(replay.cluster, states, replay.last)
    return {name for f in found if f.kind == "occasion" for name in f.partitions}


@pytest.mark.parametrize("release", [NEWEST, *in_long(of_mode(Mode.KRAFT)[:-1])])
def test_a_loss_of_a_play_has_an_occasion_at_every_release(release: str) -> None:
    stages = {name: run_play(load(name), parse_features(release)) for name in OF_KRAFT}
    losses = {name: stage for name, stage in stages.items() if lost(stage)}
    assert len(losses) > 5
    without = {name for name, stage in losses.items() if lost(stage) - occasions(stage)}
    assert without <= set(NOT_IN_RECORDS)


def walks(first: int, count: int) -> Iterator[Stage]:
    for seed in range(first, first + count):
        walk = Walk(seed)
        history, features = History(walk.cluster), walk.cluster.features
        if features.mode is Mode.KRAFT:
            walk.run()
            for move in walk.done:
                history = history.do(move)
            yield Stage(load("kafka-14139"), features, history)


@pytest.mark.long(quick=QUICKLY)
@pytest.mark.parametrize("part", range(8))
def test_a_loss_after_random_moves_has_an_occasion(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.engine.test_random_moves.MOVES", MOVES)
    losses = [stage for stage in walks(part * WALKS, WALKS) if lost(stage)]
    assert losses
    for stage in losses:
        assert lost(stage) <= occasions(stage), stage.history.steps
