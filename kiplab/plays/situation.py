"""Whether a header describes a situation that Kafka could be in.

The grammar judges each line on its own; here are the errors that only several lines together can
have: two brokers with one id, an ISR beyond the replicas, an epoch from the future.
"""

from collections.abc import Callable, Collection, Iterable

from ..engine.setup import BrokerSetup, PartitionSetup
from ..protocol.features import UnknownFeatureError, parse_features, switched
from ..protocol.ids import NO_LEADER, BrokerId
from ..protocol.releases import RELEASES, Mode, not_supported, supports
from . import header
from .play import Play, Statement
from .play_errors import PlayError
from .rule_lines import strange_words

BROKERS_MAX, PARTITIONS_MAX, CONSUMERS_MAX = 12, 12, 12
_ONCE = ("title", "question", "kafka", "metadata", "controller", "given", "timed", "manual")

HeaderLine = tuple[int, Statement]
"""A line's number and what stands there."""


def judge(play: Play) -> None:
    """Raise PlayError, with its line, for the first thing that cannot be."""
    lines = list(enumerate(play.statements, 1))
    for verb in _ONCE:
        _distinct(_all(lines, verb), lambda s: s.verb, "stands there twice")
    _guards_fit(play, lines)
    _versions_fit(play, _all(lines, "metadata", "broker", "controller"))
    brokers, topics = _all(lines, "broker"), _all(lines, "topic")
    consumers, replicas = _all(lines, "consumer"), _all(lines, "replica")
    _distinct(brokers, lambda s: f"broker {s.words[0]}", "is introduced twice")
    _distinct(topics, lambda s: f"partition {header.partition_name(s)}", "is introduced twice")
    _at_most(brokers, BROKERS_MAX, "brokers")
    _at_most(topics, PARTITIONS_MAX, "partitions")
    taken = "belongs to another broker already: it is the offset of one registration"
    with_epochs = [line for line in brokers if line[1].arg("epoch")]
    _distinct(with_epochs, lambda s: f"epoch {s.arg('epoch')}", taken)
    _epochs_are_past(brokers, _all(lines, "given"))
    _fits_its_mode(play, lines, brokers)
    setups = header.brokers_of(play)
    features = header.features_of(play)
    partitions = [(line, header.partition_of(s, play, setups, features)) for line, s in topics]
    replicas_of = {setup.name: setup.replicas for _, setup in partitions}
    for line, statement in consumers:
        if statement.arg("reads-from") is not None:
            _has_replica(line, statement, replicas_of, "reads-from")
    _distinct(
        consumers, lambda s: f"{header.consumer_name(s)} on {s.words[0]}", "is introduced twice"
    )
    _at_most(consumers, CONSUMERS_MAX, "consumers")
    log_of = "the log of broker {} for {}"
    _distinct(replicas, lambda s: log_of.format(s.arg("broker"), s.words[0]), "is given twice")
    for line, setup in partitions:
        _partition(line, setup, [b.id for b in setups], has_elr=features.has_elr)
    for line, statement in replicas:
        _has_replica(line, statement, replicas_of, "broker")
        _has_directory(line, statement, setups)


def _all(lines: Iterable[HeaderLine], *verbs: str) -> list[HeaderLine]:
    return [(line, s) for verb in verbs for line, s in lines if s.verb == verb]


def _wrong(line: int, problem: str, expected: str, token: str = "") -> PlayError:
    return PlayError(problem, expected=expected, line=line, token=token)


def _distinct(lines: Iterable[HeaderLine], name: Callable[[Statement], str], problem: str) -> None:
    seen: dict[str, int] = {}
    for line, statement in lines:
        key = name(statement)
        if key in seen:
            expected = f"line {seen[key]} says it first"
            raise _wrong(line, f"{key} {problem}", expected, statement.verb)
        seen[key] = line


def _at_most(lines: list[HeaderLine], most: int, what: str) -> None:
    if len(lines) > most:
        raise _wrong(lines[most][0], "the cluster is too large", f"at most {most} {what}")


def _guards_fit(play: Play, lines: list[HeaderLine]) -> None:
    """A guard is switched where the release has ZooKeeper, or where it has none."""
    kafka = play.first("kafka")
    features = parse_features(kafka.words[0] if kafka else header.DEFAULT_RELEASE)
    for line, statement in _all(lines, "off", "on"):
        for word in statement.words:
            try:
                switched(features, word, True)
            except UnknownFeatureError as problem:
                expected = "another release, in the line `kafka`, or another guard"
                raise _wrong(line, str(problem), expected, word) from None


def _versions_fit(play: Play, lines: list[HeaderLine]) -> None:
    """A node does not start at a metadata version that its release does not know."""
    for line, statement in lines:
        try:
            version = header.features_of(play).metadata_version
        except PlayError as problem:
            asks = _all(enumerate(play.statements, 1), "kafka") if problem.token == "elr=" else []
            raise problem.at(line=asks[0][0] if asks else line) from None
        release = statement.arg("kafka")
        if release is not None and not supports(release, version):
            lowest = RELEASES[release].lowest
            expected = f"a metadata version that every node knows, as in `metadata {lowest}`"
            raise _wrong(line, not_supported(release, version), expected, "kafka=")


def _fits_its_mode(play: Play, lines: list[HeaderLine], brokers: list[HeaderLine]) -> None:
    """What is said of KRaft or of ZooKeeper belongs into a play that has it."""
    try:
        features = header.features_of(play)
    except PlayError:
        return
    mode = features.mode
    other = "KRaft" if mode is Mode.ZOOKEEPER else "ZooKeeper"
    for line, statement in lines:
        for key in strange_words(statement, mode):
            expected = f"a play of a release without {other} has no such word"
            raise _wrong(line, f"{key}= is said of {other}", expected, f"{key}=")
        release = statement.arg("kafka")
        if statement.verb == "broker" and release and RELEASES[release].mode is not mode:
            problem = (
                f"broker {statement.words[0]} runs {release} in a cluster of {features.release}"
            )
            raise _wrong(line, problem, "one cluster has one mode", "kafka=")
    if mode is Mode.ZOOKEEPER:
        for line, statement in _all(lines, "timed"):
            problem = "a play with ZooKeeper has no clock"
            raise _wrong(line, problem, "`expire` ends a session", statement.verb)
        _controller_lives(lines, brokers)


def _controller_lives(lines: list[HeaderLine], brokers: list[HeaderLine]) -> None:
    up = [s.words[0] for _, s in brokers if s.arg("down") != "yes"]
    for line, statement in _all(lines, "controller"):
        broker = statement.arg("broker")
        if broker is not None and broker not in up:
            problem = f"broker {broker} cannot be the controller: it is not up"
            raise _wrong(line, problem, f"the brokers that are up are {', '.join(up)}", "broker=")


def _epochs_are_past(brokers: list[HeaderLine], lines: list[HeaderLine]) -> None:
    for line, statement in lines:
        text = statement.arg("next-metadata-offset")
        if text is None:
            continue
        offset = int(text)
        epochs = (int(s.arg("epoch") or 100 + int(s.words[0])) for _, s in brokers)
        newest = max(epochs, default=0)
        if offset <= newest:
            problem = f"a broker has the epoch {newest}, which is a metadata offset"
            expected = f"next-metadata-offset has to be at least {newest + 1}"
            raise _wrong(line, problem, expected, "next-metadata-offset")


def _partition(line: int, setup: PartitionSetup, brokers: list[BrokerId], *, has_elr: bool) -> None:
    for key in ("replicas", "isr", "adding", "removing", "elr"):
        listed = getattr(setup, key)
        if len(set(listed)) < len(listed):
            twice = f"{key}={_ids(listed, ',')} lists a broker twice"
            raise _wrong(line, twice, "once each", f"{key}=")
    if not setup.replicas:
        raise _wrong(line, "a partition without replicas", "replicas=1,2 names them", "replicas=")
    for key in ("isr", "adding", "removing", "elr", "last_known"):
        _within(line, key, getattr(setup, key), setup.replicas, "the replicas are")
    # A replica may be on a broker that is not registered any more; the ISR never is.
    _within(line, "isr", setup.isr, brokers, "the brokers are")
    if not setup.isr and not has_elr:
        expected = "without eligible leader replicas the last member always stays; isr=1 names it"
        raise _wrong(line, "a partition without an ISR", expected, "isr=")
    for key in ("elr", "last_known"):
        if getattr(setup, key) and not has_elr:
            expected = "`kafka 4.1 elr=1` switches eligible leader replicas on"
            problem = f"{_word(key)} is said of a cluster without eligible leader replicas"
            raise _wrong(line, problem, expected, f"{_word(key)}=")
    both = [b for b in setup.elr if b in setup.isr]
    if both:
        expected = "who is in the ISR is no eligible leader replica"
        raise _wrong(line, f"broker {both[0]} is in isr and elr", expected, "elr=")
    if len(setup.last_known) > 1:
        raise _wrong(line, "two last known leaders", "there is one, or none", "last-known=")
    if setup.leader not in (NO_LEADER, *setup.isr):
        expected = f"it is one of {_ids(setup.isr)}, or none"
        raise _wrong(line, f"leader {setup.leader} is not in the ISR", expected, "leader=")
    newest = header.newest_epoch([setup.log, *(log for _, log in setup.logs)])
    if newest > setup.leader_epoch:
        problem = f"a log has records of leader epoch {newest}"
        raise _wrong(line, problem, f"leader-epoch has to be at least {newest}", "leader-epoch=")


def _within(
    line: int, key: str, brokers: Iterable[BrokerId], allowed: Collection[BrokerId], what: str
) -> None:
    strange = [b for b in brokers if b not in allowed]
    if strange:
        expected, word = f"{what} {_ids(allowed)}", _word(key)
        raise _wrong(line, f"{word} has broker {strange[0]}", expected, f"{word}=")


def _word(field: str) -> str:
    return field.replace("_", "-")


def _has_replica(
    line: int, statement: Statement, replicas_of: dict[str, tuple[BrokerId, ...]], key: str
) -> None:
    name, broker = statement.words[0], statement.arg(key) or ""
    replicas = replicas_of[name]
    if broker not in map(str, replicas):
        expected = f"its replicas are {_ids(replicas)}"
        raise _wrong(line, f"{name} has no replica on broker {broker}", expected, f"{key}=")


def _has_directory(line: int, statement: Statement, brokers: Iterable[BrokerSetup]) -> None:
    directory, broker = int(statement.arg("directory", "1") or ""), statement.arg("broker")
    # It may be on a broker that is not registered any more.
    most = next((len(b.log_dirs) for b in brokers if str(b.id) == broker), directory)
    if directory > most:
        problem = f"broker {broker} has no log directory {directory}"
        raise _wrong(line, problem, f"`broker {broker} directories={directory}`", "directory=")


def _ids(brokers: Iterable[BrokerId], separator: str = ", ") -> str:
    return separator.join(map(str, brokers))
