"""The guard table: every rule of the protocol that can be switched by name.

A guard is one sentence of a design document (or of a bug fix) turned into one check. This table is
the source of legends, rule pages, the widgets' switches and the explanations of refusals.
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import pairwise

import msgspec

from .errors import KafkaError
from .releases import RELEASES, CodeVersion, Mode, Release


class GuardKind(StrEnum):
    """The sort of sentence that a guard stands for."""

    REFUSAL = "refusal"
    """A receiver answers with an error."""
    RULE = "rule"
    """A node behaves differently; nothing is refused."""
    ALTERNATIVE = "alternative"
    """An alternative that a KIP rejected. Never on unless asked for by its full id."""
    AS_SPECIFIED = "as-specified"
    """A rule of a KIP, in its words or as kiplab reads it, that no release has. Never on unless
    asked for, by its full id or, for all of one KIP, by ``704.specified``."""
    FEATURE = "feature"
    """A rule that a release has where eligible.leader.replicas.version is 1, which is a feature of
    the cluster. A bare subject does not mean it; ``966.elr`` means all of that KIP."""


NATIVE = (GuardKind.REFUSAL, GuardKind.RULE)
"""Kinds that Kafka has: a release brings them, and a bare subject means them."""
_ZOOKEEPER = "zookeeper"
"""The beginning of the id of a guard that is older than KIPs."""
SPECIFIED = "specified"
"""``704.specified``: everything that KIP-704 wants and no release does."""
ELR = "elr"
"""``966.elr``: everything that the feature eligible leader replicas switches on."""
_GROUPS = {SPECIFIED: GuardKind.AS_SPECIFIED, ELR: GuardKind.FEATURE}
"""The words after a subject's dot that mean all its guards of one kind."""


class Built(msgspec.Struct, frozen=True):
    """The releases of one mode that have a guard, from one of them on."""

    mode: Mode
    first: CodeVersion | None = None
    """None is always: in every release of the mode."""

    def has(self, release: Release) -> bool:
        """Whether `release` is one of them."""
        later = self.first is None or release.code >= self.first
        return release.mode is self.mode and later


def since(release: str) -> Built:
    """From `release` on, in the mode of it; ``"kraft"`` or ``"zookeeper"`` is always in that mode.

    Raises ValueError where there is no such release.
    """
    if release in tuple(Mode):
        return Built(Mode(release))
    if release not in RELEASES:
        problem = f"a guard says since={release}, and there is no such release"
        raise ValueError(f"{problem}; they are {', '.join(RELEASES)}")
    return Built(RELEASES[release].mode, RELEASES[release].code)


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """One switchable rule.

    `kip` is None where a rule came with a bug fix and no KIP; `subject` then names the issue.
    `requires` names what must be there for the rule to act (a metadata version or a request
    version); switching the guard on by hand lifts that requirement with it.
    """

    id: str
    kip: int | None
    clause: str
    kind: GuardKind
    built: tuple[Built, ...]
    """One for each mode that has it; empty where no release ever had."""
    meant_for: tuple[Mode, ...] = ()
    """The modes that it would be in, where no release ever had it; empty is every mode."""
    error: KafkaError | None = None
    metadata_version: str | None = None
    alter_partition_version: int | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes where it can be switched: in another mode no rule asks for it."""
        return self.meant_for or tuple(built.mode for built in self.built) or tuple(Mode)

    def built_in(self, release: Release) -> bool:
        """Whether Kafka of `release` does what the guard says."""
        return any(built.has(release) for built in self.built)

    @property
    def releases(self) -> tuple[str, ...]:
        """Names of the releases that have it, in the order of their table."""
        return tuple(name for name, release in RELEASES.items() if self.built_in(release))

    @property
    def subject(self) -> str:
        """``"KIP-903"``, ``"KAFKA-7128"`` or ``"ZooKeeper"``."""
        subject = self.id.split(".")[0]
        if self.kip:
            return f"KIP-{self.kip}"
        return "ZooKeeper" if subject == _ZOOKEEPER else subject.upper()

    @property
    def requires(self) -> str | None:
        """In words, or None."""
        if self.kind is GuardKind.FEATURE:
            return "eligible.leader.replicas.version 1"
        if self.metadata_version:
            return f"metadata version {self.metadata_version}"
        if self.alter_partition_version:
            return f"AlterPartition version {self.alter_partition_version}"
        return None


_TABLE = (files(__package__) / "guards.txt").read_text("utf-8")
"""Of each guard its id, its kind and the other fields of `Guard`; below, indented, its clause.

`since` lists the releases that it came with, one for each mode that has it; `modes` are those that
one would be in that no release has.
"""


def _read(table: str) -> Iterator[Guard]:
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    heads = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    for at, end in pairwise([*heads, len(lines)]):
        yield _guard(lines[at], " ".join(line.strip() for line in lines[at + 1 : end]))


def _guard(head: str, clause: str) -> Guard:
    """Raises ValueError for a field that there is not, and KeyError for an unknown error."""
    id, kind, *words = head.split()
    fields = dict.fromkeys(_FIELDS, "") | dict(word.split("=", 1) for word in words)
    if len(fields) > len(_FIELDS):
        raise ValueError(f"guard {id}: the fields are {', '.join(_FIELDS)}, not {words}")
    subject, version = id.split(".")[0], fields["alter-partition"]
    return Guard(
        id=id,
        kip=int(subject) if subject.isdigit() else None,
        clause=clause,
        kind=GuardKind(kind),
        built=tuple(map(since, _listed(fields["since"]))),
        meant_for=tuple(map(Mode, _listed(fields["modes"]))),
        error=KafkaError[fields["error"]] if fields["error"] else None,
        metadata_version=fields["metadata"] or None,
        alter_partition_version=int(version) if version else None,
    )


_FIELDS = ("error", "since", "modes", "metadata", "alter-partition")


def _listed(words: str) -> list[str]:
    return words.split(",") if words else []


GUARDS: dict[str, Guard] = {guard.id: guard for guard in _read(_TABLE)}
"""Every guard by id, in Kafka's order of checks."""


@cache
def named(name: str) -> tuple[str, ...]:
    """The ids that a guard name means; empty when there is no such guard.

    A full id means itself. A bare subject (``903``, ``kip-903``, ``kafka-15021``) means its
    refusals and rules, never its alternatives; ``704.specified`` means what that KIP wants and no
    release does, ``966.elr`` the rules of the feature. A subject that has nothing but rules of a
    feature means these.
    """
    wanted = name.lower().removeprefix("kip-")
    if wanted in GUARDS:
        return (wanted,)
    subject, dot, word = wanted.partition(".")
    if dot and word not in _GROUPS:
        return ()
    of_subject = [g for g in GUARDS.values() if g.id.split(".")[0] == subject]
    kinds = (_GROUPS[word],) if dot else NATIVE
    if all(g.kind is GuardKind.FEATURE for g in of_subject):
        kinds = (GuardKind.FEATURE,)
    return tuple(g.id for g in of_subject if g.kind in kinds)


def releases_in(mode: Mode, guard: Guard) -> str:
    """For one mode, which is not named: ``"3.5 and later"``, ``"all"`` or ``"never
    built"``.
    """
    built = next((built for built in guard.built if built.mode is mode), None)
    if built is None:
        return "never built"
    return "all" if built.first is None else _releases_of(guard, built)


def releases_of(guard: Guard) -> str:
    """``"3.5 and later"``, ``"all"``, ``"all of KRaft; zk-2.8 and later"`` or ``"never built"``."""
    if not guard.built:
        return "never built"
    always = {built.mode for built in guard.built if built.first is None}
    if always == set(Mode):
        return "all"
    return "; ".join(_releases_of(guard, built) for built in guard.built)


_ALL_OF = {Mode.KRAFT: "all of KRaft", Mode.ZOOKEEPER: "all with ZooKeeper"}


def _releases_of(guard: Guard, built: Built) -> str:
    if built.first is None:
        return _ALL_OF[built.mode]
    first = next(name for name in guard.releases if RELEASES[name].mode is built.mode)
    return f"{first} and later"
