"""The versions that each release speaks: one entry a release, and the only place for them.

Eligible leader replicas (KIP-966), from 4.0 on, are a feature of the cluster and of no release:
`features.Features.elr`.

Two switches decide Kafka's behaviour: the *release* of each node's code, and the cluster's
finalized *metadata version*. They are kept apart everywhere. Plays, tokens and JSON write a release
by its name (``"3.5"``); rules never compare names, but ask for the version of the code behind it.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import msgspec


class Mode(StrEnum):
    """The keeper of a cluster's metadata. A release belongs to one mode."""

    ZOOKEEPER = "zookeeper"
    """ZooKeeper keeps it, and one of the brokers is the controller."""
    KRAFT = "kraft"
    """Controllers keep it in a log of their own."""


class CodeVersion(NamedTuple):
    """The version of Kafka's code, in order: 3.9 is before 3.10.

    Rules ask with ``<`` and ``>=`` alone, and give as many numbers as they mean: ``< (3, 3)`` is
    3.2 or older, ``>= (3, 7)`` is 3.7 and later. The same numbers are the same code in every mode.
    """

    major: int
    minor: int
    patch: int = 0


class MetadataVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A metadata version, with the versions of requests and records that it gates.

    In ZooKeeper's time the same thing is inter.broker.protocol.version, and there are no records:
    -1.
    """

    name: str
    fetch: int
    """Fetch version of followers; 15 is the first that carries ReplicaEpoch."""
    register_broker_record: int
    partition_change_record: int


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """All that depends on a release alone. No field has a default: an entry says everything."""

    name: str
    mode: Mode
    code: CodeVersion
    brings: tuple[MetadataVersion, ...]
    """Metadata versions that no earlier entry has, oldest first."""
    lowest: str
    """The lowest metadata version that its code runs at."""
    latest: str
    """The latest, and the one that a cluster has unless another is asked for."""
    alter_partition: int
    """Highest AlterPartition version: negotiated between two ends, no metadata version gates it.
    NEVER_SPOKEN for releases whose leaders write the ISR to ZooKeeper themselves."""
    oldest_alter_partition: int
    """The lowest one that it still speaks."""
    specified: int | None
    """The KIP of which it does everything that the text wants; None for what was ever released."""


NEVER_SPOKEN = -1
"""The version of a request that a release does not have."""
# Kafka's MetadataVersion at each release: up to 3.9 the lowest is MINIMUM_KRAFT_VERSION, at which a
# cluster runs that came from 3.2 and never finalized one. 3.2 itself has no finalized version: its
# gates follow inter.broker.protocol.version. KIP-343 is of 2018, of the time of 2.1 and 2.2, and
# was never built: the code of 2.2 with it.
_TABLE = (files(__package__) / "releases.txt").read_text("utf-8")
"""Of each release its name, its mode and the other fields of `Release`; below, indented, the
metadata versions that it brings, behind what they gate.
"""


def _read(table: str) -> Iterator[Release]:
    """Raises KeyError for a field that an entry does not name."""
    lines = table.strip().splitlines()
    heads = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    for at, end in pairwise([*heads, len(lines)]):
        name, mode, *words = lines[at].split()
        fields = _fields(words)
        oldest, highest = map(int, fields["alter-partition"].split(".."))
        yield Release(
            name=name,
            mode=Mode(mode),
            code=CodeVersion(*map(int, fields["code"].split("."))),
            brings=tuple(version for line in lines[at + 1 : end] for version in _gated(line)),
            lowest=fields["lowest"],
            latest=fields["latest"],
            alter_partition=highest,
            oldest_alter_partition=oldest,
            specified=int(fields["specified"]) if "specified" in fields else None,
        )


def _gated(line: str) -> Iterator[MetadataVersion]:
    words, _, names = line.partition(":")
    gates = _fields(words.split())
    for name in names.split():
        yield MetadataVersion(
            name=name,
            fetch=int(gates["fetch"]),
            register_broker_record=int(gates["register"]),
            partition_change_record=int(gates["change"]),
        )


def _fields(words: Iterable[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def metadata_versions_of(entries: Iterable[Release]) -> dict[str, MetadataVersion]:
    """The metadata versions that the entries bring, oldest first."""
    return {version.name: version for entry in entries for version in entry.brings}


def checked(entries: tuple[Release, ...]) -> dict[str, Release]:
    """The entries by name, in their order.

    Raises ValueError where two entries bring or are the same, where a mode's releases or the
    metadata versions are not in order, where a later one speaks an older version of a request or a
    record, or where a bound is no metadata version of the table or the two are the wrong way round.
    """
    brought = [version.name for entry in entries for version in entry.brings]
    _each_once("release", [entry.name for entry in entries])
    _each_once("metadata version", brought)
    for before, entry in pairwise(entries):
        same_code = entry.specified is not None and before.code == entry.code
        if entry.mode is before.mode and not (same_code or before.code < entry.code):
            raise ValueError(f"release {entry.name} stands after {before.name}; oldest first")
        if entry.mode is before.mode and entry.alter_partition < before.alter_partition:
            said = f"release {entry.name}: alter_partition={entry.alter_partition}"
            raise ValueError(f"{said}, and {before.name} speaks {before.alter_partition} already")
    _in_order([version for entry in entries for version in entry.brings])
    for entry in entries:
        for field, bound in (("lowest", entry.lowest), ("latest", entry.latest)):
            if bound not in brought:
                problem = f"release {entry.name}: {field}={bound!r}, and no entry brings that"
                raise ValueError(f"{problem} metadata version; they are {', '.join(brought)}")
        if brought.index(entry.lowest) > brought.index(entry.latest):
            problem = f"release {entry.name}: lowest={entry.lowest!r} is newer than"
            raise ValueError(f"{problem} latest={entry.latest!r}")
    return {entry.name: entry for entry in entries}


def _in_order(versions: list[MetadataVersion]) -> None:
    for before, version in pairwise(versions):
        if not _numbers(before.name) < _numbers(version.name):
            problem = f"metadata version {version.name} stands after {before.name}"
            raise ValueError(f"{problem}; oldest first")
        for gate in ("fetch", "register_broker_record", "partition_change_record"):
            now, then = getattr(version, gate), getattr(before, gate)
            if now < then:
                problem = f"metadata version {version.name}: {gate}={now}"
                raise ValueError(f"{problem}, and {before.name} gates {then} already")


def _numbers(name: str) -> tuple[int, ...]:
    """``(3, 7, 2)`` of ``"3.7-IV2"``."""
    return tuple(int(number) for number in re.findall(r"\d+", name))


def _each_once(what: str, names: list[str]) -> None:
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{what} {twice[0]} has two entries; one is enough")


RELEASES = checked(tuple(_read(_TABLE)))
"""Every release by name, the oldest of its mode first."""
METADATA_VERSIONS = metadata_versions_of(RELEASES.values())
"""Every metadata version by name, oldest first."""


def of_mode(mode: Mode) -> tuple[str, ...]:
    """Names of the releases of a mode, the oldest first."""
    return tuple(name for name, release in RELEASES.items() if release.mode is mode)


_FIRST_LEVEL = 1 - list(METADATA_VERSIONS).index("3.0-IV1")
METADATA_LEVEL = {name: at for at, name in enumerate(METADATA_VERSIONS, start=_FIRST_LEVEL)}
"""Feature level of each metadata version: 3.0-IV1 is 1, 4.3-IV0 is 30; what is older has none in
Kafka, and one below 1 here, for the order.
"""


def at_least(metadata_version: str, first: str) -> bool:
    """Whether a feature gated at metadata version `first` is on."""
    return METADATA_LEVEL[metadata_version] >= METADATA_LEVEL[first]


def supports(release: str, metadata_version: str) -> bool:
    """Whether code of `release` can run at `metadata_version`: from its lowest to its latest."""
    entry = RELEASES[release]
    return at_least(metadata_version, entry.lowest) and at_least(entry.latest, metadata_version)


def known_to(release: str) -> str:
    """Both bounds in words: ``"3.0-IV1 to 3.4-IV0"``."""
    return f"{RELEASES[release].lowest} to {RELEASES[release].latest}"


def not_supported(release: str, metadata_version: str) -> str:
    """Why `release` does not run at `metadata_version`, with both bounds; no stop at the end."""
    unknown = f"Kafka {release} does not know metadata version {metadata_version}"
    return f"{unknown}; it knows {known_to(release)}"
