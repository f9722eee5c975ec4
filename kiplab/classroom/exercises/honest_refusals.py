"""Exercise: have the controller refuse a leader for three different reasons, and nobody forges."""

from __future__ import annotations

from ...plays.verdict import refused
from ...protocol.errors import KafkaError
from .check_result import Checked
from .own_runs import own_run, token_of

SITUATION = "isr-two-of-three"
"""The play whose situation and rules the exercise begins with."""
ERRORS = 3
"""How many different ones are asked for."""
_HINTS = {
    KafkaError.INELIGIBLE_REPLICA.name: (
        "What if the broker that is asked for is fenced before the request arrives?"
    ),
    KafkaError.FENCED_LEADER_EPOCH.name: (
        "Up to 3.5 an ISR that shrinks begins a new reign. Who could leave it, while a request is"
        " on its way?"
    ),
    KafkaError.STALE_BROKER_EPOCH.name: (
        "What if the leader itself begins another life, while its request is on its way?"
    ),
}
"""What leads to an error that is not there yet."""


def check_refusals(answer: object) -> Checked:
    """Judge a run of ``isr-two-of-three``: a point for each error that AlterPartition is refused
    with, up to ERRORS. Raw requests are no answer.
    """
    stage = own_run(answer, SITUATION, ERRORS)
    if isinstance(stage, Checked):
        return stage
    met = [str(r["error"]) for r in refused(stage) if r["request"] == "alter-partition"]
    errors = list(dict.fromkeys(met))
    missing = [hint for error, hint in _HINTS.items() if error not in errors]
    alike = len(met) > len(errors)
    return Checked(
        points=min(len(errors), ERRORS),
        of=ERRORS,
        message=_message(errors),
        hint="" if len(errors) >= ERRORS else _hint(met, missing),
        misconception="a late request is a late request" if alike and missing else "",
        token=token_of(stage),
    )


def _message(errors: list[str]) -> str:
    told = ", ".join(errors)
    if len(errors) >= ERRORS:
        return f"Refused for three reasons, and nobody has forged a thing: {told}."
    if not errors:
        return "No AlterPartition request is refused here."
    return f"Refused so far: {told}."


def _hint(met: list[str], missing: list[str]) -> str:
    if met:
        return missing[0]
    return (
        "Hold the request of the leader, let something happen that it does not know, and only then"
        " let it arrive."
    )
