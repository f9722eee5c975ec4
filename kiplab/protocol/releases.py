"""Which release speaks which versions.

Two switches decide what Kafka does: the *release* of each node's code, and the cluster's finalized
*metadata version*. They are kept apart everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

RELEASES = ("3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9")

_METADATA_VERSIONS = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0"),
    *("3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0"),
    *("3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
)
METADATA_LEVEL = {name: level for level, name in enumerate(_METADATA_VERSIONS, start=1)}
"""Feature level of each metadata version: 3.0-IV1 is 1, 3.9-IV0 is 21."""

LATEST_METADATA_VERSION = {
    # 3.2 has no finalized metadata version; its gates follow inter.broker.protocol.version.
    "3.2": "3.2-IV0",
    "3.3": "3.3-IV3",
    "3.4": "3.4-IV0",
    "3.5": "3.5-IV2",
    "3.6": "3.6-IV2",
    "3.7": "3.7-IV4",
    "3.8": "3.8-IV0",
    "3.9": "3.9-IV0",
}

ALTER_PARTITION_MAX = dict(zip(RELEASES, (1, 2, 2, 3, 3, 3, 3, 3), strict=True))
"""Highest AlterPartition version; negotiated between the two ends, not gated by metadata version"""
REGISTER_BROKER_RECORD_VERSIONS = (("3.7-IV2", 3), ("3.4-IV0", 2), ("3.3-IV3", 1))


def since(release: str) -> tuple[str, ...]:
    """All releases from `release` on: ``since("3.8") == ("3.8", "3.9")``."""
    return RELEASES[RELEASES.index(release) :]


def at_least(metadata_version: str, wanted: str) -> bool:
    """Whether a feature gated at metadata version `wanted` is on."""
    return METADATA_LEVEL[metadata_version] >= METADATA_LEVEL[wanted]


def fetch_version(metadata_version: str) -> int:
    """The Fetch version followers use: it is gated by the metadata version.

    Below 3.1-IV0 it is 12; version 15, at 3.5-IV1, is the first that carries ReplicaEpoch.
    """
    gates = (("3.9-IV0", 17), ("3.7-IV4", 16), ("3.5-IV1", 15), ("3.5-IV0", 14), ("3.1-IV0", 13))
    return next((v for gate, v in gates if at_least(metadata_version, gate)), 12)


def supports(release: str, metadata_version: str) -> bool:
    """Whether code of `release` can run at `metadata_version` (none newer than its own latest)."""
    return at_least(LATEST_METADATA_VERSION[release], metadata_version)


def known_metadata_versions() -> Iterable[str]:
    """All metadata versions, oldest first."""
    return METADATA_LEVEL
