"""`kiplab.real_control_requests` and `kiplab.real_checkpoint`: what real controllers of ZooKeeper's
years sent, and what real brokers made of a request of an earlier incarnation, as recorded.

The recordings are JSON, one request a line.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import fill

import msgspec

from ...protocol.errors import KafkaError
from .sequences import NO_EPOCH, Passage, SentRequest, ShutdownAnswer, StateZnode

SEQUENCES = Path(__file__).parent / "controller_sequences"
"""One file for each patch release."""
CONTROLLER_RELEASES = ("2.1.1", "2.2.2", "2.6.3", "2.8.2", "3.4.1")
"""Releases whose controllers are judged."""

Heard = dict[str, tuple[Passage, ...]]
"""Passages by the name of the situation."""


@cache
def recorded_sequences(patch: str) -> Heard:
    """What was recorded of a patch release; empty where nothing was."""
    file = SEQUENCES / f"{patch}.json"
    return msgspec.json.decode(file.read_bytes(), type=Heard) if file.exists() else {}


_SITUATIONS = tomllib.loads((SEQUENCES / "situations.toml").read_text(encoding="utf-8"))
SAYS: dict[str, str] = {name: situation["says"] for name, situation in _SITUATIONS.items()}
"""What happens in each recorded situation, in the order of the lab."""
UNFIT: dict[str, dict[str, str]] = {
    name: situation["unfit"] for name, situation in _SITUATIONS.items() if "unfit" in situation
}
"""Why a release has no such situation, by situation and patch release."""
BOTH_SIDES = ("2.1.1", "2.2.2")
"""The last release before KIP-380, and one that has it."""
_WIDTH, _BELOW = 96, " " * 8


class UnrecordedRequestsError(ValueError):
    """There is no such recording; the message lists those that there are."""


class RealControlRequests(msgspec.Struct, frozen=True):
    """What controllers of some patch releases sent to played brokers in one situation."""

    situation: str
    says: str
    heard: dict[str, tuple[Passage, ...]]
    """By patch release."""

    def text(self, *, to: int | None = None, last: int | None = None) -> str:
        """A paragraph for each release; only what broker `to` got, and the `last` passages."""
        paragraphs = ("\n".join(self._of(patch, to, last)) for patch in self.heard)
        return "\n\n".join([self.says, *paragraphs])

    def _of(self, patch: str, to: int | None, last: int | None) -> Iterator[str]:
        yield f"Kafka {patch}, recorded"
        nothing = "no requests" if to is None else f"no requests for broker {to}"
        for passage in self.heard[patch][-(last or 0) :]:
            yield f"  {passage.title}"
            sent = [one for one in passage.requests if to in (None, one.broker)]
            lines = [
                *map(_answered, passage.answers),
                *(list(_control_requests(sent)) or [nothing]),
            ]
            for line in [*lines, "; ".join(map(_state, passage.znodes))]:
                yield fill(line, _WIDTH, initial_indent=_BELOW[:6], subsequent_indent=_BELOW)

    def __repr__(self) -> str:
        return self.text()


def real_control_requests(situation: str, *kafka: str) -> RealControlRequests:
    """What the controllers of these patch releases, or of BOTH_SIDES, sent in a situation. Raises
    UnrecordedRequestsError for a situation or a release of which there is no recording.
    """
    if situation not in SAYS:
        there = ", ".join(SAYS)
        raise UnrecordedRequestsError(f"there is no situation {situation!r}; there are {there}")
    passages = {patch: _recorded(situation, patch) for patch in kafka or BOTH_SIDES}
    return RealControlRequests(situation, SAYS[situation], passages)


def _recorded(situation: str, patch: str) -> tuple[Passage, ...]:
    unfit = UNFIT.get(situation, {})
    if patch in CONTROLLER_RELEASES and patch not in unfit:
        return recorded_sequences(patch)[situation]
    there = ", ".join(p for p in CONTROLLER_RELEASES if p not in unfit)
    why = f" ({unfit[patch]})" if patch in unfit else ""
    raise UnrecordedRequestsError(
        f"nothing is recorded of {situation} with Kafka {patch}{why}; there is {there}"
    )


# --- in words -----------------------------------------------------------------------------------


def _control_requests(sent: list[SentRequest]) -> Iterator[str]:
    """A line for what one incarnation of a broker got with one stamp on it, without a break."""
    marked = groupby(sent, lambda one: (one.broker, one.generation, one.stamped))
    for (broker, generation, stamped), requests in marked:
        meant = f"for incarnation {_incarnation(stamped)}"
        stamp = "without an epoch" if stamped == NO_EPOCH else meant
        what = ", ".join(f"{one.api}({_topics(one)})" for one in requests)
        yield f"incarnation {_incarnation(generation)} of broker {broker} receives, {stamp}: {what}"


def _topics(sent: SentRequest) -> str:
    topics = [*(p.topic for p in sent.partitions), *(stop.topic for stop in sent.stopped)]
    return ",".join(topics)


def _answered(answer: ShutdownAnswer) -> str:
    stamped = f"with the epoch of incarnation {_incarnation(answer.stamped)}"
    epoch = "without an epoch" if answer.stamped == NO_EPOCH else stamped
    error = KafkaError(answer.error).name
    return f"a ControlledShutdown of broker {answer.broker}, {epoch}, is answered {error}"


def _incarnation(generation: str) -> str:
    """``b1g2``: 2."""
    return generation.partition("g")[2]


def _state(znode: StateZnode) -> str:
    leader = "nobody" if znode.leader < 0 else f"broker {znode.leader}"
    isr = ", ".join(map(str, znode.isr))
    return f"{leader} leads {znode.topic}, ISR {{{isr}}}, leader epoch {znode.leader_epoch}"


# --- a request of an earlier incarnation at real brokers ------------------------------------------
# A broker has F and L; it stops, and its checkpoint of high watermarks names both. In its next
# incarnation a request of before that is about F alone comes first (KAFKA-7235). Whether the broker
# obeys it decides what the checkpoint says then, and at which high watermark L begins when the rest
# comes: KIP-380's third case.

FOLLOWED, LED = "F", "L"
CHECKPOINTS = Path(__file__).parents[1] / "real_checkpoint.json"
"""Of every broker that was asked; `make judge-record` writes it."""
BROKERS = ("2.1.1", "2.2.2", "2.2.2/2.1")
"""Before KIP-380, since, and in the middle of the upgrade."""
_WHAT = (
    f"A real broker has the partitions {FOLLOWED} and {LED}, and stops.\n"
    f"Its next incarnation first receives an old LeaderAndIsr, about {FOLLOWED} alone."
)


class UnaskedBrokerError(ValueError):
    """A broker without recorded requests; the message lists those that have some."""


class CheckpointStory(msgspec.Struct, frozen=True):
    """The checkpoint's high watermark of each topic, from one incarnation into the next.

    `old_mail` is the answer to the request of the first. `begun_at` are the high watermarks that
    the partitions have after everything that came then: a follower that is not there keeps them
    where they began.
    """

    stopped_with: dict[str, int]
    before_any_mail: dict[str, int]
    old_mail: int
    after_old_mail: dict[str, int]
    begun_at: dict[str, int]
    at_the_end: dict[str, int]


class RealCheckpoint(msgspec.Struct, frozen=True):
    """KIP-380's third case at real brokers: the file of high watermarks, before and after."""

    stories: dict[str, CheckpointStory]
    """By broker: ``"2.2.2"``, or ``"2.2.2/2.1"`` at another inter.broker.protocol.version."""

    def text(self) -> str:
        """What happened, and a paragraph for each broker."""
        stories = ("\n".join(_checkpoint(name, story)) for name, story in self.stories.items())
        return "\n\n".join([_WHAT, *stories])

    def __repr__(self) -> str:
        return self.text()


def real_checkpoint(*brokers: str) -> RealCheckpoint:
    """What was recorded of these brokers, or of BROKERS. Raises UnaskedBrokerError for another."""
    recorded = recorded_checkpoints()
    for name in brokers:
        if name not in recorded:
            releases = ", ".join(recorded)
            raise UnaskedBrokerError(f"no broker of Kafka {name!r} is asked; there are {releases}")
    return RealCheckpoint({name: recorded[name] for name in brokers or BROKERS})


@cache
def recorded_checkpoints() -> dict[str, CheckpointStory]:
    """By broker."""
    return msgspec.json.decode(CHECKPOINTS.read_bytes(), type=dict[str, CheckpointStory])


def _checkpoint(name: str, story: CheckpointStory) -> Iterator[str]:
    patch, _, protocol = name.partition("/")
    before, after = (
        ", ".join(f"{topic} {offset}" for topic, offset in file.items()) or "nothing"
        for file in (story.before_any_mail, story.after_old_mail)
    )
    yield f"Kafka {patch}{f' at protocol {protocol}' * bool(protocol)}, recorded"
    yield f"  the file says       {before}"
    yield f"  it answers          {KafkaError(story.old_mail).name}"
    yield f"  the file says then  {after}"
    yield f"  {LED} begins at         {story.begun_at[LED]}"
