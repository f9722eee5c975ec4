"""What the recordings of real controllers come to, pair by pair, for the page."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tests.judge.skeleton.coverage import GUARD
from tests.judge.skeleton.judging import Judged


class JudgedBefore(NamedTuple):
    """A release at a metadata version, as it was asked: how much, and what decided.

    `decided` has, for each guard, how many answers hung on it. Of guards that refuse nothing the
    first few are counted only (`tests.judge.kraft.rules.ENOUGH`).
    """

    release: str
    metadata_version: str
    kafka: str
    requests: int
    differences: int
    decided: Mapping[str, int]


def judged_before(judged: Iterable[Judged]) -> tuple[JudgedBefore, ...]:
    """One for each pair that was judged."""
    return tuple(_of(one) for one in judged)


def _of(judged: Judged) -> JudgedBefore:
    release, _, metadata_version = judged.subject.partition("/")
    return JudgedBefore(
        release=release,
        metadata_version=metadata_version,
        kafka=judged.patch,
        requests=judged.turns,
        differences=len(judged.differences),
        decided={rule.name: n for rule, n in judged.hits.items() if n and rule.family == GUARD},
    )
