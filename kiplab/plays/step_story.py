"""One step of a run in two sentences: what happened there, and why it matters.

A step has up to twenty events. The story takes the ones that a reader must not miss, by rank, and
says what follows from the first of them in the cluster as it is after the step.
"""

import tomllib
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple

from ..engine import events
from ..engine.explain import explain, sentence, span
from ..engine.truth import partition_of, truth
from ..protocol import facts, zookeeper_facts
from ..protocol.ids import NO_LEADER, BrokerId, broker_list, node_name
from ..protocol.registrations import PartitionRegistration
from .stage import Stage

LENGTH_MAX = 150
"""Characters of a sentence with two events: a longer one keeps the first event only."""


class StepStory(NamedTuple):
    """`matters` is empty where nothing follows from the step that a reader should know."""

    happened: str
    matters: str = ""


def story_of(stage: Stage) -> StepStory:
    """What the last step of a stage did. Before the first one it is the question of the play."""
    here = [p for p in stage.performed if p.moment == stage.moment] if stage.moment else []
    if not here:
        return StepStory(stage.play.title, stage.play.question)
    ranked = [e for performed in here for e in stage.events_of(performed) if _has_rank(e)]
    if not ranked:
        return StepStory("Nothing changes.")
    first = min(ranked, key=_rank)
    said = _MATTERS[type(first)]
    matters = said.format(first) if isinstance(said, str) else said(first, stage)
    return StepStory(_happened(ranked, first), _capital(matters))


def _has_rank(event: events.Event) -> bool:
    """Whether an event may be told: one that only follows from another is said by that one."""
    if isinstance(event, facts.LeaderElected):
        return event.leader != event.before
    if isinstance(event, facts.Refused):
        # With ZooKeeper a controller sends every state again to a broker that is back.
        return event.guard != "zookeeper.leader-epoch"
    if isinstance(event, facts.LifecycleChanged):
        return str(event.state) in _LIFECYCLE
    return type(event) in _RANK


def _rank(event: events.Event) -> int:
    return _RANK[type(event)]


def _happened(ranked: list[events.Event], first: events.Event) -> str:
    """The first event by rank, and the next one of another kind if both are short, as they came."""
    if isinstance(first, events.CommittedLost):
        return f"{_capital(_in_words(first))}."
    others = sorted((e for e in ranked if type(e) not in (type(first), *_ALONE)), key=_rank)
    both = [e for e in ranked if e is first or e is next(iter(others), None)]
    words = "; ".join(map(_in_words, both))
    return f"{_capital(words if len(words) <= LENGTH_MAX else _in_words(first))}."


def _in_words(event: events.Event) -> str:
    """A refusal without its reason, which is what matters; else the line of the transcript."""
    if isinstance(event, facts.Refused):
        where = f" for {event.partition}" if event.partition else ""
        sign = "◘" if event.guard else "⊘"
        return f"{sign} {node_name(event.node)} refuses {event.request}{where}: {event.error.name}"
    if isinstance(event, facts.NotProposed):
        return f"broker {event.node} does not propose broker {event.follower} for {event.partition}"
    if isinstance(event, events.CommittedLost):
        lost = f"committed {span(event.first, event.last)}"
        return f"broker {event.leader} leads {event.partition} without {lost}"
    if isinstance(event, events.PropertyBroken):
        return event.detail
    return sentence(event)


def _capital(text: str) -> str:
    start = 2 if text.startswith(("◘ ", "⊘ ")) else 0
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


# --- why it matters -------------------------------------------------------------------------------


def _of_isr(event: facts.IsrChanged, stage: Stage) -> str:
    last = (e for p in stage.performed if p.moment == stage.moment for e in stage.events_of(p))
    risk = next((e.detail for e in last if isinstance(e, events.PropertyBroken)), "")
    joined = sorted(set(event.after) - set(event.before))
    if risk:
        return f"{_capital(risk)}."
    state = partition_of(stage.cluster, event.partition)
    if state is not None and not event.after:
        return _waits_for(state)
    if state is not None and state.elr and not joined:
        return f"Nothing more is committed before the ISR has {_least(state)} members again."
    if joined:
        who = f"Broker {joined[0]}" if len(joined) == 1 else f"Brokers {broker_list(joined)}"
        return f"{who} can be elected from now on, and the high watermark waits for it."
    if len(event.after) == 1:
        return f"What broker {event.after[0]} has is committed: the ISR has no other member."
    return f"Records are committed by {broker_list(event.after)} alone from now on."


def _of_election(event: facts.LeaderElected, stage: Stage) -> str:
    state = partition_of(stage.cluster, event.partition)
    isr = broker_list(state.isr) if state else ""
    if event.leader == NO_LEADER:
        return _waits_for(state) if state else ""
    if event.unclean:
        where = "neither in the ISR nor in the ELR" if stage.features.has_elr else "not in the ISR"
        return f"It was {where}: committed records that it lacks are lost."
    if event.from_elr:
        return "It was in the ELR: the controller assumes that it has every committed record."
    return f"It is in the ISR {isr}: the controller assumes that it has every committed record."


def _waits_for(state: PartitionRegistration) -> str:
    """Who has to be back before a partition without a leader has one."""
    if state.isr:
        who, why = f"a member of its ISR {broker_list(state.isr)} is back", ""
    elif state.unclean_leader_election:
        who, why = "a replica is back", "its ISR is empty, and unclean elections are allowed"
    elif state.elr:
        who, why = f"a member of its ELR {broker_list(state.elr)} is back", "its ISR is empty"
    elif state.last_known and NO_LEADER not in state.last_known:
        who = f"its last known leader, broker {state.last_known[0]}, is back"
        why = "its ISR and its ELR are empty"
    else:
        who, why = "an operator elects a leader uncleanly", "nobody is in its ISR or its ELR"
    return f"Clients cannot use {state.name} until {who}{why and f': {why}'}."


def _least(state: PartitionRegistration) -> int:
    return min(state.min_insync_replicas, len(state.replicas))


def _of_elr(event: facts.ElrChanged, stage: Stage) -> str:
    state = partition_of(stage.cluster, event.partition)
    if state is None or state.leader == NO_LEADER:
        return _waits_for(state) if state else ""
    if not event.after:
        return "Only a member of the ISR can be elected cleanly from now on."
    return f"A member of {broker_list(event.after)} can be elected when the ISR is empty."


def _of_broker(event: facts.BrokerChanged, stage: Stage) -> str:
    if event.change is facts.BrokerChange.FENCED:
        return _of_fencing(event.broker, stage)
    return _CHANGES[event.change].format(event)


def _of_fencing(broker: BrokerId, stage: Stage) -> str:
    outside = [p for p in truth(stage.cluster).partitions if broker in p.replicas]
    kept = next((p for p in outside if broker not in p.isr), None)
    if kept is None:
        return "The controller does not elect it while it is fenced."
    return (
        f"It was not in the ISR of {kept.name}: the partition epoch stays {kept.partition_epoch},"
        " and a request with that epoch is not out of date."
    )


def _of_proposal(event: facts.IsrProposed, stage: Stage) -> str:
    kinds = {m.name.kind for m in stage.cluster.messages if m.name.sender == event.node}
    kept = " The request is still in flight." if kinds & {"alter-partition", "alter-isr"} else ""
    waits = broker_list(event.maximal)
    return f"The leader waits for all of {waits} until the controller has answered.{kept}"


def _of_truncation(event: facts.Truncated, stage: Stage) -> str:
    lost = [e for e in stage.events if isinstance(e, events.CommittedLost)]
    if any(e.partition == event.partition and e.first <= event.last for e in lost):
        return "These records were committed. A follower keeps nothing that its leader lacks."
    return "They were not committed: a follower keeps nothing that its leader lacks."


def _of_comparison(event: zookeeper_facts.BrokersCompared, _stage: Stage) -> str:
    if event.bounced:
        return "The controller handles a failure, then a startup: it sends every state again."
    if event.new or event.dead:
        return ""
    return "A broker that left and returned is not noticed: the controller sends it no request."


def _of_produce(event: facts.Appended, stage: Stage) -> str:
    state = partition_of(stage.cluster, event.partition)
    if state is None or state.leader != event.node or len(state.isr) < 2:
        return ""
    return f"Not committed yet: every member of the ISR {broker_list(state.isr)} needs them first."


_TEXTS = tomllib.loads((files(__package__) / "matters.toml").read_text("utf-8"))
_LIFECYCLE: dict[str, str] = _TEXTS.pop("states")
_CHANGES: dict[str, str] = _TEXTS.pop("changes")
_ACKS: dict[str, str] = _TEXTS.pop("acks")
_ALONE = (
    *(events.PropertyBroken, events.Delivered, events.Happened),
    *(facts.BecameLeader, facts.BecameFollower),
)
"""Kinds that are told only where nothing else happened: they follow from the rest."""
_TOLD: dict[type, Callable[[Any, Stage], str]] = {
    facts.Refused: lambda e, _: explain(e),
    facts.NotProposed: lambda e, _: explain(e),
    facts.LeaderElected: _of_election,
    facts.IsrChanged: _of_isr,
    facts.ElrChanged: _of_elr,
    facts.Truncated: _of_truncation,
    zookeeper_facts.BrokersCompared: _of_comparison,
    facts.BrokerChanged: _of_broker,
    facts.IsrProposed: _of_proposal,
    facts.BatchAcknowledged: lambda e, _: _ACKS["all" if e.acks_all else "1"],
    facts.Appended: _of_produce,
    facts.LifecycleChanged: lambda e, _: _LIFECYCLE[str(e.state)],
}
_MATTERS = {events.EVENT_KINDS[name]: text for name, text in _TEXTS.items()} | _TOLD
"""What follows from an event, by kind, the most important first; others say the rest."""
_RANK = {kind: rank for rank, kind in enumerate(_MATTERS)}
