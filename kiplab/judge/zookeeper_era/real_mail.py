"""`kiplab.real_mail`: what real controllers of ZooKeeper's years sent, as it was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from textwrap import fill

import msgspec

from ...protocol.errors import KafkaError
from .judged_situations import SITUATIONS
from .sequence_recordings import CONTROLLER_RELEASES, recorded_sequences
from .sequences import NO_EPOCH, Passage, SentRequest, ShutdownAnswer, StateZnode

BOTH_SIDES = ("2.1.1", "2.2.2")
"""The last release before KIP-380, and one that has it."""
_WIDTH, _BELOW = 96, " " * 8


class UnrecordedMailError(ValueError):
    """There is no such recording; the message lists those that there are."""


class RealMail(msgspec.Struct, frozen=True):
    """What controllers of some patch releases of Kafka sent in one situation, passage by passage.

    The controllers are Kafka's own; the brokers that they send to were played.
    """

    situation: str
    says: str
    heard: dict[str, tuple[Passage, ...]]
    """By patch release."""

    def text(self, *, to: int | None = None, last: int | None = None) -> str:
        """A paragraph for each release; `to` leaves out what other brokers got, `last` all but so
        many passages.
        """
        told = ("\n".join(self._of(patch, to, last)) for patch in self.heard)
        return "\n\n".join([self.says, *told])

    def _of(self, patch: str, to: int | None, last: int | None) -> Iterator[str]:
        yield f"Kafka {patch}, recorded"
        for passage in self.heard[patch][-(last or 0) :]:
            yield f"  {passage.title}"
            yield from (_below(_answered(answer)) for answer in passage.answers)
            sent = [one for one in passage.requests if to in (None, one.broker)]
            nothing = "nobody gets anything" if to is None else f"broker {to} gets nothing"
            yield from (_below(line) for line in _mail(sent) or [nothing])
            yield _below("; ".join(map(_state, passage.znodes)))

    def __repr__(self) -> str:
        return self.text()


def real_mail(situation: str, *kafka: str) -> RealMail:
    """What the controllers of these patch releases sent in a situation: of BOTH_SIDES, unless
    others are named.

    Raises UnrecordedMailError for a situation or a release of which there is no recording.
    """
    if situation not in SITUATIONS:
        known = ", ".join(SITUATIONS)
        raise UnrecordedMailError(f"there is no situation {situation!r}; there are {known}")
    heard = {patch: _recorded(situation, patch) for patch in kafka or BOTH_SIDES}
    return RealMail(situation, SITUATIONS[situation].says, heard)


def _recorded(situation: str, patch: str) -> tuple[Passage, ...]:
    why_not = SITUATIONS[situation].why_not(patch)
    if patch not in CONTROLLER_RELEASES or why_not:
        known = ", ".join(p for p in CONTROLLER_RELEASES if not SITUATIONS[situation].why_not(p))
        raise UnrecordedMailError(
            f"nothing is recorded of {situation} with Kafka {patch}"
            f"{f' ({why_not})' if why_not else ''}; there is {known}"
        )
    return recorded_sequences(patch)[situation]


# --- in words -----------------------------------------------------------------------------------


def _below(line: str) -> str:
    return fill(line, _WIDTH, initial_indent=_BELOW[:6], subsequent_indent=_BELOW)


def _mail(sent: list[SentRequest]) -> list[str]:
    """A line for what one life of a broker got with one stamp on it, without a break."""
    marked = groupby(sent, lambda one: (one.broker, one.generation, one.stamped))
    return [_of_one_life(*marks, list(requests)) for marks, requests in marked]


def _of_one_life(broker: int, generation: str, stamped: str, requests: list[SentRequest]) -> str:
    stamp = "without an epoch" if stamped == NO_EPOCH else f"for life {_life(stamped)}"
    told = ", ".join(map(_told, requests))
    return f"life {_life(generation)} of broker {broker} gets, {stamp}: {told}"


def _told(sent: SentRequest) -> str:
    """``StopReplica(F)``; with nothing in it where it is about no partition."""
    topics = [*(told.topic for told in sent.partitions), *(stop.topic for stop in sent.stopped)]
    return f"{sent.api}({','.join(topics)})"


def _answered(answer: ShutdownAnswer) -> str:
    anonymous = answer.stamped == NO_EPOCH
    epoch = "without an epoch" if anonymous else f"with the epoch of life {_life(answer.stamped)}"
    error = KafkaError(answer.error).name
    return f"a ControlledShutdown of broker {answer.broker}, {epoch}, is answered {error}"


def _life(generation: str) -> str:
    """``b1g2``: 2."""
    return generation.partition("g")[2]


def _state(znode: StateZnode) -> str:
    leader = "nobody" if znode.leader < 0 else f"broker {znode.leader}"
    isr = ", ".join(map(str, znode.isr))
    return f"{leader} leads {znode.topic}, ISR {{{isr}}}, leader epoch {znode.leader_epoch}"
