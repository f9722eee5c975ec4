"""The patch release of Kafka that is run for each release of the engine: the last one of each."""

from ...machine import LackingError
from ...protocol.features import UnknownFeatureError
from ...protocol.releases import RELEASES

LAST_PATCH = {
    "3.2": 3,
    "3.3": 2,
    "3.4": 1,
    "3.5": 2,
    "3.6": 2,
    "3.7": 2,
    "3.8": 1,
    "3.9": 1,
    "4.0": 2,
    "4.1": 2,
    "4.2": 2,
    "4.3": 1,
}
"""By the name of a release. Every KRaft release has one, a test says."""
ZOOKEEPER_PATCHES = {
    "zk-2.1": "2.1.1",
    "zk-2.2": "2.2.2",
    "zk-2.5.0": "2.5.0",
    "zk-2.6": "2.6.3",
    "zk-2.8": "2.8.2",
    "zk-3.4": "3.4.1",
}
"""The patch release for each release whose clusters are kept by ZooKeeper."""

MEGABYTES = 50
"""What the jars of one release take on disk, at most."""
SECONDS = 10
"""About what fetching them takes, where the network is quick."""


class UnjudgedReleaseError(UnknownFeatureError):
    """A release that no real Kafka stands for; the message lists those that one does."""


def patch_release(name: str) -> str:
    """``"3.4.1"`` for ``"3.4"`` and for itself. Raises UnjudgedReleaseError for any other name."""
    before, _, patch = name.rpartition(".")
    release = before if patch.isdecimal() and name not in LAST_PATCH else name
    if release not in LAST_PATCH or release not in RELEASES:
        releases = ", ".join(f"{r} ({r}.{patch})" for r, patch in LAST_PATCH.items())
        raise UnjudgedReleaseError(f"no Kafka {name!r} can be run; there are {releases}")
    return f"{name}.{LAST_PATCH[name]}" if name == release else name


def zookeeper_release(name: str) -> str:
    """``"zk-2.2"`` for that and for ``"2.2.2"``. Raises UnjudgedReleaseError for any other name."""
    by_patch = {patch: release for release, patch in ZOOKEEPER_PATCHES.items()}
    if name in ZOOKEEPER_PATCHES or name in by_patch:
        return by_patch.get(name, name)
    releases = ", ".join(f"{release} ({patch})" for release, patch in ZOOKEEPER_PATCHES.items())
    raise UnjudgedReleaseError(
        f"no Kafka {name!r} can be run for a play with ZooKeeper; there are {releases}"
    )


class MissingKafkaError(LackingError):
    """Java, a way to fetch Kafka, or Kafka itself is missing."""


class UnpublishedReleaseError(MissingKafkaError):
    """Whoever publishes Kafka's jars was asked, and has no such release."""
