"""What only pairs with ZooKeeper have: controllers that are hit, guards without effect there."""

from functools import partial

import pytest

from kiplab.fleet.agreement.driven_zookeeper import HOST
from kiplab.fleet.agreement.zookeeper_run import ZooKeeperRun
from kiplab.fleet.kernel.mirrored_guards import ALWAYS_IN_THE_KERNEL, mirrored_in, without_effect_in
from kiplab.protocol.features import switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.releases import RELEASES, Mode
from kiplab.protocol.zookeeper_facts import ControllerElected
from tests.fleet import traced_pairs
from tests.fleet.agreement import compare_command
from tests.fleet.agreement.compared_sets import COMPARED_WITH_ZOOKEEPER
from tests.fleet.agreement.hosted_outside import is_whole
from tests.fleet.agreement.made_schedules import REFUSE_NEVER
from tests.fleet.agreement.trace_comparison import to_json
from tests.fleet.agreement.trace_coverage import covered

WITHOUT = 100
"""With so many the engine goes without what is said to be without effect."""
traces = partial(traced_pairs.quick_traces, Mode.ZOOKEEPER)


def test_every_guard_that_can_refuse_a_line_with_zookeeper_refuses_one() -> None:
    met = covered((schedule, trace) for schedule, _, trace in traces())
    with_error = {g for g in mirrored_in(Mode.ZOOKEEPER) if GUARDS[g].error is not None}
    assert set(met.guards) == with_error - set(REFUSE_NEVER[Mode.ZOOKEEPER])
    assert {"STALE_BROKER_EPOCH", "FENCED_LEADER_EPOCH"} == set(met.errors)


def test_in_some_pairs_a_controller_is_hit_with_its_broker_and_another_is_elected() -> None:
    hosted = [(schedule, name) for schedule, name, _ in traces() if schedule.host]
    assert len(hosted) >= traced_pairs.FIRST // compare_command.HOSTED
    assert all(is_whole(schedule) for schedule, _ in hosted)
    hit = {e.kind for s, _ in hosted for e in s.events if e.broker == s.host}
    assert {"crash", "cut"} <= hit
    schedule, name = hosted[0]
    run = ZooKeeperRun(schedule, COMPARED_WITH_ZOOKEEPER[name])
    assert run.engine.host == schedule.host
    run.run()
    facts = [fact for made in run.engine.done for fact in made.events]
    elected = [fact.broker for fact in facts if isinstance(fact, ControllerElected)]
    assert elected[0] == run.engine.host == HOST


# Without a guard


def test_what_is_without_effect_changes_no_trace_of_the_engine_when_it_is_switched_off() -> None:
    for schedule, name, trace in traces()[:WITHOUT]:
        features = COMPARED_WITH_ZOOKEEPER[name]
        for guard in without_effect_in(Mode.ZOOKEEPER):
            if guard in features.active(BrokerId(1)):
                features = switched(features, guard, False)
        assert ZooKeeperRun(schedule, features).run() == trace, to_json(schedule)


@pytest.mark.parametrize("guard", list(ALWAYS_IN_THE_KERNEL))
def test_what_the_kernel_cannot_do_without_is_in_every_release(guard: str) -> None:
    zookeeper = (release for release in RELEASES.values() if release.mode is Mode.ZOOKEEPER)
    assert all(GUARDS[guard].built_in(release) for release in zookeeper)
