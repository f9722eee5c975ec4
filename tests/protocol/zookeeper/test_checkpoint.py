"""The checkpoint of high watermarks in ZooKeeper's time, and KIP-380's case C on it.

As observed on real brokers: at 2.1.1 a LeaderAndIsr of an earlier incarnation that names F alone
makes `F 5, L 9` into `F 5`, and L is loaded with high watermark 0; at 2.2.2 it is refused, the file
stays, and L is loaded with 9.
"""

from kiplab.protocol.features import Features
from kiplab.protocol.replica import disk
from kiplab.protocol.replica.broker_state import Broker, Loss, replica_of
from kiplab.protocol.zookeeper_facts import CheckpointLost
from tests.protocol.building import present
from tests.protocol.zookeeper.brokers import (
    EPOCH,
    FOLLOWED,
    LED,
    RELEASES,
    ask,
    at_release,
    lai,
    on,
    records,
    running,
    started,
    state,
    um,
)

FILE = (records(FOLLOWED, 9, 5), records(LED, 9, 9))


def on_disk(broker: Broker) -> dict[str, int]:
    """replication-offset-checkpoint; a partition that is not in it counts as 0."""
    return {r.partition: r.checkpoint for r in broker.durable.replicas}


def of_an_earlier_life(features: Features) -> Broker:
    """Case C: the request that waited for broker 1 names F-0 alone."""
    told = state(FOLLOWED, 2, 8, replicas=(2, 1))
    stale = EPOCH - 40 if features.code_of(started(features).id) >= (2, 2) else -1
    broker = started(features, *FILE)
    return ask(broker, lai(features, told, broker_epoch=stale), features).broker


def high_watermark_of_led(broker: Broker, features: Features) -> int:
    all_told = lai(features, state(FOLLOWED, 2, 9, replicas=(2, 1)), state(LED, 1, 4))
    after = ask(ask(broker, um(features), features).broker, all_told, features).broker
    return present(replica_of(after, LED)).high_watermark


def test_case_c_without_a_generation_the_file_loses_a_partition() -> None:
    features = at_release("zk-2.1")
    broker = of_an_earlier_life(features)
    assert on_disk(broker) == {FOLLOWED: 5, LED: 0}
    assert high_watermark_of_led(broker, features) == 0


@on(*RELEASES[1:])
def test_case_c_with_a_generation_the_file_stays(features: Features) -> None:
    broker = of_an_earlier_life(features)
    assert on_disk(broker) == {FOLLOWED: 5, LED: 9}
    assert high_watermark_of_led(broker, features) == 9


def test_what_the_file_loses_is_told() -> None:
    features = at_release("zk-2.1")
    asked = lai(features, state(FOLLOWED, 2, 8, replicas=(2, 1)))
    facts = ask(started(features, *FILE), asked, features).effect[2]
    lost = [f for f in facts if isinstance(f, CheckpointLost)]
    assert [(f.partition, f.high_watermark) for f in lost] == [(LED, 9)]


@on(*RELEASES)
def test_before_the_first_leader_and_isr_no_round_writes(features: Features) -> None:
    broker = ask(started(features, *FILE), um(features), features).broker
    assert disk.checkpoint(broker) == (broker, (), ())
    assert disk.checkpoint(broker)[0] is broker


@on(*RELEASES)
def test_even_a_leader_and_isr_that_is_ignored_for_every_partition_starts_the_task(
    features: Features,
) -> None:
    asked = lai(features, state("X-0", 2, 8, replicas=(2, 3)))
    assert present(ask(started(features, *FILE), asked, features).broker.process).checkpoints


@on(*RELEASES)
def test_who_knows_of_no_partition_writes_no_file(features: Features) -> None:
    stopped, _, facts = disk.stop_cleanly(started(features, *FILE))
    assert on_disk(stopped) == {FOLLOWED: 5, LED: 9}
    assert not [f for f in facts if isinstance(f, CheckpointLost)]


def test_a_clean_stop_writes_what_is_known_and_loses_the_rest() -> None:
    features = at_release("zk-2.1")
    asked = lai(features, state(FOLLOWED, 2, 8, replicas=(2, 1)))
    knows_one = ask(started(features, records(FOLLOWED, 9, 5)), asked, features).broker
    both = Broker(knows_one.id, durable=started(features, *FILE).durable, process=knows_one.process)
    stopped, _, facts = disk.stop_cleanly(both)
    assert on_disk(stopped) == {FOLLOWED: 5, LED: 0}
    assert [f.partition for f in facts if isinstance(f, CheckpointLost)] == [LED]


@on(*RELEASES)
def test_a_crash_leaves_the_file_as_it_is(features: Features) -> None:
    crashed = disk.crash(running(features, *FILE), Loss.NOTHING)[0]
    assert on_disk(crashed) == {FOLLOWED: 5, LED: 9}


@on(*RELEASES)
def test_a_replica_begins_at_what_the_file_says(features: Features) -> None:
    broker = running(features, *FILE)
    marks = {r.partition: r.high_watermark for r in present(broker.process).replicas}
    assert marks == {FOLLOWED: 5, LED: 9}
