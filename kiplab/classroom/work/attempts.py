"""The exercises as a lab asks them: each check is judged as ever, and the attempt is kept.

The checks themselves keep nothing; they are in `exercises/`. They say all there is to say about an
answer, and here it is told little by little, attempt by attempt. A check under other rules
(``kafka="3.7"``) is an experiment: it is not kept, and told as much as the next attempt would be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from msgspec.structs import replace

from ..exercises import (
    believed_incarnations,
    closing_the_hole,
    committed,
    epochs,
    falling_sessions,
    first_failing_rule,
    honest_refusals,
    late_mail,
    losing_order,
    losing_schedule,
    make_or_break,
    missing_rule,
    one_record_lost,
    proofs,
    race,
    reading_rates,
    safer_fleet,
    swapped_requests,
    three_businesses,
    timeline_reading,
    two_timeouts,
    unharmed_loss,
    vanishing_offsets,
    watermark,
    what_became,
    what_they_notice,
    why_from_fetch,
)
from ..exercises.check_result import Checked
from . import answered, unreadable_work, work_on_disk

_P = ParamSpec("_P")
_Check = Callable[Concatenate[object, _P], Checked]


def keeping(id: str, check: _Check[_P]) -> _Check[_P]:
    """`check`, with each attempt kept under `id`."""

    @wraps(check)
    def checked(answer: object, /, *args: _P.args, **options: _P.kwargs) -> Checked:
        found = check(answer, *args, **options)
        if args or options:
            return found.at_attempt(_before(id).attempts + 1)
        return noted(id, answer, found)

    return checked


def noted(id: str, answer: object, found: Checked) -> Checked:
    """`found`, kept, and as much of it as is told by now; it says so, or why it is not kept.

    No answer yet is no attempt, and the same answer once more is none either.
    """
    if not found.attempted:
        return found
    tried = work_on_disk.Try(_shown(answer, found), found.points, found.hint, found.misconception)
    said = _kept(id, tried, found.of)
    answered.tell(id)
    return replace(found.at_attempt(_before(id).attempts), kept=said)


def _before(id: str) -> work_on_disk.Exercise:
    """The attempts so far."""
    return work_on_disk.read().exercises.get(id, work_on_disk.Exercise())


def _kept(id: str, tried: work_on_disk.Try, of: int) -> str:
    """Keep an attempt, and say so, or why not."""
    aside, before = work_on_disk.damaged_files(), _before(id)
    if before.tries[-1:] == (tried,) and not work_on_disk.unwritten():
        return f"(The same answer as before: it stays attempt {before.attempts}.)"
    try:
        exercise = work_on_disk.note(id, tried, of)
    except OSError as problem:
        return f"This cannot be {unreadable_work.nowhere(problem)}. {unreadable_work.remedy()}"
    said = f"Kept as attempt {exercise.attempts}; your best so far: {exercise.best}/{exercise.of}."
    return f"({said}{unreadable_work.set_aside_since(aside)})"


def _shown(answer: object, found: Checked) -> str:
    """The answer as text: what was typed, or else the run that it is."""
    if isinstance(answer, str):
        text = answer
    elif isinstance(answer, list | tuple):
        text = ", ".join(str(part) for part in answer)
    else:
        text = found.token or repr(answer)
    return text[: work_on_disk.ANSWER_MAX]


check_reading = keeping("start/reading", timeline_reading.check_reading)
check_accepted = keeping("start/accepted", make_or_break.check_accepted)
check_acknowledged = keeping("isr/acknowledged", committed.check_acknowledged)
check_high_watermark = keeping("isr/high-watermark", watermark.check_high_watermark)
check_schedules = keeping("isr/schedules", committed.check_schedules)
check_lose_acknowledged = keeping("isr/lose-acknowledged", make_or_break.check_lose_acknowledged)
check_epochs = keeping("epochs/twelve", epochs.check_epochs)
check_fences = keeping("epochs/fences", epochs.check_fences)
check_reigns = keeping("epochs/reigns", make_or_break.check_reigns)
check_first_rule = keeping("conversation/first-rule", first_failing_rule.check_first_rule)
check_refusals = keeping("conversation/refusals", honest_refusals.check_refusals)
check_window = keeping("kafka-14139/window", race.check_window)
check_two_by_two = keeping("kafka-14139/two-by-two", race.check_two_by_two)
check_order = keeping("kafka-14139/order", losing_order.check_order)
check_last_replica = keeping("kafka-14139/last-replica", race.check_last_replica)
check_epoch_sources = keeping("fetch/sources", why_from_fetch.check_epoch_sources)
check_bump_price = keeping("fetch/price", why_from_fetch.check_bump_price)
check_old_fetch = keeping("fetch/old-fetch", why_from_fetch.check_old_fetch)
check_vanishing = keeping("recovery/vanishing", vanishing_offsets.check_vanishing)
check_what_they_notice = keeping("recovery/consumers", what_they_notice.check_what_they_notice)
check_businesses = keeping("recovery/businesses", three_businesses.check_businesses)
check_lose_one = keeping("recovery/lose-one", one_record_lost.check_lose_one)
check_symptoms = keeping("bounce/symptoms", late_mail.check_symptoms)
check_who_objects = keeping("bounce/who-objects", late_mail.check_who_objects)
check_needed_checks = keeping("bounce/needed", late_mail.check_needed_checks)
check_session_ids = keeping("bounce/session-ids", falling_sessions.check_session_ids)
check_timeouts = keeping("heartbeats/timeouts", two_timeouts.check_timeouts)
check_incarnations = keeping("heartbeats/incarnations", believed_incarnations.check_incarnations)
check_swapped = keeping("heartbeats/swapped", swapped_requests.check_swapped)
check_fates = keeping("heartbeats/fates", what_became.check_fates)
check_proof = keeping("explorer/proof", proofs.check_proof)
check_missing_guard = keeping("explorer/missing-guard", missing_rule.check_missing_guard)
check_holes = keeping("explorer/holes", proofs.check_holes)
check_shorter = keeping("explorer/shorter", losing_schedule.check_shorter)
check_rates = keeping("fleet/rates", reading_rates.check_rates)
check_safer_fleet = keeping("fleet/safer", safer_fleet.check_safer_fleet)
check_what_saves = keeping("hole/what-saves", closing_the_hole.check_what_saves)
check_what_closes = keeping("hole/what-closes", closing_the_hole.check_what_closes)
check_nobody_dies = keeping("hole/nobody-dies", unharmed_loss.check_nobody_dies)
