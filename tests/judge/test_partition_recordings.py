"""What Kafka's own Partition has said once, asked again without Java: the engine agrees with it,
and no rule of a leader can be another one without being noticed.
"""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplab.judge.partition.partition_process import partition_releases
from kiplab.protocol import guards, releases
from kiplab.protocol import replica as leaders_rules
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import parse_features
from kiplab.protocol.replica import (
    alter_partition_manager,
    fetching,
    isr_proposals,
    leader,
    remote_replicas,
)
from tests.judge.kafka_here import long
from tests.judge.partition import engine_leader, leader_transitions, partition_judge
from tests.judge.skeleton import recordings

TURNS_AT_LEAST = 6_000
FIRST = range(12)
"""Of the runs of a release. They meet nearly every rule."""
NO_LEADERS_RULE = {
    "320.validated-position": "consumers ask by it",
    "704.follower-refuses": "a follower refuses consumers by it, and no turn is a consumer's",
    "704.aborts-transactions": "no turn writes in a transaction",
    "903.fetch-epoch": "a follower sends by it; the turns say what it sent",
    "kafka-15221.locked-state": "two fetches that meet differ by it; turns come one by one",
}
"""Guards that rules of a broker ask for and a leader does not, and why."""


@cache
def runs_of(release: str) -> partition_judge.RecordedRuns:
    return partition_judge.load_runs(release)


def agrees(release: str, places: Iterable[int] | None) -> int:
    """How many turns agreed."""
    turns = 0
    for seed, run in partition_judge.replayed(runs_of(release), places=places):
        assert not run.parted, run.difference(f"run {seed}")
        turns += len(run.done)
    return turns


@pytest.mark.parametrize("release", partition_releases())
def test_the_engine_goes_the_way_that_kafka_went_in_its_first_runs(release: str) -> None:
    assert agrees(release, FIRST) > 0


def test_the_first_runs_of_all_releases_meet_every_rule() -> None:
    met = set()
    for release in partition_releases():
        for _, run in partition_judge.replayed(runs_of(release), places=FIRST):
            met |= set(partition_judge.hits(run))
    assert met == set(leader_transitions.RULES)


@long(test_the_engine_goes_the_way_that_kafka_went_in_its_first_runs)
@pytest.mark.parametrize("release", partition_releases())
def test_the_engine_goes_the_way_that_kafka_went(release: str) -> None:
    assert agrees(release, None) >= TURNS_AT_LEAST


# --- teeth ----------------------------------------------------------------------------------------


def leaders_guards() -> list[str]:
    """Every guard that the rules of a broker ask for by name, and that a release knows which is
    recorded: those are KRaft's, and what is asked only where there is ZooKeeper acts in none.
    """
    folder = Path(leaders_rules.__file__ or "").parent
    source = "".join(file.read_text() for file in folder.glob("*.py"))
    modes = {releases.RELEASES[release].mode for release in partition_releases()}
    known = [id for id, guard in guards.GUARDS.items() if modes & {*guard.modes}]
    return [guard for guard in known if f'"{guard}"' in source and guard not in NO_LEADERS_RULE]


@pytest.mark.parametrize("guard", leaders_guards())
def test_a_leaders_rule_that_is_switched_is_noticed(guard: str) -> None:
    native = guards.GUARDS[guard].kind in (guards.GuardKind.REFUSAL, guards.GuardKind.RULE)
    *_, last = judged = partition_releases()
    # The first that has it: later ones may say the same twice.
    release = next(r for r in judged if r in guards.GUARDS[guard].releases) if native else last
    way = {"off" if native else "on": (guard,)}
    assert parts(release, **way), f"{guard} was switched, and nothing came of it at {release}"


def parts(release: str, **switched: Any) -> bool:
    """Whether a run notices it: the first few do, as a rule."""
    features = parse_features(release, **switched)
    return any(run.parted for _, run in partition_judge.replayed(runs_of(release), features))


AS_IT_IS: dict[str, Callable[..., Any]] = {"isr_state": leader._isr_state}


def never_forgets(here: Any, replica: Any, state: Any) -> Any:
    """A proposal outlives metadata of any partition epoch."""
    led = replica.leading if replica is not None else None
    return AS_IT_IS["isr_state"](here, replica, state) if led is None else led.isr_state


WRONG = [
    pytest.param(isr_proposals, "REVERTING", (), id="nothing reverts a proposal"),
    pytest.param(isr_proposals, "REVERTING", (KafkaError.INELIGIBLE_REPLICA,), id="one does"),
    pytest.param(isr_proposals, "WAITING", (), id="every error is retried"),
    pytest.param(
        isr_proposals, "WAITING", (*isr_proposals.WAITING, KafkaError.NETWORK_EXCEPTION), id="hush"
    ),
    pytest.param(leader, "_isr_state", never_forgets, id="metadata undoes no proposal"),
    pytest.param(remote_replicas, "LAG_TIME_MAX_MS", 29_998, id="who lags for less is out"),
    pytest.param(remote_replicas, "LAG_TIME_MAX_MS", 30_001, id="who lags for more is in"),
    pytest.param(remote_replicas, "_waited_for", lambda *_: False, id="nobody is waited for"),
    pytest.param(remote_replicas, "wanted_in_sync", lambda *_: 1, id="one is enough"),
    pytest.param(
        alter_partition_manager, "_withdrawn", lambda b, _: (b, (), ()), id="two proposals"
    ),
    pytest.param(alter_partition_manager, "_is_pending", lambda *_: True, id="any answer counts"),
    pytest.param(fetching, "_diverging", lambda *_: None, id="logs never part"),
    pytest.param(fetching, "_out_of_range", lambda *_: None, id="no offset is out of range"),
]


@pytest.mark.parametrize(("module", "name", "instead"), WRONG)
def test_a_wrong_rule_is_noticed(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, instead: object
) -> None:
    monkeypatch.setattr(module, name, instead)
    assert parts("3.9")


def test_what_is_kept_of_a_run_is_read_again(tmp_path: Path) -> None:
    features, timed = parse_features("3.5"), partition_judge.is_timed(4)
    beside = engine_leader.EngineLeader(features, partition_judge.PARTITIONS, timed=timed)
    run = partition_judge.side_by_side(beside, features, timed=timed)
    # The turns are chosen by what `beside` holds, which has done all before.
    assert run.follow(partition_judge.generated_turns(beside, 4, 60)) is None
    kept = partition_judge.recorded_run(run, 4)
    head = partition_judge.RunsHead("3.5.2", "3.5")
    recordings.save("3.5", recordings.Recording(head, [kept]), tmp_path)
    again = partition_judge.load_runs("3.5", tmp_path)
    assert msgspec.convert(again.lines[0], partition_judge.RecordedRun) == kept
    assert [run.parted for _, run in partition_judge.replayed(again)] == [False]
