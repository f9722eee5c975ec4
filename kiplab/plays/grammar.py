"""Every verb of a play: its arguments, and the refusal of a wrong line."""

import msgspec
from msgspec.structs import replace

from . import values
from .expect import KEYS as EXPECTED
from .expect import check_form
from .header import KEYS, names_of
from .move_lines import MOVE_VERBS, MoveForm
from .play import FREE_TEXT, Play, Statement, lines_of, split
from .play_errors import Part, PlayError, in_part, nearest, no_key
from .request_words import ITEMS_MAX, WORDS, repeatable_words, words_of
from .situation import judge
from .values import Keys, Names, WordCheck, check_part

_PATTERN: Keys = {
    **dict.fromkeys(("from", "to"), values.party),
    **dict.fromkeys(("n", "life"), values.count),
}
_RACE: Keys = {
    **_PATTERN,
    "with": values.party,
    **dict.fromkeys(("with-n", "with-life"), values.count),
}
_SEND: Keys = {key: check for words in WORDS.values() for key, check in words.items()}


class Verb(msgspec.Struct, frozen=True):
    """A verb: usage, words in order, keys, those it needs. `header` verbs come first."""

    usage: str
    words: tuple[WordCheck, ...] = ()
    keys: Keys = {}
    needs: tuple[str, ...] = ()
    optional_words: int = 0
    header: bool = False
    repeat: WordCheck | None = None


def _of_brokers(*verbs: str) -> dict[str, Verb]:
    return {verb: Verb(f"{verb} BROKER", (values.broker,)) for verb in verbs}


def _of_moves(*verbs: str) -> dict[str, Verb]:
    return {verb: _of_move(MOVE_VERBS[verb]) for verb in verbs}


def _of_move(form: MoveForm) -> Verb:
    keys = {word.key.word: word.form.read for word in form.keys if word.key}
    return Verb(
        form.usage,
        tuple(word.form.read for word in form.words),
        {**keys, "where": values.guard} if form.is_conditional else keys,
        needs=tuple(word.key.word for word in form.keys if word.key and word.key.needed),
    )


_OF_HEADER: dict[str, Verb] = {
    "title": Verb("title WORDS"),
    "question": Verb("question WORDS"),
    # elr=1: the cluster has eligible leader replicas (KIP-966), from 4.0 on.
    "kafka": Verb("kafka RELEASE[/METADATA-VERSION] [elr=0|1]", (values.release,)),
    "metadata": Verb("metadata METADATA-VERSION", (values.metadata_version,)),
    "off": Verb("off GUARD...", (values.guard,), repeat=values.guard),
    "on": Verb("on GUARD...", (values.guard,), repeat=values.guard),
    "controller": Verb(
        "controller [kafka=RELEASE] [auto-leader-rebalance=yes] [min-insync-replicas=N], or with"
        " ZooKeeper"
        " controller [broker=ID] [epoch=N]",
    ),
    "broker": Verb("broker ID epoch=N [directories=N]", (values.any_broker,)),
    "topic": Verb("topic NAME replicas=1,2 isr=1 leader=1 log=100@5", (values.topic,)),
    "replica": Verb(
        "replica PARTITION broker=ID log=80@4 [directory=N]",
        (values.partition,),
        needs=("broker", "log"),
    ),
    # It has read what is committed below its position. Without a name it is called "consumer",
    # which needs no line here unless its position or its auto.offset.reset (latest) is another, or
    # its leader sends it to the replica that is nearest to it.
    "consumer": Verb(
        "consumer PARTITION [name=NAME] [position=N] [reset=none|earliest|latest]"
        " [reads-from=BROKER] [isolation=read_committed]",
        (values.partition,),
    ),
    "given": Verb("given [next-metadata-offset=N] [zookeeper-servers=N] [min-insync-replicas=N]"),
    "timed": Verb("timed"),
    "manual": Verb("manual"),
}
VERBS: dict[str, Verb] = {
    **{
        name: replace(verb, header=True, keys=KEYS.get(name, {}))
        for name, verb in _OF_HEADER.items()
    },
    "hold": Verb("hold KIND [from=NODE] [to=NODE]", (values.kind,), _PATTERN),
    "release": Verb("release KIND [from=NODE] [to=NODE]", (values.kind,), _PATTERN),
    "deliver": Verb("deliver KIND [from=NODE] [to=NODE] [n=N]", (values.kind,), _PATTERN),
    "drop": Verb("drop KIND [from=NODE] [to=NODE] [n=N]", (values.kind,), _PATTERN),
    "time-out": Verb("time-out KIND [from=NODE] [n=N]", (values.kind,), _PATTERN),
    "duplicate": Verb("duplicate KIND [from=NODE] [n=N]", (values.kind,), _PATTERN),
    "lose-reply": Verb("lose-reply KIND [from=NODE] [n=N]", (values.kind,), _PATTERN),
    # Two of a kind, to one broker, which has a thread for each. The second is the next one that
    # the line fits, whoever sent it, if `with` and its kind do not say which.
    "race": Verb("race KIND [from=NODE] [life=N] [with=NODE] [with-life=N]", (values.kind,), _RACE),
    **_of_brokers("fetch", "catch-up", "heartbeat", "check-lag", "retry"),
    **_of_brokers("checkpoint", "flush", "announce-isr"),
    **_of_moves("crash", "remove-directory", "start", "recover"),
    **_of_brokers("unfence"),
    # Not the end of a broker's recovery of its logs (`recover`), but of a leader's from an unclean
    # election, which only KIP-704 as specified has. With `where=704.specified` a play of a release,
    # which has nothing of it, may have the line too: there it is not applicable.
    **_of_moves("finish-recovery", "shut-down", "expire"),
    # KIP-343 has two timeouts of a broker's heartbeats, the controller's and the broker's own.
    # There is no clock: these lines say that one of them is over.
    **_of_brokers("declare-inactive", "fence-itself"),
    # With a producer's name the records are a batch that it keeps until they are acknowledged, and
    # that goes to the leader in its metadata; without, they are appended to a leader's log.
    "produce": Verb(
        "produce PARTITION count=N [to=BROKER] [acks=all|1] [transaction=open], or with"
        " producer=NAME and neither to= nor transaction=",
        (values.partition,),
        {
            "count": values.count,
            "to": values.broker,
            "acks": values.one_of("all", "1"),
            "producer": values.producer,
            "transaction": values.one_of("open"),
        },
    ),
    # One is open in a log at a time: the first `produce` with transaction=open begins it.
    **_of_moves("end-transaction", "resend"),
    # To the leader, unless `to` says to whom; without `before`, everything that is committed.
    **_of_moves("delete-records", "poll", "refresh", "reset"),
    **_of_moves("cut", "heal", "fail-over", "elect"),
    # A topic's setting, while the controller runs; or that of topics without their own. Of
    # unclean-leader-election no controller up to 3.8 reads it; from 3.9 on it does when it elects.
    **_of_moves("configure", "configure-brokers", "delete-topic"),
    # What the controller does unasked every 300 s of a timed run: `balance-leaders` only if the
    # header says `controller auto-leader-rebalance=yes` (Kafka's default, but not a play's).
    "elect-unclean": Verb("elect-unclean"),
    "balance-leaders": Verb("balance-leaders"),
    "upgrade": Verb(
        "upgrade NODE|all kafka=RELEASE, or upgrade metadata=METADATA-VERSION, or upgrade elr=0|1",
        (values.upgradable,),
        {
            "kafka": values.code_release,
            "metadata": values.metadata_version,
            "elr": values.feature_level,
        },
        optional_words=1,
    ),
    # Sessions may end at the same moment, after a fail-over for one: `first` says whose does first.
    "advance": Verb("advance 9s|250ms [first=2,1]", (values.duration,), {"first": values.brokers}),
    # An alter-partition may name several partitions: each ``partition=`` begins what is said of
    # the next one. elect-leaders takes partitions=orders-0,clicks-0, partitions=null for all of
    # them (Kafka's null), and without the key an empty list, which elects nobody.
    "send": Verb("send KIND from=ID field=value...", (values.one_of(*WORDS),), _SEND),
    "expect": Verb("expect [@RELEASE] WHAT key=value...", (), EXPECTED, repeat=values.text),
}


def parse(text: str, name: str = "") -> Play:
    """The play in `text`, every line checked against the grammar and the play's own names.

    Raises PlayError with file, line, column, what was found and what was expected there.
    """
    play = split(text, name)
    names = names_of(play)
    sources = lines_of(text)
    started = False
    for line, (statement, source) in enumerate(zip(play.statements, sources, strict=True), 1):
        try:
            started = check(statement, names, started)
        except PlayError as problem:
            raise problem.at(file=name, line=line, source=source) from None
    if not names.brokers:
        raise PlayError("there is no broker", expected="begin with `broker 1`", file=name, line=1)
    try:
        judge(play)
    except PlayError as problem:
        raise problem.at(file=name, source=sources[problem.line - 1]) from None
    return play


def check(statement: Statement, names: Names, started: bool) -> bool:
    """Judge one line; `started` says whether the header is over, and so does the answer.

    Raises PlayError when the verb is unknown or out of place, or a word or a key does not fit it.
    """
    if not statement.verb:
        return started
    verb = VERBS.get(statement.verb)
    if verb is None:
        expected = nearest(statement.verb, VERBS)
        raise PlayError(f"unknown verb {statement.verb!r}", expected=expected, token=statement.verb)
    if verb.header and started:
        problem = f"{statement.verb!r} belongs to the header"
        raise PlayError(problem, expected="move it before the first action", token=statement.verb)
    if statement.verb not in FREE_TEXT:
        _check_words(statement, verb, names)
        _check_keys(statement, verb, names)
        _check_whole(statement, verb, names)
    return started or not verb.header


def _check_words(statement: Statement, verb: Verb, names: Names) -> None:
    given = statement.words
    fewest, most = len(verb.words) - verb.optional_words, len(verb.words)
    if len(given) < fewest or (len(given) > most and verb.repeat is None):
        many = len(given) > most
        problem = PlayError(
            f"{statement.verb!r} has {len(given)} of its words",
            expected=f"it reads: {verb.usage}",
            token=given[most] if many else statement.verb,
        )
        raise in_part(Part(pair=False, number=most) if many else None, problem)
    for position, word in enumerate(given):
        expected = verb.words[position] if position < most else verb.repeat
        if expected is not None:
            check_part(expected, word, names, Part(pair=False, number=position))


def _check_keys(statement: Statement, verb: Verb, names: Names) -> None:
    seen: set[str] = set()
    for position, (key, value) in enumerate(statement.args):
        seen -= repeatable_words(statement, key, seen)
        part = Part(pair=True, number=position)
        if key in seen:
            twice = f"{key!r} is given twice"
            raise in_part(part, PlayError(twice, expected="once is enough", token=f"{key}="))
        if key not in verb.keys:
            expected = nearest(key, verb.keys) if verb.keys else f"it reads: {verb.usage}"
            raise no_key(repr(statement.verb), key, expected, position)
        seen.add(key)
        check_value = words_of(statement).get(key, verb.keys[key])
        check_part(check_value, value, names, part._replace(value=True))


def _check_whole(statement: Statement, verb: Verb, names: Names) -> None:
    """What concerns more than one part of a line."""
    given = [key for key, _ in statement.args]
    missing = [key for key in verb.needs if key not in given]
    problem, expected, token = "", f"it reads: {verb.usage}", statement.verb
    if missing:
        problem = f"{statement.verb!r} needs {missing[0]}="
    elif statement.verb in ("given", "controller") and not given:
        of = " of the controller" if statement.verb == "controller" else ""
        problem = f"{statement.verb!r} says nothing{of}"
    elif statement.verb == "configure" and len(given) != 1:
        problem = f"{statement.text!r} does not say which setting is changed"
    elif statement.verb == "upgrade" and (
        len(given) != 1 or (statement.words and given != ["kafka"])
    ):
        problem = f"{statement.text!r} does not say what is upgraded to what"
    elif statement.verb == "produce" and {"producer", "to"} <= set(given):
        problem, token = "a producer finds the leader by itself", "to="
        expected = "it writes to whom its metadata names; leave to= away"
    elif statement.verb == "produce" and {"producer", "transaction"} <= set(given):
        problem, token = "no transaction of a producer by name", "producer="
        expected = "leave producer= away: what is written in a transaction is not sent again"
    if problem:
        raise PlayError(problem, expected=expected, token=token)
    if statement.verb == "send":
        _check_fields(statement)
    if statement.verb == "expect":
        check_form(statement, names)


def _check_fields(statement: Statement) -> None:
    kind = statement.words[0]
    for position, (key, _) in enumerate(statement.args):
        if key not in WORDS[kind]:
            raise no_key(kind, key, nearest(key, WORDS[kind]), position)
    named = [n for n, (key, _) in enumerate(statement.args) if key == "partition"]
    if len(named) > ITEMS_MAX:
        problem = PlayError(
            "too many partitions",
            expected=f"at most {ITEMS_MAX} in one request",
            token="partition=",
        )
        raise in_part(Part(pair=True, number=named[ITEMS_MAX]), problem)
