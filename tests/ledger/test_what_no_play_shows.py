"""Clauses of the ledger that no single play shows, and no test elsewhere."""

from collections.abc import Iterator

import pytest

from kiplab.engine.cluster import Cluster
from kiplab.engine.events import Sent
from kiplab.engine.truth import truth
from kiplab.plays.library import load, names
from kiplab.plays.play import Play, Statement
from kiplab.plays.runner import run_play
from kiplab.plays.values import feature_set
from kiplab.plays.verdict import refused, verdict
from kiplab.protocol import ids, messages, registrations

# KIP-903, Motivation, step 5


@pytest.mark.parametrize(("release", "comes_to"), [("3.4", "loss"), ("3.5", "safe")])
def test_another_controller_changes_nothing_of_the_race(release: str, comes_to: str) -> None:
    race = load("kafka-14139")
    place = [s.text for s in race.statements].index("start 2")
    another = Play((*race.statements[:place], Statement("fail-over"), *race.statements[place:]))
    runs = [run_play(play, feature_set(f"@{release}")) for play in (race, another)]
    assert [verdict(run) for run in runs] == [comes_to, comes_to]
    guards = [[refusal["guard"] for refusal in refused(run)] for run in runs]
    assert guards[0] == guards[1]
    terms = [truth(run.cluster).controller_epoch for run in runs]
    assert terms[1] == terms[0] + 1


# KIP-903, Proposed Design, and Rejected Alternatives, the second


@pytest.mark.parametrize("release", ["3.4", "3.5", "3.9", "4.0"])
def test_no_leader_knows_a_broker_epoch_before_the_controller(release: str) -> None:
    looked = 0
    for name in names():
        minted: dict[ids.BrokerId, ids.BrokerEpoch] = {}
        for recorded in run_play(load(name), feature_set(f"@{release}")).history.steps:
            minted |= {r.broker: r.epoch for r in truth(recorded.cluster).registrations}
            for broker, epoch in known(recorded.cluster):
                assert epoch <= minted[broker], (name, recorded.line)
                looked += 1
    assert looked > 1_000


def known(cluster: Cluster) -> Iterator[tuple[ids.BrokerId, ids.BrokerEpoch]]:
    """Every epoch of a broker that some broker has from the metadata or from a fetch."""
    for process in (b.process for b in cluster.brokers if b.process is not None):
        for registration in process.image.registrations if process.image else ():
            yield registration.broker, registration.epoch
        for replica in process.replicas:
            for remote in replica.leading.remotes if replica.leading else ():
                if remote.epoch is not None:
                    yield remote.broker, remote.epoch


# KIP-903, Compatibility, Deprecation, and Migration Plan, 2 and 3


def test_at_an_old_metadata_version_version_3_is_spoken_and_no_followers_epoch_told() -> None:
    (asked,) = asked_for("kafka-14139", "@3.5/3.4-IV0")
    assert asked.version == 3
    assert [m.epoch for m in members(asked)] == [40, -1]
    (newer,) = asked_for("kafka-14139", "@3.5")
    assert [m.epoch for m in members(newer)] == [40, 41]


def asked_for(name: str, features: str) -> list[messages.AlterPartitionRequest]:
    """What leaders sent in a play."""
    sent = (
        e.body for e in run_play(load(name), feature_set(features)).events if isinstance(e, Sent)
    )
    return [body for body in sent if isinstance(body, messages.AlterPartitionRequest)][:1]


def members(request: messages.AlterPartitionRequest) -> tuple[messages.IsrMember, ...]:
    """The ISR that it wants."""
    (item,) = request.items
    return item.isr


# KIP-704, Topic Partition Leader


@pytest.mark.parametrize("release", ["3.2", "3.9", "4.3"])
def test_on_record_whoever_recovers_is_alone_in_the_isr(release: str) -> None:
    recovering = 0
    for name in names():
        for recorded in run_play(load(name), feature_set(f"@{release}")).history.steps:
            for state in truth(recorded.cluster).partitions:
                if state.recovery is registrations.LeaderRecoveryState.RECOVERING:
                    recovering += 1
                    assert len(state.isr) == 1, (name, recorded.line)
    assert recovering
