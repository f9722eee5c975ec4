"""The exercises of lab 05: where a leader takes broker epochs from. Four designs, a price, a loss.

The engine judges: it plays two accidents under each design, counts what one of them costs, and
plays what a student wrote.
"""

from functools import cache

from ...explore.shrink.shortening import goal_of
from ...plays.header import features_of
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import HARM, LOSS, lost, refused, verdict
from ...protocol.facts import BecameFollower, LeaderElected, NotProposed
from ...protocol.features import Features, parse_features
from ...protocol.messages import KINDS, FetchRequest
from .answers import PartsInOrder, ideas, is_none, sets_among
from .own_runs import UNCLEAN, OwnRun, RunVerdict

MOMENTS = {"R": "kafka-14139", "F": "903-late-fetch"}
"""What is slow: the leader's **r**equest, or the follower's **f**etch."""
DESIGNS: dict[str, Features] = {
    "no epoch": parse_features("3.4"),
    "a new leader epoch": parse_features("3.4", on=("903.bump-leader-epochs",)),
    "from metadata": parse_features("3.5", on=("903.epoch-from-metadata",)),
    "from Fetch": parse_features("3.5"),
}
"""Ways to deal with a broker that came back as another one, and the rules each is played by."""
PRICE, OWN = "903-bump-price", "903-from-metadata"
BACK = 2
"""The broker that comes back there."""
PROPERTY = "no-committed-record-lost"
FETCH = KINDS[FetchRequest]

_DESIGN_NAMES = tuple(DESIGNS)
_DESIGNS = ideas("""
no epoch: being alive is as good as having caught up
   On 3.4 nobody says which incarnation of broker 2 is meant. Is it fenced, when R or F arrives?
a new leader epoch: a new leader epoch only stops what the old leader asks for
   When broker 2 registers, the leader epoch moves. Which of the two messages carries it?
from metadata: the newest epoch is the right one
   R was written before broker 2 died, and F makes the leader write afterwards. With which epoch
   each?
from Fetch: an old message makes an old request only by luck
   The old fetch brings its own epoch along. What does the leader compare it with?
""")


@cache
def losing(design: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of DESIGNS."""
    runs = {letter: run_play(load(play), DESIGNS[design]) for letter, play in MOMENTS.items()}
    return frozenset(letter for letter, stage in runs.items() if lost(stage))


check_epoch_sources = PartsInOrder(
    of=len(DESIGNS),
    form="answers, each of the letters R and F, or -",
    read=sets_among(MOMENTS, use="R, F, or - for none"),
    true=lambda: [losing(design) for design in DESIGNS],
    idea=lambda place, _mine, _true: _DESIGNS[_DESIGN_NAMES[place]],
    part=_DESIGN_NAMES.__getitem__,
    group=("the others", *["what KIP-903 rejected"] * 2, "the others").__getitem__,
    praise="Two designs lose nothing. Now ask what they cost.",
)
"""Which MOMENTS lose data under each of DESIGNS, in their order: ``"RF"``, ``"-"``."""

_NUMBERS = ideas("""
leader epochs: a new leader epoch is a matter of the partitions that broker 2 leads
   It leads none. Of which of the three does it have a replica?
restarts: only who comes back has to start over
   Who follows in these partitions, apart from broker 2? Count the lines *follows*.
refusals: a follower learns of a new leader epoch at once
   Broker 3 hears of it late. Which of its fetches are refused, and which of those to it?
with KIP-903: every way to keep a broker apart from its past costs the others something
   Play it: kiplab.run("903-bump-price", kafka="3.5").
""")
_COUNTED = tuple(_NUMBERS)


@cache
def price(play: str, kafka: str = "") -> tuple[int, int, int]:
    """(partitions with a new leader epoch, fetchers that start over, fetches that are refused).

    Of the fetchers, those of brokers other than the one that came back.
    """
    own = load(play)
    stage = run_play(own, parse_features(kafka) if kafka else features_of(own))
    elected = {e.partition for e in stage.events if isinstance(e, LeaderElected)}
    restarts = [e for e in stage.events if isinstance(e, BecameFollower) and e.node != BACK]
    return len(elected), len(restarts), sum(r["request"] == FETCH for r in refused(stage))


def _prices(given: list[str]) -> list[str]:
    """``"none"`` is a number where there are none."""
    return ["0" if is_none(part) else part for part in given]


check_bump_price = PartsInOrder(
    of=len(_COUNTED),
    form="numbers",
    read=_prices,
    true=lambda: [str(number) for number in (*price(PRICE), sum(price(PRICE, "3.5")))],
    idea=lambda place, _mine, _true: _NUMBERS[_COUNTED[place]],
    part=_COUNTED.__getitem__,
    group=(*["what a new leader epoch costs"] * 3, "what KIP-903 costs").__getitem__,
    praise="One broker came back; two that had done nothing stopped for it.",
)
"""Four numbers about PRICE: leader epochs, restarts, refusals, and with KIP-903.

The partitions with a new leader epoch; the fetchers of other brokers that start over; the fetches
that are refused; and how many of all these there are on Kafka 3.5.
"""


def _loss(stage: Stage) -> RunVerdict:
    """An unclean election, and a loss that Kafka does not promise to survive, do not count."""
    outcome = verdict(stage)
    if outcome == HARM:
        message = "Broker 2 is in the ISR without the records, and nothing is lost yet."
        return RunVerdict(1, message, "Let it be elected: the leader has to go.")
    if outcome == LOSS and not goal_of(stage, PROPERTY).excused:
        return RunVerdict(
            2, "Committed records are lost. Would they be, with the epoch from Fetch?"
        )
    message = "Nothing committed is lost."
    skipped = {e.guard for e in stage.events if isinstance(e, NotProposed)}
    if "841.leader-skips-fenced" in skipped:
        hint = "The old fetch arrives while broker 2 is fenced. When is it no longer?"
        return RunVerdict(0, message, hint, "an old fetch is dangerous while its sender is away")
    if "903.controller-epoch" in {str(r["guard"]) for r in refused(stage)}:
        hint = "The controller refused an old epoch: the leader had not heard of the new one yet."
        return RunVerdict(0, message, hint, "the leader's metadata is always the newest")
    return RunVerdict(
        0, message, "Broker 2 has to get in without a record, and then broker 1 has to go."
    )


check_old_fetch = OwnRun(of=2, begins=OWN, judged=_loss, forbidden=(UNCLEAN,))
"""A run of OWN that loses committed records.

A point where a broker that lacks them could be elected, one more where they are lost.
"""
