"""Passages in lines to read, where two of a situation differ, and as they are kept."""

import json
from collections.abc import Iterator, Sequence
from difflib import ndiff
from itertools import zip_longest
from typing import Any

import msgspec

from kiplab.judge.zookeeper_era import real_control_requests, sequences

_NOTHING = sequences.Passage("(nothing)", 0)
_LINES_DOWN_TO = 4
"""How deep what has a line of its own may be: situations, passages, requests."""


def passage_lines(passage: sequences.Passage) -> Iterator[str]:
    """What was heard, one request in a line, under its title."""
    yield f"- {passage.title}"
    yield from (f"    {request_text(request)}" for request in passage.requests)
    yield from (f"    {answer_text(answer)}" for answer in passage.answers)
    yield from (f"    {alter_text(answer)}" for answer in passage.altered)
    states = (znode_text(znode) for znode in passage.znodes)
    yield "    " + " | ".join((f"controller epoch {passage.controller_epoch}", *states))


def difference_lines(
    expected: Sequence[sequences.Passage],
    heard: Sequence[sequences.Passage],
    *,
    names: tuple[str, str],
) -> Iterator[str]:
    """Passages that differ, ``-`` before what only the first has and ``+`` before what only the
    second has; `names` are who they are. Nothing where both are alike.
    """
    for one, other in zip_longest(expected, heard, fillvalue=_NOTHING):
        if one != other:
            yield f"- only {names[0]}, + only {names[1]}:"
            yield from _compared(one, other)


def _compared(one: sequences.Passage, other: sequences.Passage) -> Iterator[str]:
    told = ndiff(list(passage_lines(one)), list(passage_lines(other)))
    yield from (line for line in told if not line.startswith("?"))


def request_text(sent: sequences.SentRequest) -> str:
    """``->b1[b1g2] UpdateMetadata v5 of 0 epoch 1 for b1g2 full F(...) live [0, 1] => 0``."""
    stamped = "without epoch" if sent.stamped == sequences.NO_EPOCH else f"for {sent.stamped}"
    parts = [
        f"->b{sent.broker}[{sent.generation}] {sent.api} v{sent.version}",
        f"of {sent.sender} epoch {sent.controller_epoch} {stamped}",
        "full" if sent.full else "",
        *(_partition_text(partition) for partition in sent.partitions),
        *(_stopped_text(replica) for replica in sent.stopped),
        f"live {list(sent.live)}" if sent.live else "",
        f"=> {sent.answer}",
    ]
    return " ".join(filter(None, parts))


def answer_text(answer: sequences.ShutdownAnswer) -> str:
    """``ControlledShutdown(1) for b1g1 => 77``."""
    left = f", still leads {', '.join(answer.remaining)}" if answer.remaining else ""
    stamped = "without epoch" if answer.stamped == sequences.NO_EPOCH else f"for {answer.stamped}"
    return f"ControlledShutdown({answer.broker}) {stamped} => {answer.error}{left}"


def alter_text(answer: sequences.AlterAnswer) -> str:
    """``AlterPartition v2 of 2 for b2g1 => 0; F: error 107``."""
    stamped = "without epoch" if answer.stamped == sequences.NO_EPOCH else f"for {answer.stamped}"
    results = "".join(f"; {_altered_text(result)}" for result in answer.partitions)
    asked = f"AlterPartition v{answer.version} of {answer.broker}"
    return f"{asked} {stamped} => {answer.error}{results}"


def _altered_text(result: sequences.AlteredPartition) -> str:
    if result.error:
        return f"{result.topic}: error {result.error}"
    recovering = " RECOVERING" if result.leader_recovery_state else ""
    state = f"leader {result.leader} epoch {result.leader_epoch} ISR {list(result.isr)}"
    return f"{result.topic}: {state} version {result.zk_version}{recovering}"


def znode_text(znode: sequences.StateZnode) -> str:
    """``F: leader 2 epoch 1 ISR [2] version 1``."""
    recovering = " RECOVERING" if znode.leader_recovery_state else ""
    leader = f"leader {znode.leader} epoch {znode.leader_epoch} ISR {list(znode.isr)}"
    appointed = f"by controller epoch {znode.controller_epoch}"
    return f"{znode.topic}: {leader} version {znode.zk_version} {appointed}{recovering}"


def _partition_text(partition: sequences.SentPartition) -> str:
    words = [
        f"leader {partition.leader}",
        f"epoch {partition.leader_epoch}",
        f"ISR {list(partition.isr)}",
        f"version {partition.zk_version}",
        f"of {list(partition.replicas)}",
        f"offline {list(partition.offline)}" if partition.offline else "",
        "new" if partition.is_new else "",
        "RECOVERING" if partition.leader_recovery_state else "",
        f"by controller epoch {partition.controller_epoch}",
    ]
    return f"{partition.topic}({' '.join(filter(None, words))})"


def _stopped_text(replica: sequences.StoppedReplica) -> str:
    epoch = "" if replica.leader_epoch is None else f" epoch {replica.leader_epoch}"
    return f"{replica.topic}({'delete' if replica.delete else 'stop'}{epoch})"


# --- kept ----------------------------------------------------------------------------------------


def keep_sequences(patch: str, heard: real_control_requests.Heard) -> None:
    """Write what was heard beside what is recorded of other situations, one request a line."""
    kept = msgspec.to_builtins(real_control_requests.recorded_sequences(patch) | heard)
    real_control_requests.SEQUENCES.mkdir(exist_ok=True)
    text = "".join(_text(kept, 0))
    (real_control_requests.SEQUENCES / f"{patch}.json").write_text(f"{text}\n")
    real_control_requests.recorded_sequences.cache_clear()


def _text(value: Any, depth: int) -> Iterator[str]:
    if not value or depth == _LINES_DOWN_TO or not isinstance(value, (dict, tuple, list)):
        yield json.dumps(value, separators=(",", ":"))
        return
    named = value.items() if isinstance(value, dict) else (("", inner) for inner in value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    for place, (name, inner) in enumerate(named):
        key = f"{json.dumps(name)}: " if isinstance(value, dict) else ""
        yield f"{',' if place else ''}\n{' ' * (depth + 1)}{key}"
        yield from _text(inner, depth + 1)
    yield f"\n{' ' * depth}{closing}"
