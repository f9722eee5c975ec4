"""The story of a forgotten proposal: as a real cluster lived it, beside the engine's play.

In comes what was seen of the cluster, one moment after the other. The roles are those of the play
`hole-never-level`: L leads, B is behind and comes second in the replicas, A is back in the ISR.
Out go sentences, and for each moment that the play has too where the two leaders stand.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kiplab.engine.cluster import Cluster, broker
from kiplab.plays import library, runner
from kiplab.plays.values import feature_set
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.replica.broker_state import log_of, replica_of

from .cluster_run import Sighting

PLAY, PARTITION = "hole-never-level", "orders-0"
REAL = {0: "L", 1: "B", 2: "A"}
"""The brokers of the test kit."""
PLAYED = {1: "L", 2: "B", 3: "A"}
"""The brokers of the play."""
WORDS = {
    "attempt": "a new topic, replicas L, B, A",
    "stalled": "the disks of A and B stall",
    "alone": "replica.lag.time.max.ms is over: L is alone in the ISR",
    "backlog": "more records, and slow disks: A and B come closer",
    "close": "A and B are close to the high watermark; their disks stall again",
    "answered": "A is back, B is not: L has its answer for A. The disk of A stalls",
    "proposed": "acks=all, not acknowledged yet. B has what was committed: L asks for B",
    "forgotten": "the metadata of A's return reaches L: the proposal is FORGOTTEN",
    "kept": "the metadata of A's return came earlier: nothing is forgotten this time",
    "passed": "the disk of A is back: the high watermark passes B",
    "held": "the high watermark does not pass B",
    "joined": "for the controller B is in sync, and L hears so. The record is acknowledged",
    "stops": "L stops, without a controlled shutdown",
    "elected": "the controller has elected a leader",
    "ends": "what the two that are left have",
    "read": "a consumer reads everything",
    "lost": "LOST, though it was acknowledged",
    "whole": "nothing that was acknowledged is lost",
}
"""What each moment means, in the order in which they come."""
STEPS = {"answered": 1, "proposed": 4, "forgotten": 5, "passed": 8, "joined": 10}
"""The step of the play after which its leader stands where the real one stood."""


class LeaderStanding(NamedTuple):
    """Where a leader stands: its ISR and whom it asks for, in roles; whether something is committed
    that B does not have.
    """

    isr: str
    asked: str
    passed: bool

    def words(self, moment: str) -> str:
        """As far as it matters: before B is asked for, nobody minds how far it is."""
        asks = f", asks for {{{self.asked}}}" if self.asked else ""
        mark = (
            ""
            if moment == "answered"
            else f", high watermark {'>' if self.passed else '<='} end of B"
        )
        return f"ISR {{{self.isr}}}{asks}{mark}"


def real_standing(seen: Sighting) -> LeaderStanding:
    """As the real leader's partition said of itself."""
    isr, maximal = seen.brokers("isr"), seen.brokers("maximal")
    asked = maximal if seen.values["state"].startswith("Pending") else ()
    return LeaderStanding(
        isr=_roles(isr, REAL),
        asked=_roles(asked, REAL),
        passed=int(seen.values["mark"]) > int(seen.values["late"]),
    )


def played_standing(cluster: Cluster) -> LeaderStanding:
    """As the leader of the play has it."""
    leader, late = broker(cluster, BrokerId(1)), broker(cluster, BrokerId(2))
    assert leader is not None, "the play has a broker 1"
    assert late is not None, "the play has a broker 2"
    replica = replica_of(leader, PARTITION)
    assert replica is not None, "broker 1 leads in the play, as long as the story goes"
    assert replica.leading is not None, "broker 1 leads in the play, as long as the story goes"
    state = replica.leading.isr_state
    return LeaderStanding(
        isr=_roles(state.isr, PLAYED),
        asked=_roles(() if state.sent is None else state.proposed, PLAYED),
        passed=replica.high_watermark > log_of(late, PARTITION).end,
    )


def _roles(brokers: Iterable[int], names: dict[int, str]) -> str:
    held = {names[number] for number in brokers}
    return ",".join(role for role in "LAB" if role in held)


def told(seen: Sighting) -> str:
    """One moment as a line."""
    words, values = WORDS.get(seen.moment, seen.moment), seen.values
    if seen.moment == "missed":
        return f"           not within {values['waited']} ms: {values['what']}"
    if "state" in values:
        ends = f"ends L {values['leader']}, B {values['late']}, A {values['healthy']}"
        where = f"partition epoch {values['epoch']}, high watermark {values['mark']}, {ends}"
        asked = real_standing(seen).asked
        asks = f" and asks for {{{asked}}}" if asked else ""
        isr = _roles(seen.brokers("isr"), REAL)
        return (
            f"{int(values['ms']) / 1000:8.2f} s {words}\n           L: ISR {{{isr}}}{asks}, {where}"
        )
    rest = ", ".join(f"{name} {value}" for name, value in values.items())
    return f"           {words}{': ' if rest else ''}{rest}"


class Beat(NamedTuple):
    """One moment of both: where the real leader stood, and the leader of the play."""

    moment: str
    step: str
    real: str
    played: str


def beside_the_engine(attempt: Iterable[Sighting], release: str) -> Iterator[Beat]:
    """Each moment of an attempt that the play has too, under the same release."""
    stage = runner.run_play(library.load(PLAY), feature_set(f"@{release}"))
    for moment, seen in ((seen.moment, seen) for seen in attempt):
        if (step := STEPS.get(moment)) is not None:
            performed = next(p for p in stage.performed if p.moment == step)
            played = played_standing(stage.history.steps[performed.last - 1].cluster)
            text = " ".join(performed.statement.text.split())
            words = (standing.words(moment) for standing in (real_standing(seen), played))
            yield Beat(moment, f"step {step}, {text}", *words)
