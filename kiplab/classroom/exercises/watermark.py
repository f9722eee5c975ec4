"""Exercise: how far does a log count as committed, step by step? The engine says."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...engine.cluster import Cluster
from ...runs import run
from .answers import Slip, half, in_order, moments, summed
from .check_result import Checked
from .committed import leading, log_end

PLAY = "isr-committed"


def check_high_watermark(answer: object, kafka: str | None = None) -> Checked:
    """Judge the leader's high watermark after each step of the play ``isr-committed``."""
    found = run(PLAY, kafka=kafka)
    steps = [(p.statement.text, cluster) for p, cluster in moments(found.stage)]
    given = in_order(answer, len(steps), "offsets, one after each step")
    if isinstance(given, Checked):
        return given
    views = [View.of(cluster) for _, cluster in steps]
    slips = [
        _slip(place, text, *_wrong_mark(said, text, views[:place]), of=len(steps))
        for place, ((text, _), said) in enumerate(zip(steps, given, strict=True), 1)
        if said != str(views[place - 1].mark)
    ]
    praise = "Every high watermark is right: the ISR decides, as it is known at the time."
    return summed(len(steps), slips, praise, found.token)


class View(msgspec.Struct, frozen=True):
    """What a leader sees: where its log ends, its high watermark, how far enough brokers copied.

    `too_few` says that the ISR is smaller than min.insync.replicas.
    """

    end: int
    mark: int
    copied: int
    too_few: bool

    @classmethod
    def of(cls, cluster: Cluster) -> View:
        """The view of the leader, which in ``isr-committed`` never dies."""
        found = leading(cluster)
        assert found is not None
        assert found.leading is not None
        end, least = log_end(cluster), found.min_insync_replicas
        ends = sorted([end, *(r.end for r in found.leading.remotes)], reverse=True)
        too_few = len(found.leading.isr_state.maximal) < least
        return cls(end, found.high_watermark, ends[least - 1], too_few)


# --- wrong answers ------------------------------------------------------------------------------


def _slip(place: int, text: str, hint: str, idea: str, *, of: int) -> Slip:
    return Slip(f"step {place} ({text})", hint, idea, half(place, of, "steps"))


def _wrong_mark(said: str, text: str, seen: Sequence[View]) -> tuple[str, str]:
    """(hint, idea) about a step, the last of those `seen` so far."""
    here = seen[-1]
    if said.isdecimal() and int(said) > here.end:
        return _beyond(text, here)
    if said == str(here.copied) and here.copied > here.mark:
        return (
            "Which brokers are in the ISR at that moment? The slowest of them decides.",
            "min.insync.replicas copies are enough to commit a record",
        )
    if said == str(here.end):
        return "Who else is in the ISR?", "a record is committed once it is written"
    if here.too_few and said == str(_held(seen)):
        return (
            "That is the rule from Kafka 3.7 on. Here the ISR alone decides: who is in it now?",
            "the high watermark waits while the ISR is smaller than min.insync.replicas",
        )
    if len(seen) > 1 and said == str(seen[-2].mark) and here.end == seen[-2].end:
        return (
            "Who left the ISR at this step? And who is the slowest of those that are left?",
            "the high watermark moves only when somebody copies",
        )
    return "Read the row ISR: how far has each of these brokers fetched?", ""


def _beyond(text: str, here: View) -> tuple[str, str]:
    """(hint, idea) about an offset where no log has anything."""
    if text.startswith("produce") and here.too_few:
        return (
            "The log ends before that. How large is the ISR, and what is min.insync.replicas?",
            "a leader alone in the ISR accepts everything",
        )
    return f"After this step the leader's log ends at {here.end}. What has been written so far?", ""


def _held(seen: Sequence[View]) -> int:
    """The high watermark if it waits while the ISR is too small: where it was before that."""
    return next((view.mark for view in reversed(seen) if not view.too_few), seen[0].mark)
