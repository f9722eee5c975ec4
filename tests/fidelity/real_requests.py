"""What the recordings of real controllers come to, pair by pair, for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kiplab.judge.corpus.controller_rules import Family
from kiplab.judge.corpus.judging import Judged


class JudgedBefore(NamedTuple):
    """A release at a metadata version, as it was asked: how much, and what decided.

    `decided` has, for each guard, how many answers hung on it. Of guards that refuse nothing the
    first few are counted only (`rule_coverage.ENOUGH`).
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
    hits = judged.coverage.hits
    return JudgedBefore(
        release=judged.pair.release,
        metadata_version=judged.pair.metadata_version,
        kafka=judged.patch,
        requests=judged.requests,
        differences=len(judged.differences),
        decided={rule.name: n for rule, n in hits.items() if n and rule.family is Family.GUARD},
    )
