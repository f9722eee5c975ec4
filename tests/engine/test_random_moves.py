"""Random moves: nothing raises, nothing promised breaks, a refusal leaves the controller alone."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kiplab.engine import moves
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, enabled
from kiplab.engine.events import Event, PropertyBroken
from kiplab.engine.explain import sentence
from kiplab.engine.setup import BrokerSetup, PartitionSetup, Setup, cluster_of
from kiplab.engine.step import step
from kiplab.protocol.facts import RecordWritten, Refused
from kiplab.protocol.features import parse_features

FEATURES = [
    parse_features("3.2"),
    parse_features("3.3"),
    parse_features("3.4"),
    parse_features("3.5"),
    parse_features("3.5/3.4-IV0"),
    parse_features("3.5", off=("903",)),
    parse_features("3.5", off=("841",)),
    parse_features("3.5", on=("903.bump-leader-epochs",)),
    parse_features("3.9"),
]


def small_cluster(features: object, brokers: int) -> Cluster:
    """Broker 1 leads alone; the others have a shorter log."""
    ids = tuple(range(1, brokers + 1))
    return cluster_of(
        Setup(
            features=features,
            brokers=tuple(BrokerSetup(id=i, epoch=100 + i) for i in ids),
            partitions=(
                PartitionSetup(
                    name="orders-0",
                    replicas=ids,
                    isr=ids[:1],
                    leader=1,
                    leader_epoch=5,
                    partition_epoch=10,
                    log=((3, 4), (2, 5)),
                    logs=((ids[-1], ((3, 4),)),),
                ),
            ),
        )
    )


class AnythingGoes(RuleBasedStateMachine):
    """Any move of the full menu, at any time."""

    cluster: Cluster
    events: tuple[Event, ...] = ()
    before: Cluster | None = None

    @initialize(features=st.sampled_from(FEATURES), brokers=st.integers(2, 3))
    def begin(self, features: object, brokers: int) -> None:
        self.cluster = small_cluster(features, brokers)

    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        ready = [m for m in enabled(self.cluster, EVERYTHING) if isinstance(m, moves.Deliver)]
        if ready:
            self.do(data.draw(st.sampled_from(ready)))

    @rule(data=st.data())
    def anything(self, data: st.DataObject) -> None:
        self.do(data.draw(st.sampled_from(enabled(self.cluster, EVERYTHING))))

    @rule(data=st.data())
    def ordinary(self, data: st.DataObject) -> None:
        calm = [m for m in enabled(self.cluster, EVERYTHING) if not isinstance(m, moves.FAULTS)]
        if calm:
            self.do(data.draw(st.sampled_from(calm)))

    def do(self, move: moves.Move) -> None:
        self.before = self.cluster
        done = step(self.cluster, move)
        assert step(self.cluster, move) == done, "equal moves from equal states give equal results"
        self.cluster, self.events = done.cluster, done.events

    @invariant()
    def nothing_promised_breaks(self) -> None:
        broken = [e for e in self.events if isinstance(e, PropertyBroken) and e.promised]
        assert not broken, broken

    @invariant()
    @precondition(lambda self: self.before is not None)
    def a_refusal_leaves_the_controller_alone(self) -> None:
        assert self.before is not None
        refused = any(isinstance(e, Refused) and e.node < 0 for e in self.events)
        wrote = any(isinstance(e, RecordWritten) for e in self.events)
        if refused and not wrote:
            assert self.cluster.controller is self.before.controller

    @invariant()
    def every_event_has_a_sentence(self) -> None:
        assert all(sentence(e) for e in self.events)

    def teardown(self) -> None:
        if hasattr(self, "cluster"):
            once = canonical(self.cluster)
            assert canonical(once) == once, "canonical is a projection"


AnythingGoes.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestAnythingGoes = AnythingGoes.TestCase
