"""Rules of the kernel of which no schedule can tell, one by one beside the engine's."""

from typing import Any

import pytest

from kiplab.fleet.kernel import set_words
from kiplab.fleet.kernel.broker_rules import expire
from kiplab.fleet.kernel.leader_rules import replicate
from kiplab.fleet.kernel.machine_code import plain
from kiplab.fleet.kernel.metadata_rules import alter_partition
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, guard_bits
from kiplab.fleet.kernel.outside_streams import DELAYS
from kiplab.fleet.kernel.set_events import at_rest
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import NO_LEADER
from kiplab.runs import Run

TWO = "broker 1 epoch=41\nbroker 2 epoch=42{state}\ntopic orders replicas=1,2 isr=1,2 leader=1"
TOPIC = " leader-epoch=5 partition-epoch=10 log=10@5{more}\nmanual\n"
REQUEST = (
    "send alter-partition from={sender} partition=orders-0 leader-epoch=5"
    " partition-epoch=10 isr=1@41,2@42\ndeliver alter-partition\n"
)
LE, PE, NOW = 5, 10, 1_000
BOTH = 1 | 2 << 3


def _state(guard: str, *, on: bool) -> tuple[list[int], list[int], list[int]]:
    """Two replicas in sync, broker 1 leads; the guards of 3.5, and this one on or off."""
    s, w, told = (
        [0] * set_words.STATE_WORDS,
        [0] * set_words.WORLD_WORDS,
        [0] * (1 + 10 * set_words.TOLD_WORDS),
    )
    bit = 1 << MIRRORED.index(guard)
    bits = guard_bits(parse_features("3.5"))
    s[set_words.GUARDS] = bits | bit if on else bits & ~bit
    s[set_words.TRACE], s[set_words.LEADER_EPOCH], s[set_words.PARTITION_EPOCH] = 1, LE, PE
    w[set_words.REPLICAS] = 2
    plain(at_rest)(s, w, 0, 1)
    return s, w, told


def _refused(s: list[int], w: list[int], told: list[int], sender: int) -> str:
    """Which guard of the kernel refuses both replicas, asked by `sender` (from 0)."""
    at = plain(set_words.slot_at)(0)
    s[at + set_words.ARRIVES], s[at + set_words.SENDER], s[at + set_words.SENDER_EPOCH] = (
        NOW,
        sender,
        s[set_words.REG_EPOCH + sender],
    )
    s[at + set_words.ASKED_LEADER_EPOCH], s[at + set_words.ASKED_PARTITION_EPOCH] = LE, PE
    s[at + set_words.ASKED_ISR] = BOTH
    for b in range(2):
        s[at + set_words.ASKED_EPOCHS + b] = s[set_words.REG_EPOCH + b]
    plain(alter_partition)(s, w, told, at, NOW)
    if not told[0] or told[2] != set_words.TOLD_REFUSED:
        return "nothing"
    return MIRRORED[told[3].bit_length() - 1]


def _engine(text: str, guard: str, *, on: bool) -> Run:
    switched: dict[str, Any] = {"on" if on else "off": (guard,)}
    return Run(run_play(parse(text), parse_features("3.5", **switched)))


@pytest.mark.parametrize(
    ("guard", "sender", "leaving"),
    [("497.sender-is-leader", 2, False), ("841.shutting-down", 1, True)],
)
def test_the_kernel_refuses_a_request_by_the_guard_of_the_engine(
    guard: str, sender: int, leaving: bool
) -> None:
    state = " shutting-down=yes" if leaving else ""
    header = TWO.format(state=state) + TOPIC.format(more="")
    text = header + REQUEST.format(sender=sender)
    for on in (True, False):
        s, w, told = _state(guard, on=on)
        s[set_words.LEAVING + 1] = int(leaving)
        found = [r["guard"] for r in _engine(text, guard, on=on).refusals]
        assert (found or ["nothing"])[0] == _refused(s, w, told, sender - 1)
        assert (found == [guard]) is on


def test_while_it_recovers_the_kernel_elects_cleanly_without_kip_704_alone() -> None:
    guard = "704.unclean-again"
    header = TWO.format(state="") + TOPIC.format(more=" recovery=recovering")
    for on in (True, False):
        s, w, told = _state(guard, on=on)
        s[set_words.RECOVERING] = 1
        plain(expire)(s, w, told, 0, NOW)
        leader = _engine(header + "expire 1\n", guard, on=on).partitions[0]["leader"]
        assert leader == (
            s[set_words.LEADER] + 1 if s[set_words.LEADER] != set_words.NONE else NO_LEADER
        )
        assert (leader == 2) is not on


def test_what_a_leader_lacked_as_it_came_to_lead_causes_no_later_loss() -> None:
    s, w, _ = _state(MIRRORED[0], on=True)
    s[set_words.STALE] = s[set_words.SHOCKED] = s[set_words.STALE + 1] = 1
    s[set_words.LEVEL + 1] = 0
    plain(replicate)(s, w, [0] * set_words.BROKERS * DELAYS, NOW)
    assert (s[set_words.STALE], s[set_words.SHOCKED]) == (0, 0)
    assert s[set_words.STALE + 1] == 1, "a follower that is not level still lacks what it lacked"
