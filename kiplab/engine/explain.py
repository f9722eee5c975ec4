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
from ..protocol.kraft.replay import MIN_INSYNC
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


def _who(leader: BrokerId) -> str:
    return "nobody" if leader == NO_LEADER else f"broker {leader}"


def _last_known(leaders: tuple[BrokerId, ...]) -> str:
    """Kafka 4.0 may note that there was no leader: that is an entry, too."""
    return ", ".join(f"broker {id}" if id != NO_LEADER else str(id) for id in leaders) or "none"


def _records(count: int) -> str:
    return f"{count} record{'s' * (count != 1)}"


def _refused(e: facts.Refused) -> str:
    where = f" for {e.partition}" if e.partition else ""
    refusal = f"{node_name(e.node)} refuses {e.request}{where}: {e.error.name}"
    return ". ".join(filter(None, (refusal, explain(e))))


def _elected(e: facts.LeaderElected) -> str:
    if e.leader == NO_LEADER:
        return f"{e.partition} has no leader (leader epoch {e.leader_epoch})"
    how = "is elected from the ELR to lead" if e.from_elr else "leads"
    how = "is elected uncleanly to lead" if e.unclean else how
    return f"broker {e.leader} {how} {e.partition} from leader epoch {e.leader_epoch} on"


def _periodic_elections(e: facts.PeriodicElections) -> str:
    led = "without a leader" if e.unclean else "not led by their preferred replica"
    done = [f"it elects for {', '.join(e.elected)}"] if e.elected else []
    done += [f"no replica can be elected for {', '.join(e.left)}"] if e.left else []
    return f"the controller checks partitions {led}: {', '.join(done)}"


def _configured(e: facts.TopicConfigured) -> str:
    if e.name == MIN_INSYNC:
        whose = f"of {e.topic}" if e.topic else "of topics without their own"
        read = "leaders alone read it"
        if e.heeded:
            read = "the controller judges by it who is an eligible leader replica, as leaders do"
        return f"{e.name} {whose} is {e.value}; {read}"
    who = "a controller of this release does not read it (KAFKA-12670)"
    if e.heeded:
        when = "when a broker is fenced or unfenced, and when it checks leaderless partitions"
        who = f"the controller reads it at its next election: {when}"
    return f"{e.name} of {e.topic} is {e.value}; {who}"


def _deleted(e: facts.RecordsDeleted) -> str:
    start, where = f"at offset {e.start}", "where its leader's log begins"
    if e.last < e.first:
        if e.follows:
            return f"broker {e.node} begins its empty log of {e.partition} {start}, {where}"
        return f"broker {e.node} has nothing to delete: its log of {e.partition} begins {start}"
    done = f"broker {e.node} deletes {span(e.first, e.last)} of {e.partition}"
    if not e.follows:
        return f"{done}, as a client asked it to: its log begins {start}"
    return f"{done}: it begins {'anew ' * (e.last < e.start - 1)}{start}, {where}"


def _polled(e: facts.Polled) -> str:
    records = span(e.first, e.last) if e.last >= e.first else f"nothing new at offset {e.first}"
    mark = f"high watermark {e.high_watermark}{_isolated(e)}"
    return f"{e.consumer} reads {records} of {e.partition} from broker {e.node} ({mark})"


def _isolated(e: facts.Polled) -> str:
    """What a read_committed consumer reads up to, and skips."""
    if e.last_stable is None:
        return ""
    skipped = f"; of these it skips {e.aborted}, which were aborted" if e.aborted else ""
    return f", last stable offset {e.last_stable}{skipped}"


def _poll_failed(e: facts.PollFailed) -> str:
    if e.node == NO_LEADER:
        return f"{e.consumer} knows no leader of {e.partition} ({e.error.name})"
    return f"{e.consumer} gets no answer from broker {e.node} for {e.partition} ({e.error.name})"


def _raised(e: facts.ConsumerRaised) -> str:
    parted = f", the logs diverge at {e.diverging}" if e.diverging is not None else ""
    return (
        f"{e.consumer} throws {e.exception} at offset {e.position} of {e.partition}{parted};"
        " it has no reset policy"
    )


# --- with ZooKeeper ------------------------------------------------------------------------------


def session_name(session: SessionId) -> str:
    """``"0x100000000000001"``: as Kafka and ZooKeeper write it."""
    return f"0x{session:x}"


def _session_ended(e: zookeeper_facts.SessionEnded) -> str:
    gone = "its ephemeral znodes are deleted"
    if e.expired:
        return f"ZooKeeper ends session {session_name(e.session)} of broker {e.broker}: {gone}"
    return f"broker {e.broker} closes its session {session_name(e.session)}: {gone}"


def _compared(e: zookeeper_facts.BrokersCompared) -> str:
    """``... with those it knows: bounced 1 (broker epoch 7 -> 12); gone {2}``."""
    bounced = ", ".join(f"{b} (broker epoch {old} -> {new})" for b, old, new in e.bounced)
    changes = [f"new {broker_list(e.new)}"] if e.new else []
    changes += [f"bounced {bounced}"] if bounced else []
    changes += [f"gone {broker_list(e.dead)}"] if e.dead else []
    words = "; ".join(changes) or "it finds no change"
    return f"{node_name(e.node)} compares the registered brokers with those that it knows: {words}"


def _shutdown_tried(e: zookeeper_facts.ShutdownTried) -> str:
    left = f"attempts left: {e.left}" if e.left else "no attempt is left: the broker stops anyway"
    return f"broker {e.node}'s controlled shutdown has failed ({e.reason}); {left}"


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
    "leader": _who,
    "brokers": broker_list,
    "last": _last_known,
    "records": _records,
    "session": session_name,
    "body": lambda body: body.in_words(),
    "list": "; ".join,
    "offsets": lambda e: span(e.first, e.last),
    "is": lambda e: "is" if e.first == e.last else "are",
    "why": explain,
}
_TEXTS = tomllib.loads((files(__package__) / "sentences.toml").read_text("utf-8"))
_LIFE: dict[str, str] = _TEXTS["LifecycleChanged"]
_FORMATTED = {events.EVENT_KINDS[name]: text for name, text in _TEXTS.items()}
_SENTENCES: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys(_FORMATTED, lambda e: _in_words(_FORMATTED[type(e)], e)),
    facts.LifecycleChanged: lambda e: _in_words(_LIFE[str(e.state)], e),
    facts.LeaderRecovery: lambda e: _in_words(_TEXTS["LeaderRecovery"][e.phase], e),
    facts.Refused: _refused,
    facts.LeaderElected: _elected,
    facts.PeriodicElections: _periodic_elections,
    facts.TopicConfigured: _configured,
    facts.RecordsDeleted: _deleted,
    facts.Polled: _polled,
    facts.PollFailed: _poll_failed,
    facts.ConsumerRaised: _raised,
    zookeeper_facts.SessionEnded: _session_ended,
    zookeeper_facts.BrokersCompared: _compared,
    zookeeper_facts.ShutdownTried: _shutdown_tried,
}
