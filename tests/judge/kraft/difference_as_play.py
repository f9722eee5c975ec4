"""A difference as a play, which says what Kafka answers where the engine answers otherwise.

A play begins with brokers that are registered and with topics that are there: what the brokers did
before the last topic was made is its header. Numbers that fit the situation are left out.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from msgspec.structs import replace

from kiplab.engine import moves, truth
from kiplab.engine.events import Dropped, Event, Sent
from kiplab.judge.conversation.real_controller import record_texts
from kiplab.plays import grammar, play_errors, request_words, rule_lines, runner
from kiplab.plays.play import Play, Statement, format_play
from kiplab.plays.stage import Stage
from kiplab.protocol import facts, ids, registrations
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features
from kiplab.protocol.kraft.replay import CLUSTER, MIN_INSYNC
from kiplab.protocol.messages import KINDS, BrokerRegistrationRequest, Request, api_message

from ..skeleton.coverage import errors_in
from . import conversation, shortest_difference
from .turns import (
    Answer,
    Asked,
    Checked,
    Configured,
    Created,
    Deleted,
    Raised,
    Reassigned,
    Switched,
    TookOver,
    Waited,
    fenced_in,
)

_ANYBODY = ids.BrokerId(1)
"""Who asks what no broker asks."""


class UntoldError(ValueError):
    """A difference that no play can say; the message says why."""


def difference_as_play(parted: shortest_difference.PartedConversation, kafka: str) -> Play:
    """The play whose last line is answered otherwise by Kafka `kafka`, with both answers.

    Raises UntoldError for a difference that comes before a play can begin, and for one that the
    play does not repeat.
    """
    last = parted.last
    if not isinstance(last.turn, Asked):
        raise UntoldError(f"they part in {last.turn}, which is no question")
    scene = _scene(parted.turns)
    body = parted.turns[scene:]
    if not body:
        raise UntoldError("they part before a play can begin: its brokers are registered")
    header = tuple(_header(parted.features, body[0].before, kafka, parted.seed))
    lines = tuple(_lines([context.done for context in body]))
    play = Play((*header, Statement(), *lines))
    try:
        grammar.parse(format_play(play))
    except play_errors.PlayError as problem:
        raise UntoldError(f"a play cannot say it: {problem.problem}") from None
    if not _repeats(play, last.engine):
        raise UntoldError("they part by what a play does not say of its beginning")
    play = _plainer(play, len(header) + 1)
    return Play((*play.statements, *_expectation(play, last), *_both_answers(last, kafka)))


def _scene(turns: tuple[shortest_difference.TurnInContext, ...]) -> int:
    """How many turns a header says: up to the last topic or reassignment, which no line says, and
    the first registration of every broker.
    """
    ends = [0]
    for n, context in enumerate(turns, 1):
        turn = context.turn
        if isinstance(turn, Created | Reassigned):
            ends.append(n)
        elif isinstance(turn, Asked) and isinstance(turn.request, BrokerRegistrationRequest):
            known = registrations.registration(context.before.registrations, turn.request.broker)
            ends += [] if known else [n]
    return ends[-1]


# --- header ---------------------------------------------------------------------------------------


def _header(features: Features, held: truth.Truth, kafka: str, seed: int) -> Iterator[Statement]:
    yield Statement("title", tuple(f"Kafka {kafka} answers otherwise".split()))
    question = f"What does Kafka say to the last line? (conversation {seed})"
    yield Statement("question", tuple(question.split()))
    yield from rule_lines.rules(features)
    yield Statement("timed")
    for known in held.registrations:
        flags = {"fenced": known.fenced, "shutting-down": known.in_controlled_shutdown}
        said = tuple((key, "yes") for key, on in flags.items() if on)
        args = (("epoch", str(known.epoch)), ("down", "yes"), *said)
        yield Statement("broker", (str(known.broker),), args)
    for partition in held.partitions:
        yield _topic(partition)
    yield Statement("given", (), (("next-metadata-offset", str(held.next_offset)),))


def _topic(partition: registrations.PartitionRegistration) -> Statement:
    topic, _, index = partition.name.rpartition("-")
    leader = "none" if partition.leader == ids.NO_LEADER else str(partition.leader)
    args = {
        "partition": index,
        "replicas": _ids(partition.replicas),
        "isr": _ids(partition.isr),
        "leader": leader,
        "leader-epoch": str(partition.leader_epoch),
        "partition-epoch": str(partition.partition_epoch),
    }
    if partition.recovery is not registrations.LeaderRecoveryState.RECOVERED:
        args["recovery"] = registrations.LeaderRecoveryState(partition.recovery).name.lower()
    for key, brokers in (("adding", partition.adding), ("removing", partition.removing)):
        if brokers:
            args[key] = _ids(brokers)
    if partition.unclean_leader_election:
        args["unclean-leader-election"] = "yes"
    if partition.min_insync_replicas != 1:
        args["min-insync-replicas"] = str(partition.min_insync_replicas)
    for key, brokers in (("elr", partition.elr), ("last-known", partition.last_known)):
        if brokers:
            args[key] = _ids(brokers)
    return Statement("topic", (topic,), tuple(args.items()))


def _ids(brokers: Iterable[ids.BrokerId]) -> str:
    return ",".join(str(broker) for broker in brokers) or "none"


# --- lines ----------------------------------------------------------------------------------------


def _lines(done: list[conversation.ConversationTurn]) -> Iterator[Statement]:
    """In a conversation 1 ms passes with each question; in a play only where time matters."""
    timed = any(isinstance(one.turn, Waited) for one in done)
    for turn, kafka, *_ in done:
        if isinstance(turn, Asked | Checked) and timed and turn.after_ms:
            yield Statement("advance", (f"{turn.after_ms}ms",))
        match turn:
            case Asked(request=request):
                yield request_words.raw_statement(_sender(request), ids.NO_LEADER, request)
            case Waited(ms=ms):
                yield Statement("advance", (f"{ms}ms",))
            case Checked():
                yield from (Statement("expire", (str(b),)) for b in fenced_in(kafka.records))
            case TookOver(restarted=True):
                yield Statement("fail-over")
            case Raised(metadata_version=version):
                yield Statement("upgrade", (), (("metadata", version),))
            case Deleted(topic=topic):
                yield Statement("delete-topic", (topic,))
            case Switched(level=level):
                yield Statement("upgrade", (), (("elr", str(level)),))
            case Configured() if turn.topic == CLUSTER:
                yield Statement("configure-brokers", (), (_setting(turn),))
            case Configured() if kafka.records:
                yield Statement("configure", (turn.topic,), (_setting(turn),))


def _setting(turn: Configured) -> tuple[str, str]:
    if turn.name == MIN_INSYNC:
        return "min-insync-replicas", turn.value
    return "unclean-leader-election", "yes" if turn.value == "true" else "no"


def _sender(request: Request) -> ids.BrokerId:
    field = request_words.REQUEST_FORMS[KINDS[type(request)]].sender
    return _ANYBODY if field is None else getattr(request, field)


def _plainer(play: Play, first: int) -> Play:
    """Without numbers that fit the situation anyway: the same is asked without them."""
    asked = _asked(play)
    for n in range(first, len(play.statements)):
        for key, _ in play.statements[n].args[1:]:
            now = play.statements[n]
            less = replace(now, args=tuple(pair for pair in now.args if pair[0] != key))
            tried = Play((*play.statements[:n], less, *play.statements[n + 1 :]))
            play = tried if _asked(tried) == asked else play
    return play


def _asked(play: Play) -> list[object] | None:
    """Every request of the play; None if it cannot be played."""
    stage = _played(play)
    if stage is None:
        return None
    done = (step.move for step in stage.history.steps)
    return [move.body for move in done if isinstance(move, moves.RawRequest)]


def _played(play: Play) -> Stage | None:
    try:
        return runner.run_play(grammar.parse(format_play(play)))
    except play_errors.PlayError:
        return None


def _repeats(play: Play, answered: Answer) -> bool:
    """Whether the engine answers the last line as it did in the conversation."""
    stage = _played(play)
    if stage is None:
        return False
    events = _events(stage, _lines_since_a_question(stage))
    bodies = (e.body for e in events if isinstance(e, Dropped | Sent))
    answer = next((body for body in bodies if isinstance(body, api_message.ApiResponse)), None)
    return answer == answered.response and _texts(_written(events)) == _texts(answered.records)


def _lines_since_a_question(stage: Stage) -> int:
    """In a play sessions end while time passes, in a conversation with the next request."""
    before = reversed(stage.performed[:-1])
    return 1 + sum(1 for _ in takewhile(lambda line: line.statement.verb == "advance", before))


def _events(stage: Stage, lines: int) -> list[Event]:
    """Of the last lines."""
    return [event for line in stage.performed[-lines:] for event in stage.events_of(line)]


def _written(events: Iterable[Event]) -> tuple[facts.RecordWritten, ...]:
    return tuple(event for event in events if isinstance(event, facts.RecordWritten))


def _texts(records: Iterable[facts.RecordWritten]) -> list[tuple[int, str]]:
    """Without offsets: between two controllers Kafka's log has records of its own."""
    return [(record.version, record.text) for record in records]


# --- both answers ---------------------------------------------------------------------------------


def _expectation(play: Play, last: conversation.ConversationTurn) -> Iterator[Statement]:
    """What Kafka answers, where a line can say it: its first error, the names of its records.

    Records of sessions that ended while time passed are not the last line's.
    """
    theirs, mine = _sayable(last.real), _sayable(last.engine)
    written = _written(_events(runner.run_play(grammar.parse(format_play(play))), 1))
    if len(written) < len(last.engine.records):
        theirs.pop("records")
    other = tuple((key, word) for key, word in theirs.items() if mine[key] != word)
    if other:
        yield Statement("expect", (), other)


def _sayable(answered: Answer) -> dict[str, str]:
    errors = (error.name for error in errors_in(answered.response) if error)
    names = ",".join(record.record for record in answered.records)
    return {"error": next(errors, KafkaError.NONE.name), "records": names or "none"}


def _both_answers(last: conversation.ConversationTurn, kafka: str) -> Iterator[Statement]:
    theirs, mine = _in_words(last.real), _in_words(last.engine)
    for who, words in ((f"Kafka {kafka}", theirs), ("the engine", mine)):
        yield Statement(comment=f"{who}: {words[0]}")
        yield from (Statement(comment=f"  writes {line}") for line in words[1:])
    if theirs == mine:
        yield from (Statement(comment=str(parting)) for parting in last.partings)


def _in_words(answered: Answer) -> tuple[str, ...]:
    response = answered.response
    assert response is not None
    return response.in_words(), *(record_texts(answered.records) or ("nothing",))


# --- where no play can say it ---------------------------------------------------------------------


def difference_text(parted: shortest_difference.PartedConversation, patch: str) -> str:
    """A difference as a play, or turn by turn where no play can say it."""
    try:
        return format_play(difference_as_play(parted, patch))
    except UntoldError as untold:
        turns = (f"#   {_turn_in_words(context.done)}" for context in parted.turns)
        return "\n".join([f"# conversation {parted.seed}, no play: {untold}.", *turns])


def _turn_in_words(done: conversation.ConversationTurn) -> str:
    partings = "".join(f"\n#     {parting}" for parting in done.partings)
    return f"{done.turn}{partings}"
