"""The columns of a run's rows: plain values, all that pictures and tables may read.

`x` counts the lines of the play that moved the cluster: 0 is before the first, what line k did
shows at x = k, and a run of n such lines ends at x = n + 1. A lane is ``"partition"``,
``"controller"``, ``"broker 2"``, ``"records"`` or ``"world"``; in runs with ZooKeeper there is
``"ZooKeeper"`` too, and a message of a controller names its broker: ``"controller on broker 0"``.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import msgspec

from ..protocol.guards import ELR
from ..protocol.messages import BODIES, asked_by

Columns = tuple[tuple[int, int], ...]
"""The first and the last of the moments that stand in each column."""
STRIPS = ("leader epoch", "partition epoch", "ISR")
"""The tracks of a partition's own lane, from the top."""
STRIPS_OF_ELR = ("ELR", "last known leader")
"""The tracks below these, of partitions that have such a list; no span where it is empty."""
CONTROLLER_EPOCH, FIRST_EPOCH = ("controller", "controller epoch"), "1"
"""Lane and track of the controller's epochs, and the one of the first controller."""
UNKNOWN = "unknown"
"""The track of what a metadata log does not tell; on the lane "world" it is all that there is."""
FINDINGS = "findings"
"""The lane of what rules found in a metadata log, which is a row below a partition's tracks."""
ZOOKEEPER_LANE, QUEUE_FOR = "ZooKeeper", "queue for "
"""The lane of ZooKeeper; what the track of a queue begins with: the lane of its broker follows."""


def column_of(columns: Sequence[Sequence[int]], end: int, moment: int) -> int:
    """The x of a moment on an axis of these columns that ends at `end`; none count moments."""
    if not columns:
        return min(max(moment, -1), end)
    places = (x for x, (_, last) in enumerate(columns) if moment <= last)
    return next(places, end) if moment >= columns[0][0] else -1


class MomentRow(msgspec.Struct, frozen=True):
    """One step of the x axis: the play's `line` (0 before the first), its text, a short label."""

    x: int
    line: int
    text: str
    label: str

    @property
    def was_left_out(self) -> bool:
        """Whether its line was not applicable: nothing happened."""
        return "not applicable" in self.label


class SpanRow(msgspec.Struct, frozen=True):
    """Something that stayed as it was on [x0, x1).

    | lane | tracks | value |
    |---|---|---|
    | partition | leader epoch, partition epoch, ISR | the number; ``{1, 2}`` |
    | | ELR, last known leader | ``{1, 2}``; a broker's id |
    | controller | controller epoch, broker 1 ... | number; active, fenced, shutting down, absent |
    | broker 1 ... | uptime | broker epoch, or none before it is registered |
    | | down | crashed, disk replaced, tail lost, stopped, down |
    | | fenced, shutting down | yes |
    | | role | leader, believes, in ISR, proposed, out |
    | | log | log end offset |
    | records | state | safe, at risk, lost, offline |
    | any of these, world | unknown | why nothing is known |

    `text` says the same in words. `flags`: ``life N`` (uptime), ``lacks committed``, ``log empty``,
    ``recovering`` and ``unaware`` of that (role), ``in ELR`` (role out), ``no leader`` (leader
    epoch), ``high watermark N`` (log).

    With ZooKeeper a broker's uptime has the czxid of its znode, with the flag ``not told`` where
    the broker does not know it; a role has ``idle`` where the broker neither leads nor fetches.

    | lane | tracks | value |
    |---|---|---|
    | ZooKeeper | broker 1 ... | the session of its process |
    | controller | controller epoch | number, with the flag ``broker 0``; none |
    | | queue for broker 1 ... | how many requests wait, with the flags ``for N``, ``earlier`` |
    | broker 1 ... | registered | the czxid, while the process is gone and the session lasts |
    | | passed over | yes: the controller takes it for shutting down, and it is not |
    """

    lane: str
    track: str
    x0: int
    x1: int
    value: str
    text: str
    partition: str = ""
    flags: tuple[str, ...] = ()


class TickRow(msgspec.Struct, frozen=True):
    """A metadata record of the controller, about `partition` or about a broker; or a transaction of
    ZooKeeper, of which `offset` is the zxid and `record` the path, and whose `version` is -1.

    `short` is empty where the partition strip already says it. `events` are the ids of the record
    written and of what it changed.
    """

    x: int
    offset: int
    record: str
    version: int
    text: str
    short: str
    partition: str = ""
    events: tuple[str, ...] = ()


class MessageRow(msgspec.Struct, frozen=True):
    """A message. `x_arrived` is None while it is in flight; where it was dropped it is the x of
    that. `fate`: delivered, refused, dropped, in flight. `compared` are the failed comparison's
    sentences, `clause` the rule behind it. `sent_by` is the sender's broker epoch, -1 for none.
    `fields` is what it carries and `held` what the receiver held when it arrived, a sentence each;
    `log` the lines that it left in the logs of Kafka. `duplicate` marks a copy sent again.
    `began` is the id of the event that sent it, `ended` are those of what became of it.
    `meant_for` is the broker epoch that the receiver had when a controller queued the request, -1
    for other messages; `earlier_life` says that it came to a later incarnation of the receiver.
    """

    name: str
    kind: str
    sender: str
    receiver: str
    x_sent: int
    x_arrived: int | None
    fate: str
    label: str
    detail: str
    outcome: str = ""
    partition: str = ""
    error: str = ""
    guard: str = ""
    clause: str = ""
    compared: tuple[str, ...] = ()
    previous_incarnation: bool = False
    sent_by: int = -1
    fields: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    duplicate: bool = False
    began: str = ""
    ended: tuple[str, ...] = ()
    meant_for: int = -1
    earlier_life: bool = False

    @property
    def is_telling(self) -> bool:
        """Refused, not there at once, or for an earlier incarnation: pictures have an arrow."""
        if self.fate == "refused" or self.earlier_life:
            return True
        return self.x_arrived is None or self.x_arrived > self.x_sent

    @property
    def is_of_earlier_incarnation(self) -> bool:
        """Whether the process that sent it is gone, or the one that it was meant for."""
        return self.previous_incarnation or self.earlier_life


_ProcessMark = Literal["crashed", "stopped", "bounced", "not let go"]
_LogMark = Literal["truncated", "deleted", "destroyed", "appended", "lost", "checkpoint lost"]
_IsrMark = Literal["caught up", "not proposed", "withdrawn", "stopped fetching"]
_ClientMark = Literal["polled", "acknowledged"]
_ElectionMark = Literal["unclean", "from ELR"]
_ControllerMark = Literal["unchanged", "compared", "elected", "stood down", "queue dropped"]
_RunMark = Literal["broken", "not applicable", "happened"]
_BrokerMark = Literal[_ProcessMark, _LogMark, _IsrMark, _ElectionMark]
MarkKind = Literal[_BrokerMark, _ClientMark, _ControllerMark, _RunMark, "finding"]


class MarkRow(msgspec.Struct, frozen=True):
    """Something that happened at one x, on a lane; `event` is the id of that."""

    x: int
    lane: str
    kind: MarkKind
    text: str
    partition: str = ""
    event: str = ""


class EventRow(msgspec.Struct, frozen=True):
    """One event as a sentence. `step` counts moves from 1, `line` is the play's line. `log` is what
    an operator reads of it in the logs of Kafka, line by line. `id` is ``6.2`` for the second event
    of moment 6: marks, ticks and messages name it by that.
    """

    step: int
    x: int
    line: int
    kind: str
    node: str
    partition: str
    text: str
    log: str = ""
    id: str = ""


MetricKind = Literal["gauge", "meter", "counter"]
"""A value as it is; a rate in Kafka, here the count so far; a count so far in Kafka, too."""


class MetricRow(msgspec.Struct, frozen=True):
    """What `node` reports of one of Kafka's metrics on [x0, x1); `metrics.METRICS` says what each
    counts. There is no row for a broker that is down, unless for what it counted before, nor for a
    release that lacks the metric.
    """

    metric: str
    kind: MetricKind
    node: str
    x0: int
    x1: int
    value: int


Ranges = tuple[tuple[int, int, int], ...]
"""(leader epoch, first offset, the offset after the last) of records that follow one another."""
LOST = "lost"
"""Who holds, in a LogRow, the committed records that are gone: their leader epoch is not told."""


class LogRow(msgspec.Struct, frozen=True):
    """What the log of `holder` had on [x0, x1): a broker's disk, or all that a consumer read."""

    holder: str
    partition: str
    x0: int
    x1: int
    ranges: Ranges


class Meta(msgspec.Struct, frozen=True):
    """The run and its result.

    `name` is the play's, without a path; `end` is where the x axis ends.
    `guards` are the ids of the guards that act on the controller, `switched` the overrides.
    `columns` is empty where x counts moments; in a view it says which of them stand at each x.
    `numbers` are what the moments are called where that is not their number: offsets of a log.
    Such rows have no `release` and no `verdict`, and their `sentence` says what they show.
    """

    name: str
    title: str
    question: str
    release: str
    features: str
    guards: tuple[str, ...]
    switched: tuple[tuple[str, bool], ...]
    verdict: str
    sentence: str
    brokers: tuple[int, ...]
    partitions: tuple[str, ...]
    end: int
    columns: Columns = ()
    numbers: tuple[str, ...] = ()

    @property
    def has_elr(self) -> bool:
        """Whether the cluster begins with eligible leader replicas (KIP-966)."""
        return f"{ELR}=1" in self.features.split()

    def own(self, x: int) -> tuple[int, int]:
        """The play's own numbers of the moments at `x`, the first and the last of them."""
        return self.columns[x] if self.columns and 0 <= x < len(self.columns) else (x, x)

    def number(self, x: int) -> str:
        """The same in words: ``34``, ``34–45``, ``before 34``."""
        if self.numbers:
            moment = self.own(min(max(x, 0), self.end - 1))[0]
            return self.numbers[min(moment, len(self.numbers) - 1)]
        if x < 0:
            return f"before {self.own(0)[0]}"
        if self.columns and x >= len(self.columns):
            return str(self.columns[-1][1] + 1 + x - len(self.columns))
        first, last = self.own(x)
        return str(first) if first == last else f"{first}–{last}"

    def place(self, moment: int) -> int:
        """The x of a moment of the play: -1 before the first one shown, `end` after the last."""
        return column_of(self.columns, self.end, moment)


class Rows(msgspec.Struct, frozen=True, dict=True):
    """Everything that pictures, sentences and tables need of one run.

    It has a dict for what is worked out once and asked for a thousand times.
    """

    meta: Meta
    moments: tuple[MomentRow, ...]
    spans: tuple[SpanRow, ...]
    ticks: tuple[TickRow, ...]
    messages: tuple[MessageRow, ...]
    marks: tuple[MarkRow, ...]
    events: tuple[EventRow, ...]
    metrics: tuple[MetricRow, ...] = ()
    clients: tuple[MessageRow, ...] = ()
    """Requests of clients to brokers: the sender is a client, and what it learnt is the outcome."""
    logs: tuple[LogRow, ...] = ()

    @cached_property
    def tracks(self) -> dict[tuple[str, str], tuple[SpanRow, ...]]:
        """The spans by lane and track."""
        tracks: dict[tuple[str, str], list[SpanRow]] = {}
        for span in self.spans:
            tracks.setdefault((span.lane, span.track), []).append(span)
        return {key: tuple(spans) for key, spans in tracks.items()}

    def at(self, lane: str, track: str, x: int, partition: str = "") -> SpanRow | None:
        """The span of a track that lasts at `x`, for that partition or for none."""
        spans = self.tracks.get((lane, track), ())
        here = (s for s in spans if s.x0 <= x < s.x1 and s.partition in ("", partition))
        return next(here, None)

    def text(self, lane: str, track: str, x: int, partition: str = "") -> str:
        """The same in words; empty where there is no span."""
        span = self.at(lane, track, x, partition)
        return "" if span is None else span.text

    def value(self, lane: str, track: str, x: int, partition: str = "") -> str:
        """What the track is at `x`; empty where there is no span."""
        span = self.at(lane, track, x, partition)
        return "" if span is None else span.value

    @cached_property
    def busiest(self) -> str:
        """The partition that the run is about: the one with the most losses and refused or
        long-lived messages, then with the most events; empty if there is none.
        """
        telling = Counter(m.partition for m in self.messages if m.is_telling)
        telling.update(m.partition for m in self.marks if m.kind == "lost")
        every = Counter(e.partition for e in self.events)
        return max(self.meta.partitions, key=lambda n: (telling[n], every[n]), default="")

    def gates(self, lane: str) -> tuple[SpanRow, ...]:
        """The fences of a broker that ended because the controller unfenced it."""
        standing = self.tracks.get(("controller", lane), ())
        active = {span.x0 for span in standing if span.value == "active"}
        fences = self.tracks.get((lane, "fenced"), ())
        return tuple(span for span in fences if span.x1 in active)


def broker_lane(id: int) -> str:
    """``"broker 2"``."""
    return f"broker {id}"


def strips_of(runs: Sequence[Rows], partition: str) -> tuple[str, ...]:
    """The tracks of a partition's own lane in any of these runs, from the top."""
    spans = [s for run in runs for t in STRIPS_OF_ELR for s in run.tracks.get(("partition", t), ())]
    found = {span.track for span in spans if span.partition == partition}
    return (*STRIPS, *(track for track in STRIPS_OF_ELR if track in found))


def tells_epochs(rows: Rows) -> bool:
    """Whether this run is not all the first controller's, or has a controller on a broker; a
    metadata log always tells them.
    """
    spans = rows.tracks.get(CONTROLLER_EPOCH, ())
    told = bool(rows.meta.numbers) or has_zookeeper(rows)
    return told or any(span.value != FIRST_EPOCH for span in spans)


def has_zookeeper(rows: Rows) -> bool:
    """Whether this is a run of ZooKeeper's time."""
    return any(lane == ZOOKEEPER_LANE for lane, _ in rows.tracks)


def queues_in(rows: Rows) -> tuple[str, ...]:
    """The lanes of the brokers for which requests wait at the end of some moment, in order."""
    lanes = (t.removeprefix(QUEUE_FOR) for _, t in rows.tracks if t.startswith(QUEUE_FOR))
    return tuple(sorted(lanes, key=lambda lane: (len(lane), lane)))


# --- wording --------------------------------------------------------------------------------------


def api_name(kind: str) -> str:
    """``"AlterPartition reply"`` of ``"alter-partition-reply"``."""
    request = asked_by(kind)
    name = BODIES[request].api.label
    return name if request == kind else f"{name} reply"


def offsets(first: int, last: int) -> str:
    """One offset, or from the first to the last of many; both are inclusive."""
    return f"offset {first}" if first == last else f"offsets {first}–{last}"


def plural(count: int, noun: str) -> str:
    """``1 record``, ``10 records``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
