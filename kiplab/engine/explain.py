"""Events in words: one line each, and for a refusal the clause that decided it."""

import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from operator import attrgetter
from string import Formatter
from typing import Any

from ..protocol import facts, guards, zookeeper_facts
from ..protocol.ids import NO_LEADER, BrokerId, SessionId, broker_list, node_name
from . import events


def sentence(event: events.Event) -> str:
    """One line of a transcript, without its line number."""
    return _SENTENCES[type(event)](event)


def explain(refused: facts.Refused | facts.NotProposed) -> str:
    """Which check failed, what was compared, and the clause behind it."""
    compared = "; ".join(comparison(c) for c in refused.compared)
    guard = guards.GUARDS.get(refused.guard or "")
    clause = "" if guard is None else f"{guard.subject} ({guard.id}): {guard.clause}"
    return ". ".join(filter(None, (compared, clause)))


def comparison(compared: facts.Compared) -> str:
    """``broker 2 epoch: request 41, registered 57``; ``broker 2: proposed, but fenced``."""
    if compared.name.startswith("broker") and not compared.name.endswith("epoch"):
        in_request = "proposed" if compared.requested == "member" else compared.requested
        return f"{compared.name}: {in_request}, but {compared.held}"
    where = "registered" if compared.name.startswith("broker") else "here"
    return f"{compared.name}: request {compared.requested}, {where} {compared.held}"


def span(first: int, last: int) -> str:
    """``offset 7`` or ``offsets 0-99``."""
    return f"offset {first}" if first == last else f"offsets {first}-{last}"


def _last_known(leaders: tuple[BrokerId, ...]) -> str:
    """Kafka 4.0 may note that there was no leader: that is an entry, too."""
    return ", ".join(f"broker {id}" if id != NO_LEADER else str(id) for id in leaders) or "none"


def _periodic_elections(e: facts.PeriodicElections) -> str:
    done = [f"it elects for {', '.join(e.elected)}"] if e.elected else []
    done += [f"no replica can be elected for {', '.join(e.left)}"] if e.left else []
    return ", ".join(done)


def _isolated(e: facts.Polled) -> str:
    """What a read_committed consumer reads up to, and skips."""
    if e.last_stable is None:
        return ""
    skipped = f"; of these it skips {e.aborted}, which were aborted" if e.aborted else ""
    return f", last stable offset {e.last_stable}{skipped}"


def _how_elected(e: facts.LeaderElected) -> str:
    if e.leader == NO_LEADER:
        return "offline"
    return "unclean" if e.unclean else "elr" if e.from_elr else "clean"


def _how_deleted(e: facts.RecordsDeleted) -> str:
    if e.last < e.first:
        return "empty" if e.follows else "nothing"
    if not e.follows:
        return "asked"
    return "anew" if e.last < e.start - 1 else "followed"


def session_name(session: SessionId) -> str:
    """``"0x100000000000001"``: as Kafka and ZooKeeper write it."""
    return f"0x{session:x}"


def _compared(e: zookeeper_facts.BrokersCompared) -> str:
    """``... with those it knows: bounced 1 (broker epoch 7 -> 12); gone {2}``."""
    bounced = ", ".join(f"{b} (broker epoch {old} -> {new})" for b, old, new in e.bounced)
    changes = [f"new {broker_list(e.new)}"] if e.new else []
    changes += [f"bounced {bounced}"] if bounced else []
    changes += [f"gone {broker_list(e.dead)}"] if e.dead else []
    return "; ".join(changes) or "it finds no change"


@cache
def _parts(text: str) -> list[tuple[str, Callable[[Any], Any] | None, str]]:
    """(words, the field behind them, how it is said) of a text of sentences.toml."""
    parsed = Formatter().parse(text)
    return [(words, _field(name) if name else None, said or "") for words, name, said, _ in parsed]


def _field(name: str) -> Callable[[Any], Any]:
    _, _, path = name.partition(".")
    return attrgetter(path) if path else lambda e: e


def _in_words(text: str, e: Any) -> str:
    """A text with the event's fields as a word of _WORDS says them; a flag as the format itself:
    before | for True, after it for False.
    """
    return "".join(
        words if field is None else f"{words}{_said(field(e), said)}"
        for words, field, said in _parts(text)
    )


def _said(value: Any, said: str) -> str:
    if isinstance(value, bool):
        return said.partition("|")[0 if value else 2]
    return _WORDS[said](value) if said else str(value)


_WORDS: dict[str, Callable[[Any], str]] = {
    "node": node_name,
    "leader": lambda id: "nobody" if id == NO_LEADER else f"broker {id}",
    "brokers": broker_list,
    "last": _last_known,
    "records": lambda count: f"{count} record{'s' * (count != 1)}",
    "session": session_name,
    "body": lambda body: body.in_words(),
    "list": "; ".join,
    "offsets": lambda e: span(e.first, e.last),
    "is": lambda e: "is" if e.first == e.last else "are",
    "why": explain,
    "where": lambda partition: f" for {partition}" if partition else "",
    "reason": lambda e: f". {explain(e)}".removesuffix(". "),
    "elections": _periodic_elections,
    "read": lambda e: (
        span(e.first, e.last) if e.last >= e.first else f"nothing new at offset {e.first}"
    ),
    "isolated": _isolated,
    "parted": lambda at: "" if at is None else f", the logs diverge at {at}",
    "whose": lambda e: f"of {e.topic}" if e.topic else "of topics without their own",
    "compared": _compared,
}
_CASES: dict[type, Callable[[Any], str]] = {
    facts.LifecycleChanged: lambda e: str(e.state),
    facts.LeaderRecovery: attrgetter("phase"),
    facts.LeaderElected: _how_elected,
    facts.TopicConfigured: attrgetter("name"),
    facts.RecordsDeleted: _how_deleted,
    facts.PollFailed: lambda e: "nobody" if e.node == NO_LEADER else "silent",
    zookeeper_facts.SessionEnded: lambda e: "expired" if e.expired else "closed",
    zookeeper_facts.ShutdownTried: lambda e: "tries" if e.left else "stops",
}
"""Which of its sentences an event gets that has several."""
_TEXTS = tomllib.loads((files(__package__) / "sentences.toml").read_text("utf-8"))
_LIFE: dict[str, str] = _TEXTS["LifecycleChanged"]
_FORMATTED = {events.EVENT_KINDS[name]: text for name, text in _TEXTS.items()}
_SENTENCES: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys(_FORMATTED, lambda e: _in_words(_FORMATTED[type(e)], e)),
    **dict.fromkeys(_CASES, lambda e: _in_words(_FORMATTED[type(e)][_CASES[type(e)](e)], e)),
}
