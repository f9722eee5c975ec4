"""The columns of a run's rows: plain values, all that pictures and tables may read.

`x` counts the lines of the play that moved the cluster: 0 is before the first, what line k did
shows at x = k, and a run of n such lines ends at x = n + 1. A lane is ``"partition"``,
``"controller"``, ``"broker 2"``, ``"records"`` or ``"world"``.
"""

from __future__ import annotations

import msgspec


class MomentRow(msgspec.Struct, frozen=True):
    """One step of the x axis: the play's `line` (0 before the first), its text, a short label."""

    x: int
    line: int
    text: str
    label: str


class SpanRow(msgspec.Struct, frozen=True):
    """Something that stayed as it was on [x0, x1).

    | lane | tracks | value |
    |---|---|---|
    | partition | leader epoch, partition epoch, ISR | the number; ``{1, 2}`` |
    | controller | controller epoch, broker 1 ... | number; active, fenced, shutting down, absent |
    | broker 1 ... | uptime | broker epoch, or none before it is registered |
    | | down | crashed, disk replaced, tail lost, stopped, down |
    | | fenced, shutting down | yes |
    | | role | leader, believes, in ISR, proposed, out |
    | | log | log end offset |
    | records | state | safe, at risk, lost, offline |

    `text` says the same in words. `flags`: ``life N`` (uptime), ``lacks committed`` and
    ``recovering`` (role), ``no leader`` (leader epoch).
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
    """A metadata record of the controller, about `partition` or about a broker.

    `short` is empty where the partition strip already says it.
    """

    x: int
    offset: int
    record: str
    version: int
    text: str
    short: str
    partition: str = ""


class MessageRow(msgspec.Struct, frozen=True):
    """A message. `x_arrived` is None while it is in flight; where it was dropped it is the x of
    that. `fate`: delivered, refused, dropped, in flight. `compared` are the failed comparison's
    sentences, `clause` the rule behind it. `sent_by` is the sender's broker epoch, -1 for none.
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

    @property
    def is_telling(self) -> bool:
        """Refused, or not there at once: what a picture has an arrow for."""
        return self.fate == "refused" or self.x_arrived is None or self.x_arrived > self.x_sent


class MarkRow(msgspec.Struct, frozen=True):
    """Something that happened at one x, on a lane.

    Kinds: crashed, stopped, caught up, truncated, destroyed, appended, not proposed, withdrawn,
    unclean, lost, broken, not applicable, happened.
    """

    x: int
    lane: str
    kind: str
    text: str
    partition: str = ""


class EventRow(msgspec.Struct, frozen=True):
    """One event as a sentence. `step` counts moves from 1, `line` is the play's line."""

    step: int
    x: int
    line: int
    kind: str
    node: str
    partition: str
    text: str


class Meta(msgspec.Struct, frozen=True):
    """What the run was and what it amounts to.

    `name` is the play's, without a path; `end` is where the x axis ends.
    `guards` are the ids of the guards that act on the controller, `switched` the overrides.
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


class Rows(msgspec.Struct, frozen=True):
    """Everything that pictures, sentences and tables need of one run."""

    meta: Meta
    moments: tuple[MomentRow, ...]
    spans: tuple[SpanRow, ...]
    ticks: tuple[TickRow, ...]
    messages: tuple[MessageRow, ...]
    marks: tuple[MarkRow, ...]
    events: tuple[EventRow, ...]

    @property
    def busiest(self) -> str:
        """The partition that the run is about: the one with the most losses and refused or
        long-lived messages, then with the most events; empty if there is none.
        """
        told = [m.partition for m in self.messages if m.is_telling]
        told += [m.partition for m in self.marks if m.kind == "lost"]
        all_ = [e.partition for e in self.events]
        return max(
            self.meta.partitions, key=lambda name: (told.count(name), all_.count(name)), default=""
        )


def broker_lane(id: int) -> str:
    """``"broker 2"``."""
    return f"broker {id}"
