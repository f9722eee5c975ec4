"""The kinds of values a play's lines take, each with its check and its error."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..engine.properties import PROPERTIES
from ..protocol import features, ids
from ..protocol.clients.consumer import Reset
from ..protocol.errors import KafkaError
from ..protocol.guards import SPECIFIED, named
from ..protocol.messages import BODIES, MembershipState
from ..protocol.registrations import LeaderRecoveryState, topic_of
from ..protocol.replica.broker_state import Loss
from .play_errors import Part, PlayError, nearest

DEFAULT_CONSUMER = "consumer"
LOG_RUNS_MAX, RECORDS_MAX = 50, 10**9
_RUN = r"[0-9]{1,9}@[0-9]{1,9}"
_INDEX = r"0|[1-9][0-9]{0,8}"
_TOPIC_NAME = (
    "1 to 249 letters, digits, dots, dashes and underscores, neither . nor .. alone, no dash last"
)
LOSSES = {"kept": Loss.NOTHING, "tail-lost": Loss.UNFLUSHED, "replaced": Loss.DISK}


class Names(msgspec.Struct, frozen=True):
    """What a play may speak of: its brokers and partitions."""

    brokers: tuple[ids.BrokerId, ...] = ()
    partitions: tuple[str, ...] = ()
    strangers: tuple[ids.BrokerId, ...] = ()
    """Who else sends raw requests."""
    consumers: tuple[str, ...] = ()
    are_open: bool = False
    """Whether every name may be spoken of: a line is read that the grammar has checked."""


ANY = Names(are_open=True)
Value = TypeVar("Value")
WordCheck = Callable[[str, Names], Any]
"""Turns a word into its value, or raises PlayError saying what was expected."""


def check_part(check: WordCheck, text: str, names: Names, part: Part) -> None:
    """Check a part of a line; an error says which part it is."""
    try:
        check(text, names)
    except PlayError as problem:
        problem.part = part
        raise


def _wrong(text: str, problem: str, expected: str) -> PlayError:
    return PlayError(f"{text!r} {problem}", expected=expected, token=text)


def _written_as(pattern: str, problem: str, expected: str) -> Callable[[str, Names], str]:
    def check(text: str, _names: Names) -> str:
        if re.fullmatch(pattern, text) is None:
            raise _wrong(text, problem, expected)
        return text

    return check


def choice(
    words: Mapping[str, Value], problem: str = "is not known here"
) -> Callable[[str, Names], Value]:
    """What one of a few words stands for."""

    def check(text: str, _names: Names) -> Value:
        if text not in words:
            raise _wrong(text, problem, nearest(text, words))
        return words[text]

    return check


def one_of(*words: str) -> Callable[[str, Names], str]:
    """One of a few words."""
    return choice({word: word for word in words})


def number(text: str, _names: Names) -> int:
    """A whole number; -1 and below mean "none" to Kafka and are allowed. Raises PlayError."""
    if not re.fullmatch(r"-?[0-9]{1,12}", text):
        raise _wrong(text, "is no whole number", "expected 0, 17, -1 ...")
    return int(text)


def _from_to(low: int, high: int, problem: str, expected: str) -> Callable[[str, Names], int]:
    def check(text: str, names: Names) -> int:
        value = number(text, names)
        if not low <= value <= high:
            raise _wrong(text, problem, expected)
        return value

    return check


natural = _from_to(0, 10**12, "is negative", "expected 0, 17 ...")
count = _from_to(1, RECORDS_MAX, "is out of range", f"expected 1 to {RECORDS_MAX}")
directory = _from_to(1, 12, "is no log directory", "expected 1 to 12")
recovery_state = _from_to(
    *(-128, 127, "is no recovery state"),
    "expected a byte: 0 (RECOVERED), 1 (RECOVERING), or -128 to 127",
)
"""A recovery state's byte: 0 is RECOVERED, 1 RECOVERING; a raw request may carry any."""


def _of_the_play(
    what: str, text: str, names: Names, candidates: Iterable[object], more: str = ""
) -> str:
    """`text`, if it is one of those that a play has; else raises PlayError that lists them."""
    listed = [str(one) for one in candidates]
    if text not in listed and not names.are_open:
        expected = f"the {what}s are {', '.join(listed) or 'none yet'}{more}"
        raise PlayError(f"there is no {what} {text!r}", expected=expected, token=text)
    return text


def broker(text: str, names: Names) -> ids.BrokerId:
    """One of the play's brokers. Raises PlayError when there is no such broker."""
    return ids.BrokerId(int(_of_the_play("broker", text, names, names.brokers)))


def is_broker_id(text: str) -> bool:
    """Whether `text` writes a broker id, in the one way there is to write it."""
    return re.fullmatch(_INDEX, text) is not None


def any_broker(text: str, _names: Names) -> ids.BrokerId:
    """Any broker id: a raw request may name any sender. Raises PlayError when it is none."""
    if not is_broker_id(text):
        raise _wrong(text, "is no broker id", "expected 1, 2 ...")
    return ids.BrokerId(int(text))


_NODES = {"controller": ids.CONTROLLER, "client": ids.CLIENT, "zookeeper": ids.ZOOKEEPER}
_ON_A_BROKER = "controller-"


def node(text: str, names: Names) -> ids.BrokerId:
    """``controller``, ``zookeeper``, ``client``, a broker, or ``controller-0`` on one."""
    if text in _NODES:
        return _NODES[text]
    host = broker(text.removeprefix(_ON_A_BROKER), names)
    return ids.controller_on(host) if text.startswith(_ON_A_BROKER) else host


def node_word(node: ids.BrokerId) -> str:
    """How a play calls a node: what `node` reads."""
    word = next((word for word, id in _NODES.items() if id == node), str(ids.host_of(node)))
    return word if ids.host_of(node) == node else _ON_A_BROKER + word


def party(text: str, names: Names) -> ids.BrokerId:
    """``controller``, ``client``, a broker, or the sender of a raw request in this play."""
    if is_broker_id(text) and int(text) in names.strangers:
        return ids.BrokerId(int(text))
    return node(text, names)


def upgradable(text: str, names: Names) -> str:
    """``all``, ``controller`` or a broker."""
    if text not in ("all", "controller"):
        broker(text, names)
    return text


def topic(text: str, _names: Names) -> str:
    """A topic's name as in Topic.validate, but for a dash at its end. Raises PlayError."""
    if not _is_topic(text):
        raise _wrong(text, "is no topic", f"expected {_TOPIC_NAME}")
    return text


def _is_topic(text: str) -> bool:
    """Kafka would take ``t-`` too; its partition 1, ``t--1``, would read like partition -1 of t."""
    legal = re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", text) is not None
    return legal and text not in (".", "..") and not text.endswith("-")


partition_index = _written_as(
    _INDEX, "is no partition's number", "expected a number from 0, without zeros before it"
)


def partition(text: str, names: Names) -> str:
    """One of the play's partitions. Raises PlayError when there is no such partition."""
    any_partition(text, names)
    return _of_the_play("partition", text, names, names.partitions)


_CLIENT_NAME = r"[a-zA-Z][a-zA-Z0-9._-]{0,39}"
_NAMED_SO = "expected a letter, then up to 39 letters, digits, dots, dashes or underscores"


new_consumer = _written_as(_CLIENT_NAME, "is no consumer's name", _NAMED_SO)
producer = _written_as(_CLIENT_NAME, "is no producer's name", _NAMED_SO)
"""A producer's name: it needs no introduction."""


def consumer(text: str, names: Names) -> str:
    """One of the play's consumers, or the one that needs no introduction. Raises PlayError."""
    consumers = dict.fromkeys((DEFAULT_CONSUMER, *names.consumers))
    return _of_the_play("consumer", text, names, consumers, "; the header introduces others")


def known_topic(text: str, names: Names) -> str:
    """One of the play's topics. Raises PlayError when there is no such topic."""
    topics = dict.fromkeys(topic_of(name) for name in names.partitions)
    return _of_the_play("topic", text, names, topics)


def any_partition(text: str, _names: Names) -> str:
    """Any partition name, for raw requests. Raises PlayError when it is no TOPIC-NUMBER."""
    name, dash, index = text.rpartition("-")
    if not dash or not _is_topic(name) or re.fullmatch(_INDEX, index) is None:
        expected = (
            f"expected TOPIC-NUMBER, as in orders-0: a topic ({_TOPIC_NAME}), a dash and a number"
            " from 0"
        )
        raise _wrong(text, "is no partition name", expected)
    return text


def brokers(text: str, names: Names) -> tuple[ids.BrokerId, ...]:
    """``1,2,3`` or ``none``."""
    return () if text in ("none", "") else tuple(any_broker(b, names) for b in text.split(","))


def leader(text: str, names: Names) -> ids.BrokerId:
    """A broker id, or ``none``."""
    return ids.NO_LEADER if text == "none" else any_broker(text, names)


def leader_word(id: ids.BrokerId) -> str:
    """What `leader` reads."""
    return "none" if id < 0 else str(id)


def members(text: str, names: Names) -> tuple[tuple[int, int], ...]:
    """``1@101,2@102``, an ISR with broker epochs; without ``@`` the epoch is -1."""
    if text in ("none", ""):
        return ()
    pairs = (part.partition("@") for part in text.split(","))
    return tuple((number(id, names), number(e, names) if at else -1) for id, at, e in pairs)


def broker_state(text: str, _names: Names) -> int:
    """A state of KIP-343 by its name, or a byte (raw requests). Raises PlayError for neither."""
    states = {state.name.lower(): int(state) for state in MembershipState}
    if text in states:
        return states[text]
    if re.fullmatch(r"-?[0-9]{1,3}", text) and -128 <= int(text) <= 127:
        return int(text)
    expected = f"expected {', '.join(states)}, or a byte: -128 to 127"
    raise _wrong(text, "is no state of a broker", expected)


def log(text: str, _names: Names) -> tuple[tuple[int, ids.LeaderEpoch], ...]:
    """``80@4,20@5``: 80 records of leader epoch 4, then 20 of 5; ``empty`` for none.

    Raises PlayError when it is not written so, is too long, or its leader epochs do not rise.
    """
    if text in ("empty", "0"):
        return ()
    runs = text.split(",")
    if len(runs) > LOG_RUNS_MAX or not all(re.fullmatch(_RUN, r) for r in runs):
        expected = "expected RECORDS@LEADER-EPOCH, as in 100@5 or 80@4,20@5"
        raise _wrong(text, "is no log", expected)
    pairs = tuple((int(n), ids.LeaderEpoch(int(e))) for n, _, e in (r.partition("@") for r in runs))
    epochs = [e for _, e in pairs]
    if epochs != sorted(set(epochs)):
        raise _wrong(text, "is no log", "leader epochs have to rise")
    return pairs


def duration(text: str, _names: Names) -> int:
    """``9s``, ``250ms`` or ``2m``, in milliseconds. Raises PlayError when it is none, or 0."""
    match = re.fullmatch(r"([0-9]{1,9})(ms|s|m)", text)
    if not match or not int(match[1]):
        expected = "expected 250ms, 9s or 2m"
        raise _wrong(text, "is no duration", expected)
    return int(match[1]) * {"ms": 1, "s": 1000, "m": 60_000}[match[2]]


kind = one_of(*BODIES)
error = choice(KafkaError.__members__, "is no Kafka error")
property_id = one_of(*PROPERTIES)


def guard(text: str, _names: Names) -> str:
    """A guard, a KIP's number for its refusals and rules, or ``704.specified``; else PlayError."""
    if not named(text):
        expected = (
            "`kiplab guards` lists them; a bare KIP number means its refusals and rules,"
            f" KIP.{SPECIFIED} what it wants and no release does"
        )
        raise PlayError(f"unknown guard {text!r}", expected=expected, token=text)
    return text


def _known_to(check: Callable[[str], object]) -> Callable[[str, Names], str]:
    """A check of words that `features` knows; raises PlayError that lists what there is."""

    def checked(text: str, _names: Names) -> str:
        try:
            check(text)
        except features.UnknownFeatureError as problem:
            raise PlayError(str(problem), token=text) from None
        return text

    return checked


release = _known_to(features.parse_features)
"""A release, perhaps with a metadata version that it knows: ``3.5/3.4-IV0``."""
code_release = _known_to(features.check_release)
"""A release alone: one node's code."""
metadata_version = _known_to(features.check_metadata_version)
"""A metadata version that some release knows."""


feature_level = one_of("0", "1")
"""A level of eligible.leader.replicas.version."""


def feature_set(text: str) -> features.Features:
    """``@3.5``, ``@3.5-903``, ``@3.4/3.3-IV3+903``: a release with guards off and on;
    ``@4.3+elr``: with eligible leader replicas.

    Raises PlayError when it is not written so, or names what does not exist.
    """
    switch = r"([+-])((?:kafka-|pr-)?\d[\w.]*(?:-(?!kafka-|pr-)[a-z]\w*)*)"
    match = re.fullmatch(rf"@((?:[a-z]+-)?[\d.]+(?:/[\d.]+-IV\d+)?)(\+elr)?((?:{switch})*)", text)
    if not match:
        expected = "expected @RELEASE, then +GUARD or -GUARD, as in @3.5-903"
        raise _wrong(text, "names no feature set", expected)
    switches = re.findall(switch, match[3])
    off = tuple(g for sign, g in switches if sign == "-")
    on = tuple(g for sign, g in switches if sign == "+")
    try:
        return features.parse_features(match[1], off=off, on=on, elr=int(match[2] is not None))
    except features.UnknownFeatureError as problem:
        raise PlayError(str(problem), token=text) from None


def text(text: str, _names: Names) -> str:
    """Anything."""
    return text


Keys = Mapping[str, WordCheck]


class ValueForm(NamedTuple):
    """How a type's values are read, written, shown in a usage, and which one fits by default."""

    read: WordCheck
    written: Callable[[Any], str] = str
    shown: str = ""
    fitting: Callable[[Any], Any] = lambda _: None


def of_words(words: Mapping[str, Any]) -> ValueForm:
    """A few values with a word for each; the first one fits."""
    spelled = {value: word for word, value in words.items()}
    first = next(iter(words.values()))
    return ValueForm(choice(words), spelled.__getitem__, "|".join(words), lambda _: first)


BOOLEAN = of_words({"yes": True, "no": False})._replace(fitting=lambda _: False)
yes_no = BOOLEAN.read
RECOVERY = of_words({state.name.lower(): state for state in LeaderRecoveryState})
recovery = RECOVERY.read
reset = choice({to.value: to for to in Reset})
isolation = choice({"read_uncommitted": False, "read_committed": True})
