"""Which releases are judged at which metadata versions."""

from typing import NamedTuple

from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.releases import METADATA_VERSIONS, RELEASES, Mode, Release, at_least, supports

LOWEST_FORMATTED = "3.3-IV0"
"""Kafka formats no storage below it, but for 3.2, which knows no metadata versions."""
BEFORE_LOG_DIRECTORIES = "3.5-IV2"
"""Below the gates that later releases bring; KAFKA-16624 shows at 3.7 there and nowhere else."""
QUESTIONS = 60
"""Of one conversation."""
CONVERSATIONS, RAISING = 118, 12
"""Of one pair: so many first, then so many that may raise the metadata version, if there is a newer
one.
"""
PAIRS_OF_A_RELEASE = 3
"""A release with fewer pairs is asked more at each: every rule needs its hits."""
WITH_ELR = "+elr"
"""Behind the name of a pair: its cluster has eligible leader replicas (KIP-966)."""
APART = 1_000
"""Conversations of two pairs are this far apart: what is rare is met by one of them."""


class Seed(NamedTuple):
    """Which conversation, and whether the metadata version may rise on the way."""

    number: int
    raises: bool = False


class JudgedPair(NamedTuple):
    """A release, the metadata version that its conversations begin at, and the level of
    eligible.leader.replicas.version.
    """

    release: str
    metadata_version: str
    elr: int = 0

    @property
    def features(self) -> Features:
        """What the engine is asked with."""
        return parse_features(f"{self.release}/{self.metadata_version}", elr=self.elr)

    @property
    def is_newest(self) -> bool:
        """Whether that is the metadata version that the release has by itself."""
        return RELEASES[self.release].latest == self.metadata_version

    def __str__(self) -> str:
        return f"{self.release}/{self.metadata_version}{WITH_ELR if self.elr else ''}"


def judged_pairs() -> tuple[JudgedPair, ...]:
    """Every KRaft release at the newest metadata version and at two older ones, where it can; then
    those that have eligible leader replicas, with them.
    """
    kraft = [release for release in RELEASES.values() if release.mode is Mode.KRAFT]
    without = tuple(pair for release in kraft for pair in _pairs_of(release))
    having = (release for release in kraft if release.code >= (4, 0))
    return (*without, *(JudgedPair(release.name, release.latest, elr=1) for release in having))


def seeds_for(pair: JudgedPair, first: int | None = None, count: int | None = None) -> list[Seed]:
    """The conversations of `pair`, numbered from `first` on; else it has numbers of its own."""
    pairs = judged_pairs()
    if first is None:
        first = APART * pairs.index(pair) if pair in pairs else APART * len(pairs)
    kind = (pair.release, pair.elr)
    fellows = sum(1 for other in pairs if (other.release, other.elr) == kind)
    many = count or CONVERSATIONS * PAIRS_OF_A_RELEASE // fellows
    raising = 0 if pair.is_newest else RAISING
    return [Seed(first + n, n >= many) for n in range(many + raising)]


def pair_named(name: str) -> JudgedPair:
    """The pair of ``"3.7"``, ``"3.7/3.5-IV2"`` or ``"4.3+elr"``. Raises UnknownFeatureError for
    another name.
    """
    features = parse_features(name.removesuffix(WITH_ELR), elr=int(name.endswith(WITH_ELR)))
    return JudgedPair(features.release, features.metadata_version, int(features.has_elr))


def _pairs_of(release: Release) -> list[JudgedPair]:
    *older, newest = _formatted(release)
    chosen = [newest]
    if older:
        middle = older[len(older) // 2]
        chosen += [BEFORE_LOG_DIRECTORIES if BEFORE_LOG_DIRECTORIES in older else middle, older[0]]
    return [JudgedPair(release.name, version) for version in dict.fromkeys(chosen)]


def _formatted(release: Release) -> list[str]:
    """The metadata versions that a cluster of it may begin at, oldest first."""
    if not at_least(release.latest, LOWEST_FORMATTED):
        return [release.latest]
    return [
        version
        for version in METADATA_VERSIONS
        if supports(release.name, version) and at_least(version, LOWEST_FORMATTED)
    ]
