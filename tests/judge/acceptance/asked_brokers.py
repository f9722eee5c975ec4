"""Which real brokers are asked, and in which versions."""

from __future__ import annotations

from typing import NamedTuple

from kiplab.judge.real_checkpoint import UnaskedBrokerError

from .control_bodies import SPOKEN, SpokenVersions

ASKED_PATCHES = ("2.1.1", "2.2.2", "2.5.0", "2.5.1", "2.6.3", "2.8.2", "3.4.0", "3.4.1")
"""Releases on both sides of every rule that changed: 2.5.1 takes a newer broker epoch, 3.4.1 an
equal leader epoch in StopReplica.
"""
AT_OLDER_PROTOCOL = ("2.2.2/2.1", "3.4.1/2.1")
"""Brokers whose inter-broker protocol is still that of 2.1, as in the middle of a rolling upgrade:
it has no broker epochs.
"""
ASKED = (*ASKED_PATCHES, *AT_OLDER_PROTOCOL)


class AskedBroker(NamedTuple):
    """A broker that is asked: `protocol` is its inter-broker protocol."""

    patch: str
    protocol: str

    @property
    def versions(self) -> SpokenVersions:
        """The versions in which a controller of the same protocol asks it."""
        return SPOKEN[self.protocol]

    @property
    def settings(self) -> dict[str, str]:
        """What it is started with, besides what all are."""
        return {"inter.broker.protocol.version": self.protocol}


def asked_broker(name: str) -> AskedBroker:
    """``"2.2.2"``, or ``"2.2.2/2.1"`` at another inter-broker protocol than its own.

    Raises UnaskedBrokerError for what is none of `ASKED`.
    """
    if name not in ASKED:
        known = ", ".join(ASKED)
        raise UnaskedBrokerError(f"no broker of Kafka {name!r} is asked; there are {known}")
    patch, _, protocol = name.partition("/")
    return AskedBroker(patch, protocol or patch.rpartition(".")[0])
