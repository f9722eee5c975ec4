"""The rules in force: a release per node, the metadata version, and guards switched by hand."""

from functools import cache

import msgspec
from msgspec import UNSET, UnsetType

from .guards import ELR, GUARDS, NATIVE, SPECIFIED, Guard, GuardKind, named
from .ids import CONTROLLER, BrokerId, host_of
from .releases import (
    METADATA_LEVEL,
    METADATA_VERSIONS,
    RELEASES,
    CodeVersion,
    Mode,
    Release,
    at_least,
    not_supported,
    supports,
)


class UnknownFeatureError(ValueError):
    """A release, metadata version or guard that does not exist; the message lists what does."""


class Features(msgspec.Struct, frozen=True, cache_hash=True):
    """The code of each node. Equal features give equal runs.

    `release` is the release of every node that `nodes` does not name. `overrides` are guards
    switched by hand, the last word on each, sorted by id. `elr` says that
    eligible.leader.replicas.version is 1 (KIP-966); it is unset for 0, so that what was written
    down before there was such a feature stays what it was.
    """

    release: str
    metadata_version: str
    nodes: tuple[tuple[BrokerId, str], ...] = ()
    overrides: tuple[tuple[str, bool], ...] = ()
    elr: bool | UnsetType = UNSET

    @property
    def has_elr(self) -> bool:
        """Whether the cluster has eligible leader replicas.

        Source: FeatureControlManager.isElrFeatureEnabled (4.3.1).
        """
        return self.elr is True

    @property
    def mode(self) -> Mode:
        """The keeper of the metadata: one cluster has one mode."""
        return RELEASES[self.release].mode

    def release_of(self, node: BrokerId) -> str:
        """The release of `node`: a control plane on a broker has that broker's."""
        if not self.nodes:
            return self.release
        host = host_of(node)
        return next((r for n, r in self.nodes if n == host), self.release)

    def code_of(self, node: BrokerId) -> CodeVersion:
        """The version of the code that `node` runs: what rules compare, never the names."""
        return RELEASES[self.release_of(node) if self.nodes else self.release].code

    def active(self, node: BrokerId) -> frozenset[str]:
        """Ids of the guards that act on `node`."""
        return _active(self, node)

    def alter_partition_version(self, sender: BrokerId, controller: BrokerId = CONTROLLER) -> int:
        """The version `sender` and `controller` agree on."""
        return min(_alter_partition_max(self, sender), _alter_partition_max(self, controller))

    def leaders_write_isr(self) -> bool:
        """Whether a leader writes the ISR to ZooKeeper by itself, and asks no controller."""
        # KIP-497 waits for an inter-broker protocol of its own: KafkaServer.startup (2.8.2).
        return not at_least(self.metadata_version, "2.7-IV2")

    def fetch_version(self) -> int:
        """The Fetch version of followers: ``903.fetch-epoch`` on lifts it to 15, off keeps 14."""
        # KIP-903, Compatibility, Deprecation, and Migration Plan, 3: Fetch version 15, the first
        # with the follower's epoch, waits for a metadata version that every broker understands.
        version = METADATA_VERSIONS[self.metadata_version].fetch
        if ("903.fetch-epoch", True) in self.overrides:
            return max(version, 15)
        return min(version, 14) if ("903.fetch-epoch", False) in self.overrides else version

    def assigns_directories(self) -> bool:
        """Whether the metadata has log directories.

        Source: MetadataVersion.isDirectoryAssignmentSupported (3.7.0).
        """
        return self.mode is Mode.KRAFT and at_least(self.metadata_version, "3.7-IV2")

    def label(self) -> str:
        """As on the command line: ``"3.5"``, ``"3.5/3.4-IV0"``, ``"3.5 -841 +903.…"``,
        ``"4.3 elr=1"``."""
        release = self.release
        if self.metadata_version != RELEASES[self.release].latest:
            release += f"/{self.metadata_version}"
        elr = [f"{ELR}=1"] if self.has_elr else []
        return " ".join([release, *elr, *_grouped(self.overrides, self.mode)])


def parse_features(
    kafka: str = "3.5", *, off: tuple[str, ...] = (), on: tuple[str, ...] = (), elr: int = 0
) -> Features:
    """Features from ``--kafka``, ``--elr``, ``--off`` and ``--on``; `off` is applied before `on`.

    Raises UnknownFeatureError naming what was wrong and what exists.
    """
    release, _, metadata_version = kafka.partition("/")
    features = Features(check_release(release), RELEASES[release].latest)
    if metadata_version:
        features = at_metadata_version(features, metadata_version)
    features = with_elr(features, elr)
    for name in off:
        features = switched(features, name, False)
    for name in on:
        features = switched(features, name, True)
    return fitting(features)


_FIRST_ELR, _DEFAULT_ELR = "4.0-IV1", "4.1-IV0"
"""The metadata versions that eligible.leader.replicas.version 1 needs, and comes with.

Source: EligibleLeaderReplicasVersion.ELRV_1 (4.3.1).
"""


def with_elr(features: Features, level: int) -> Features:
    """The same features with eligible.leader.replicas.version at `level`, 0 or 1.

    Raises UnknownFeatureError where a node's release or the metadata version is too old.
    """
    if level not in (0, 1):
        raise UnknownFeatureError(f"eligible.leader.replicas.version is 0 or 1, not {level}")
    if level == 0:
        return msgspec.structs.replace(features, elr=UNSET)
    releases = [RELEASES[r] for r in (features.release, *(r for _, r in features.nodes))]
    old = [r.name for r in releases if r.mode is Mode.ZOOKEEPER or r.code < (4, 0)]
    needs = "eligible leader replicas (KIP-966) need Kafka 4.0 or later"
    if old:
        raise UnknownFeatureError(f"{needs}, not {old[0]}")
    if not at_least(features.metadata_version, _FIRST_ELR):
        version = f"metadata version {_FIRST_ELR} or later, not {features.metadata_version}"
        raise UnknownFeatureError(f"{needs} and {version}")
    return msgspec.structs.replace(features, elr=True)


def default_elr(features: Features) -> int:
    """The level of eligible.leader.replicas.version in a new cluster: 1 from 4.1-IV0 on.

    Source: Feature.defaultLevel and EligibleLeaderReplicasVersion.ELRV_1 (4.1.2, 4.3.1).
    """
    return int(at_least(features.metadata_version, _DEFAULT_ELR))


def fitting(features: Features) -> Features:
    """`features` itself, if each guard that is switched on has what it acts on.

    Raises UnknownFeatureError for a guard that does not fit the release, and says what is lacking.
    """
    release = RELEASES[features.release]
    for guard in (GUARDS[id] for id, on in features.overrides if on and id in GUARDS):
        lacking = _lacking(guard, release)
        if lacking is not None:
            raise UnknownFeatureError(f"{guard.id} does not fit Kafka {release.name}: {lacking}")
    return features


def _lacking(guard: Guard, release: Release) -> str | None:
    """What a release has not that a guard needs; None if it fits, or changes nothing there."""
    proposed = {r.specified: name for name, r in RELEASES.items() if r.specified is not None}
    if guard.kip in proposed and guard.kip != release.specified:
        what = f"KIP-{guard.kip} was never built, and {release.name} has none of its messages"
        return f"{what}; `--kafka {proposed[guard.kip]}` has them"
    built_here = any(built.mode is release.mode for built in guard.built)
    if release.specified is None or guard.kip == release.specified or built_here:
        return None
    lacks = guard.requires or (
        "it is a rule of KRaft" if guard.built else "it is none of its rules"
    )
    return (
        f"it lacks what {guard.subject} is about ({lacks}): leaders there send IsrChange, which"
        " has no broker epochs, and the controller is that of 2.2"
    )


def check_release(release: str) -> str:
    """`release` itself; raises UnknownFeatureError with the list of releases."""
    if release in RELEASES:
        return release
    unknown, releases = f"unknown release {release!r}", ", ".join(RELEASES)
    raise UnknownFeatureError(f"{unknown}; the releases are {releases}")


def check_metadata_version(metadata_version: str) -> str:
    """`metadata_version` itself; raises UnknownFeatureError with the list of them."""
    if metadata_version in METADATA_LEVEL:
        return metadata_version
    unknown, levels = f"unknown metadata version {metadata_version!r}", ", ".join(METADATA_LEVEL)
    raise UnknownFeatureError(f"{unknown}; they are {levels}")


def check_features(features: Features) -> Features:
    """`features` itself; raises UnknownFeatureError for what no command line could ask for."""
    for release in (features.release, *(r for _, r in features.nodes)):
        check_release(release)
    at_metadata_version(features, features.metadata_version)
    if features.elr is False:
        raise UnknownFeatureError("elr is true, or left out")
    with_elr(features, int(features.has_elr))
    for _, release in features.nodes:
        if not supports(release, features.metadata_version):
            raise UnknownFeatureError(not_supported(release, features.metadata_version))
    for id, _ in features.overrides:
        if id not in GUARDS:
            raise UnknownFeatureError(f"unknown guard {id!r}; {_suggestion(id)}")
        if features.mode not in GUARDS[id].modes:
            raise UnknownFeatureError(of_another_mode(id, features.release))
    nodes, ids = [n for n, _ in features.nodes], [g for g, _ in features.overrides]
    if nodes != sorted(set(nodes)) or ids != sorted(set(ids)):
        raise UnknownFeatureError("nodes and guards are listed once each, in order")
    return features


def at_metadata_version(features: Features, metadata_version: str) -> Features:
    """The same features at another metadata version.

    Raises UnknownFeatureError when there is no such version, or when it is below the lowest or
    above the latest that the release knows.
    """
    check_metadata_version(metadata_version)
    if not supports(features.release, metadata_version):
        raise UnknownFeatureError(not_supported(features.release, metadata_version))
    return msgspec.structs.replace(features, metadata_version=metadata_version)


def switched(features: Features, name: str, on: bool) -> Features:
    """`features` with a guard, or with all that a name means (`guards.named`), switched on or off.

    Of a KIP's guards those are meant that the mode of `features` knows. Raises UnknownFeatureError
    when there is no such guard or KIP, or when all of them belong to the other mode.
    """
    ids = named(name)
    if not ids:
        raise UnknownFeatureError(f"unknown guard {name!r}; {_suggestion(name)}")
    guards = _of_mode(ids, features.mode)
    if not guards:
        lacking = _lacking(GUARDS[ids[0]], RELEASES[features.release])
        fits_not = f"{name} does not fit Kafka {features.release}: {lacking}"
        another = of_another_mode(name, features.release)
        raise UnknownFeatureError(another if lacking is None else fits_not)
    overrides = {**dict(features.overrides), **dict.fromkeys(guards, on)}
    return msgspec.structs.replace(features, overrides=tuple(sorted(overrides.items())))


def _of_mode(ids: tuple[str, ...], mode: Mode) -> tuple[str, ...]:
    return tuple(id for id in ids if mode in GUARDS[id].modes)


def of_another_mode(name: str, release: str) -> str:
    """Why a guard or a KIP cannot be switched at `release`; no stop at the end."""
    subjects = {g.id.split(".")[0] for g in GUARDS.values() if RELEASES[release].mode in g.modes}
    beginnings = f"guards that it knows begin with one of {', '.join(sorted(subjects))}"
    if RELEASES[release].mode is Mode.ZOOKEEPER:
        return f"{name} belongs to KRaft, and Kafka {release} has ZooKeeper; {beginnings}"
    return f"{name} belongs to clusters with ZooKeeper, and Kafka {release} has none; {beginnings}"


def _suggestion(name: str) -> str:
    subjects = sorted({g.split(".")[0] for g in GUARDS})
    subject = name.lower().removeprefix("kip-").split(".")[0]
    near = [g for g in GUARDS if g.startswith(subject + ".")]
    if near:
        groups = (f"{subject}.{word}" for word in (SPECIFIED, ELR))
        all_of = [group for group in groups if named(group)[1:]]
        return f"{subject} has {', '.join([*near, *all_of])}"
    return f"guards begin with one of {', '.join(subjects)}; `kiplab guards` lists them all"


@cache
def _active(features: Features, node: BrokerId) -> frozenset[str]:
    release = RELEASES[features.release_of(node)]
    overrides = dict(features.overrides)
    native = {
        g.id
        for g in GUARDS.values()
        # A release that is a KIP as it was written has each of its sentences.
        if (
            (g.kind in NATIVE and g.built_in(release))
            or (g.kind is GuardKind.FEATURE and features.has_elr and g.built_in(release))
            or (g.kind is GuardKind.AS_SPECIFIED and g.kip == release.specified is not None)
        )
        and (g.metadata_version is None or at_least(features.metadata_version, g.metadata_version))
    }
    return frozenset(g for g in GUARDS if overrides.get(g, g in native))


@cache
def _alter_partition_max(features: Features, node: BrokerId) -> int:
    lifted = [GUARDS[id].alter_partition_version or 0 for id, on in features.overrides if on]
    return max([RELEASES[features.release_of(node)].alter_partition, *lifted])


def _grouped(overrides: tuple[tuple[str, bool], ...], mode: Mode) -> list[str]:
    """A KIP whose refusals and rules all point one way is written as its bare number, and one of
    which several guards that no release has do as ``704.specified``.
    """
    words: list[str] = []
    left = dict(overrides)
    for subject in dict.fromkeys(id.split(".")[0] for id in left):
        for name, fewest in ((subject, 1), (f"{subject}.{SPECIFIED}", 2), (f"{subject}.{ELR}", 2)):
            ids = _of_mode(named(name), mode)
            for on, sign in ((False, "-"), (True, "+")):
                if len(ids) >= fewest and all(left.get(id) is on for id in ids):
                    words.append(sign + name)
                    left = {k: v for k, v in left.items() if k not in ids}
    return words + [("+" if on else "-") + id for id, on in left.items()]
